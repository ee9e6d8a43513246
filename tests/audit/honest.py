"""Honest logs: hands of any ruleset played at random, with rulings of every kind, appended command by command."""

from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from random import Random

from baohuang.eventlog.codec import encode
from baohuang.eventlog.port import (
    NO_HASH,
    NO_VERSION,
    Actor,
    Append,
    Appended,
    EventLog,
    NewEvent,
    RequestId,
    StreamId,
    Version,
)
from baohuang.eventlog.summaries import new_summary
from baohuang.rules import commands as cmd
from baohuang.rules.bans import SetBan, decide_ban
from baohuang.rules.clock import deadline_of, later
from baohuang.rules.decide import decide
from baohuang.rules.events import Event, TableOpened, TrusteeshipEntered
from baohuang.rules.evolve import evolve
from baohuang.rules.refusals import RefusedError
from baohuang.rules.rulesets import Options
from baohuang.rules.state import ALL_SEATS, Instant, PlayerId, Table, TableId, TableStatus, in_progress
from bench.random_player import RandomPlayer, mood_of

CLOCK, LINE, OPERATOR = PlayerId("@clock"), PlayerId("@line"), PlayerId("olga")
PLAYERS = tuple(PlayerId(name) for name in ("an", "bo", "cai", "du", "en"))
_AT = Instant("2026-01-31T08:05:09.000123Z")
_OPTIONS = Options(turn_seconds=5, declare_seconds=5, grace_seconds=3)


@dataclass(slots=True)
class Play:
    """A table at which anything is done that the rules allow, by a seed."""

    table_id: TableId
    ruleset: str
    seed: object
    restless: float = 0.02
    """How likely something other than a move is done next."""
    table: Table | None = None
    at: Instant = _AT
    dice: Random = field(init=False)
    player: RandomPlayer = field(init=False)

    def __post_init__(self) -> None:
        self.dice = Random(repr((self.ruleset, self.seed)))  # noqa: S311 - to be repeated
        self.player = RandomPlayer(self.dice, replace(mood_of(self.dice), open_solos=0.4))

    def commands(self, hands: int) -> Iterator[tuple[cmd.Command, tuple[Event, ...]]]:
        """Give accepted commands and their events until so many hands are played, or the table is closed."""
        opening = cmd.OpenTable(self.table_id, self.ruleset, _OPTIONS, players=PLAYERS)
        yield self._do(OPERATOR, opening)
        while self._open.hands_played < hands and self._open.status is TableStatus.OPEN:
            self.at = later(self.at, self.dice.choice((0, 0, 1)))
            yield self._next()
        yield from self.reversals()

    def all_trustees(self) -> Iterator[tuple[cmd.Command, tuple[Event, ...]]]:
        """Have one hand played by trustees, one of whom stands for a player who forfeited (TRUST-4); all taken back."""
        yield self._do(OPERATOR, cmd.OpenTable(self.table_id, self.ruleset, _OPTIONS, players=PLAYERS))
        for player in PLAYERS:
            yield self._do(player, cmd.SetReady(ready=True, entropy=f"熵 of {player}"))
        yield self._do(PLAYERS[0], cmd.ForfeitSeat())
        for player in PLAYERS[1:]:
            yield self._do(player, cmd.RequestTrusteeship())
        yield from self.reversals()

    def late_report(self) -> Iterator[tuple[cmd.Command, tuple[Event, ...]]]:
        """Have a turn extended and then missed (TRUST-5, TRUST-1), and a line reported lost only afterwards."""
        yield self._do(OPERATOR, cmd.OpenTable(self.table_id, self.ruleset, _OPTIONS, players=PLAYERS))
        for player in PLAYERS:
            yield self._do(player, cmd.SetReady(ready=True, entropy=""))
        self.at = later(deadline_of(self._open), 9)
        while True:
            began, due_at = self.at, deadline_of(self._open)
            command, events = self._do(CLOCK, cmd.ExpireDeadline(due_at))
            yield command, events
            entered = next((event for event in events if isinstance(event, TrusteeshipEntered)), None)
            if entered is not None:
                break
        self.at = later(self.at, 2)
        yield self._do(LINE, cmd.ReportConnection(entered.seat, connected=False, since=later(began, 1)))

    def reversals(self) -> Iterator[tuple[cmd.Command, tuple[Event, ...]]]:
        """Take back all rulings that can be."""
        for ruling in self._open.hand.reversible if self._open.hand else ():
            kind = "HandVoided" if ruling.seat is None else "PlayerFined"
            yield self._do(OPERATOR, cmd.ReverseRuling(ruling.version, "it was our fault", kind))

    @property
    def _open(self) -> Table:
        assert self.table is not None
        return self.table

    def _next(self) -> tuple[cmd.Command, tuple[Event, ...]]:
        before = self.at
        for player, action in self._choices():
            try:
                return self._do(player, action)
            except RefusedError:
                self.at = before
        raise AssertionError("nobody can do anything")

    def _do(self, player: PlayerId, action: cmd.Action) -> tuple[cmd.Command, tuple[Event, ...]]:
        if isinstance(action, cmd.ExpireDeadline):
            self.at = later(max(self.at, action.due_at), self.dice.choice((0, 1, 1, 9)))
        kept = frozenset(self.dice.sample(PLAYERS, 1)) if self._is_kept(action) else frozenset[PlayerId]()
        elsewhere, banned = (kept, frozenset[PlayerId]()) if self.dice.random() < 0.5 else (frozenset[PlayerId](), kept)
        seed = sha256(self.dice.randbytes(32)).hexdigest()
        command = cmd.Command(player, action, self.at, seed, elsewhere - {player}, banned - {player})
        events, (*_, self.table) = decide(self.table, command)
        return command, events

    def _is_kept(self, action: cmd.Action) -> bool:
        """Tell whether somebody is known to be kept away as this one gets ready."""
        return isinstance(action, cmd.SetReady) and self.dice.random() < self.restless

    def _choices(self) -> Iterator[tuple[PlayerId, cmd.Action]]:
        table, dice = self._open, self.dice
        hand = table.hand
        if hand is None or not in_progress(table):
            yield from self._between_hands(table)
            return
        if dice.random() < self.restless:
            yield self._interruption(table)
        if dice.random() < 0.5:
            yield from ((who, cmd.CancelTrusteeship()) for who in hand.players)
        seat, move = self.player.line(table)
        yield hand.players[seat], move

    def _interruption(self, table: Table) -> tuple[PlayerId, cmd.Action]:
        dice, seat = self.dice, self.dice.choice(ALL_SEATS)
        assert table.hand is not None
        player = table.hand.players[seat]
        lost = (cmd.LostLine(seat, self.at),) if dice.random() < 0.5 else ()
        watching = (dice.choice(ALL_SEATS),) if dice.random() < 0.3 else ()
        seldom: list[tuple[PlayerId, cmd.Action]] = [
            (player, cmd.ForfeitSeat()), (OPERATOR, cmd.KickPlayer(seat)), (OPERATOR, cmd.VoidHand("a disturbance")),
        ]  # fmt: skip
        often: list[tuple[PlayerId, cmd.Action]] = [
            (CLOCK, cmd.ExpireDeadline(deadline_of(table), lost, watching)),
            (LINE, cmd.ReportConnection(seat, connected=False, since=self.at)),
            (LINE, cmd.ReportConnection(seat, connected=True)),
            (player, cmd.RequestTrusteeship()),
            (player, cmd.LeaveTable()),
        ]
        return dice.choice(seldom if dice.random() < 0.1 else often)

    def _between_hands(self, table: Table) -> Iterator[tuple[PlayerId, cmd.Action]]:
        dice = self.dice
        if dice.random() < 3 * self.restless:
            yield dice.choice(PLAYERS), dice.choice((cmd.StandUp(), cmd.SetReady(ready=False)))
        if dice.random() < self.restless:
            yield CLOCK, cmd.ExpireDeadline(deadline_of(table))
        if dice.random() < self.restless / 10:
            yield OPERATOR, cmd.CloseTable("the night is over")
        sitting = {taken.player for taken in table.seats}
        for seat in ALL_SEATS:
            if not table.seats[seat].player:
                yield next(player for player in PLAYERS if player not in sitting), cmd.SitDown(seat)
        unready = [taken.player for taken in table.seats if not taken.ready]
        yield dice.choice(unready), cmd.SetReady(ready=True, entropy=dice.choice(["", "熵"]))


