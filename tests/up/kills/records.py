"""The log as a whole, read once from its beginning and held against what the players were answered."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from baohuang.eventlog.chain import Tip, start, verify, verify_end
from baohuang.eventlog.codec import decode
from baohuang.eventlog.port import EventLog, Position, StoredEvent, StreamId, Version
from baohuang.rules.events import (
    HandFinished,
    HandStarted,
    HandVoided,
    PlayerFined,
    TrusteeshipEntered,
    TurnExtended,
)
from baohuang.rules.state import PlayerId, TableId, TrusteeshipReason
from up.kills.players import Noted

_PAGE: Final = 2_000
_TOLD: Final = {"HandStarted", "HandFinished", "HandVoided", "PlayerFined", "TrusteeshipEntered", "TurnExtended"}
HandKey = tuple[TableId, int]
"""A hand: its table, and its number there from 1."""


@dataclass(slots=True)
class Record:
    """What there is to know of the log; `read` fails with the first thing that does not hold."""

    position: int = 0
    tips: dict[StreamId, Tip] = field(default_factory=dict)
    requests: dict[tuple[str, str], tuple[StreamId, Version, bytes]] = field(default_factory=dict)
    """Who asked for what under which request id: where its last event is, and its hash."""
    finished: dict[HandKey, HandFinished] = field(default_factory=dict)
    voided: int = 0
    fines: list[PlayerFined] = field(default_factory=list)
    trusteeships: list[TrusteeshipEntered] = field(default_factory=list)
    extensions: int = 0
    playing: dict[PlayerId, TableId] = field(default_factory=dict)
    """Who plays a hand, at the end of what was read."""
    hands_of: dict[PlayerId, list[HandKey]] = field(default_factory=dict)

    async def read(self, log: EventLog) -> None:
        """Read the log to its end: no hole, every chain whole to its head, nobody in two hands, no hand twice."""
        while page := await log.read_all(Position(self.position), _PAGE):
            for stored in page:
                self._take(stored)
        for stream_id, tip in self.tips.items():
            verify_end(tip, await log.head(stream_id))

    def check_noted(self, notes: Iterable[Noted]) -> int:
        """Check that every acknowledged command is in the log, where its player was told; give how many they are."""
        checked = 0
        for noted in notes:
            told = noted.receipt
            where = (StreamId(told.table_id), told.version, told.hash)
            assert self.requests.get((noted.player, noted.request_id)) == where, noted
            checked += 1
        return checked

    def check_rulings(self, forfeits: Mapping[PlayerId, int]) -> None:
        """Check that nobody was fined, or played by a trustee, but those who gave up, once each time they did."""
        fined: dict[PlayerId, int] = {}
        for fine in self.fines:
            fined[fine.player] = fined.get(fine.player, 0) + 1
        assert fined == {player: times for player, times in forfeits.items() if times}
        assert [one for one in self.trusteeships if one.reason is not TrusteeshipReason.FORFEITED] == []
        assert self.voided == 0

    def _take(self, stored: StoredEvent) -> None:
        self.position += 1
        assert stored.position == self.position
        tip = self.tips.get(stored.stream_id) or start(stored.stream_id)
        self.tips[stored.stream_id] = verify(tip, [stored])
        self._take_request(stored)
        if stored.type in _TOLD:
            self._take_told(TableId(stored.stream_id), stored)

    def _take_request(self, stored: StoredEvent) -> None:
        """Take an event of a request, whose events follow each other in one stream."""
        key = (stored.actor, stored.request_id)
        before = self.requests.get(key)
        assert before is None or before[:2] == (stored.stream_id, stored.version - 1), f"{key} happened twice"
        self.requests[key] = (stored.stream_id, stored.version, stored.hash)

    def _take_told(self, table_id: TableId, stored: StoredEvent) -> None:
        match decode(stored.type, stored.data):
            case HandStarted() as begun:
                for player in begun.players:
                    assert player not in self.playing, f"{player} plays at {table_id} and {self.playing[player]}"
                    self.playing[player] = table_id
            case HandFinished() as end:
                self._take_end(table_id, end)
            case HandVoided():
                self.voided += 1
            case PlayerFined() as fine:
                self.fines.append(fine)
            case TrusteeshipEntered() as entered:
                self.trusteeships.append(entered)
            case TurnExtended():
                self.extensions += 1

    def _take_end(self, table_id: TableId, end: HandFinished) -> None:
        key = (table_id, end.hand)
        assert key not in self.finished
        self.finished[key] = end
        for player in end.players:
            assert self.playing.pop(player) == table_id
            self.hands_of.setdefault(player, []).append(key)
