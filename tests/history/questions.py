"""Random questions to a log's history."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random

from baohuang.eventlog.port import NO_POSITION, Position, StoredEvent, StreamId
from baohuang.history.sought import EventsSought, Order, RulingsSought
from baohuang.rules.events import EVENT_TYPES
from baohuang.rules.state import PlayerId

KINDS = (
    "TrusteeshipEntered", "TrusteeshipMadePermanent", "PlayerFined", "HandVoided", "TurnExtended", "PlayerUnseated",
    "TableClosed", "TableDissolved", "PlayerBanned", "PlayerReinstated",
)  # fmt: skip
CLAUSES = ("TRUST-1", "TRUST-4", "TRUST-5", "FINE-2", "FINE-3", "TABLE-1", "RULE-1", "none")
MOVES_AND_MORE = ("CardsPlayed", "HandStarted")


class Questions:
    """Random filters over a log: each is set or not, to something of the log or, at times, to nothing of it."""

    def __init__(self, log: Sequence[StoredEvent], seed: int) -> None:
        self._log = log
        self._dice = Random(seed)  # noqa: S311 - to be repeated

    def events(self) -> EventsSought:
        """Ask for events."""
        return EventsSought(
            stream_id=self._stream(),
            player=self._player(),
            types=self._dice.choice(((), (), self._some(tuple(EVENT_TYPES)), MOVES_AND_MORE, ("PlayerFined",))),
            rulings=self._dice.random() < 0.3,
            since=self._instant(),
            until=self._instant(),
            after=self._position() or NO_POSITION,
            before=self._position(),
        )

    def rulings(self) -> RulingsSought:
        """Ask for rulings."""
        return RulingsSought(
            stream_id=self._stream(),
            player=self._player(),
            kinds=self._dice.choice(((), (), self._some(KINDS))),
            clause=self._dice.choice((None,) * 8 + CLAUSES),
            since=self._instant(),
            until=self._instant(),
            before=self._position(),
        )

    def order(self) -> Order:
        """Choose an order."""
        return self._dice.choice(tuple(Order))

    def limit(self) -> int:
        """Choose the size of a page."""
        return self._dice.choice((1, 7, 100, 10_000))

    def event(self) -> StoredEvent:
        """Choose an event of the log."""
        return self._dice.choice(self._log)

    def _some(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(self._dice.sample(names, self._dice.randint(1, 4)))

    def _stream(self) -> StreamId | None:
        return self._dice.choice((None, None, self.event().stream_id, StreamId("nowhere")))

    def _player(self) -> PlayerId | None:
        actor = PlayerId(self.event().actor)
        return self._dice.choice((None, None, actor, PlayerId(f"bo-{self._dice.randrange(6)}"), PlayerId("nobody")))

    def _instant(self) -> datetime | None:
        moment = self.event().recorded_at + timedelta(microseconds=self._dice.choice((-1, 0, 1)))
        return self._dice.choice((None, None, None, moment))

    def _position(self) -> Position | None:
        return self._dice.choice((None, None, None, self.event().position))