async def recorded(log: EventLog, play: Play, hands: int) -> StreamId:
    """Append a play to the log, and give its stream."""
    return await written(log, play.table_id, play.commands(hands))


async def written(
    log: EventLog, table_id: TableId, commands: Iterable[tuple[cmd.Command, tuple[Event, ...]]]
) -> StreamId:
    """Append commands' events to the log, and give their stream."""
    writer = Writer(log, StreamId(table_id))
    for command, events in commands:
        await writer.append(command.player, command.at, events)
    return writer.stream_id


async def banned(log: EventLog, player: str, times: int) -> StreamId:
    """Append bans and their lifting to a player's stream, and give it."""
    writer = Writer(log, StreamId(f"player:{player}"))
    for time in range(times):
        command = SetBan(PlayerId(player), time % 2 == 0, "he shouts", later(_AT, time))
        await writer.append(OPERATOR, command.at, (decide_ban(banned=time % 2 == 1, command=command),))
    return writer.stream_id


@dataclass(slots=True)
class Writer:
    """Appends to one stream."""

    log: EventLog
    stream_id: StreamId
    version: Version = NO_VERSION
    hash: bytes = NO_HASH
    table: Table | None = None

    async def append(self, actor: PlayerId, at: Instant, events: tuple[Event, ...]) -> None:
        """Append what a command brought about."""
        append = Append(
            stream_id=self.stream_id,
            expected_version=self.version,
            expected_hash=self.hash,
            events=tuple(NewEvent(*encode(event)) for event in events),
            actor=Actor(actor),
            request_id=RequestId(f"{self.stream_id}/{self.version}"),
            request_digest=bytes(32),
            recorded_at=datetime.fromisoformat(at),
            outcome=b"{}",
            summary=self._summary(events),
        )
        outcome = await self.log.append(append)
        assert isinstance(outcome, Appended), outcome
        self.version, self.hash = outcome.version, outcome.hash

    def _summary(self, events: tuple[Event, ...]) -> bytes | None:
        """Return the summary that a table has now, if it is another one; None for a player's bans."""
        before = self.table
        if before is None and not isinstance(events[0], TableOpened):
            return None
        for event in events:
            self.table = evolve(self.table, event)
        assert self.table is not None
        return new_summary(before, self.table)


async def found(findings: AsyncIterator[object]) -> list[object]:
    """Return all findings."""
    return [finding async for finding in findings]
