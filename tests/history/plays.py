"""A log of several tables: hands of all rulesets with rulings of every kind, and bans, in the order of their time."""

import heapq
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from audit.honest import OPERATOR, PLAYERS, Play, Writer
from baohuang.eventlog.codec import decode, encode
from baohuang.eventlog.port import EventLog, StoredEvent, StreamId
from baohuang.rules.bans import SetBan, decide_ban
from baohuang.rules.clock import later
from baohuang.rules.events import Event
from baohuang.rules.rulesets import RULESETS
from baohuang.rules.state import Instant, PlayerId, TableId

_SECONDS_LATE = 20
"""By how much at most an append comes later than what was decided after it."""
_AT = Instant("2026-01-31T08:05:10.000000Z")


@dataclass(frozen=True, slots=True)
class _Command:
    stream_id: StreamId
    actor: PlayerId
    at: Instant
    events: tuple[Event, ...]


async def played(log: EventLog, tables: int, hands: int = 3) -> list[StoredEvent]:
    """Append commands of tables and of players' bans to an empty log, and return all that is in it then.

    Half of each table's players play at the next one too, so to say; some commands are appended out of their order.
    """
    dice = Random(1)  # noqa: S311 - to be repeated
    streams = (_numbered(_renamed(_table(number, hands), number), dice) for number in range(tables))
    writers: dict[StreamId, Writer] = {}
    for _, _, command in heapq.merge(*streams, _numbered(_bans(), dice)):
        writer = writers.setdefault(command.stream_id, Writer(log, command.stream_id))
        await writer.append(command.actor, command.at, command.events)
    return list(await log.read_all(limit=1_000_000))


def _table(number: int, hands: int) -> Iterator[_Command]:
    ruleset = tuple(RULESETS)[number % len(RULESETS)]
    play = Play(TableId(f"table-{number}"), ruleset, number, restless=0.03)
    for command, events in play.commands(hands):
        yield _Command(StreamId(play.table_id), command.player, command.at, events)


def _bans() -> Iterator[_Command]:
    for time in range(40):
        player = PlayerId(f"an-{time // 2}")
        command = SetBan(player, time % 2 == 0, "he shouts", later(_AT, time))
        yield _Command(
            StreamId(f"player:{player}"), OPERATOR, command.at, (decide_ban(banned=time % 2 == 1, command=command),)
        )


def _renamed(commands: Iterator[_Command], number: int) -> Iterator[_Command]:
    names = {player: PlayerId(f"{player}-{number // (1 + place % 2)}") for place, player in enumerate(PLAYERS)}
    for command in commands:
        events = tuple(_with_names(event, names) for event in command.events)
        yield _Command(command.stream_id, names.get(command.actor, command.actor), command.at, events)


def _with_names(event: Event, names: dict[PlayerId, PlayerId]) -> Event:
    type_, data = encode(event)
    for old, new in names.items():
        data = data.replace(f'"{old}"'.encode(), f'"{new}"'.encode())
    return decode(type_, data)


def _numbered(commands: Iterator[_Command], dice: Random) -> Iterator[tuple[Instant, int, _Command]]:
    """Give each command behind the moment at which it is appended, never before the one before it."""
    due = _AT
    for command in commands:
        due = max(due, later(command.at, dice.randrange(_SECONDS_LATE)))
        yield due, next(_NUMBERS), command


_NUMBERS = itertools.count()
