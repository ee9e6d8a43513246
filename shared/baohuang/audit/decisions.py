"""Deciding again: every command of a stream, from the state before it and the inputs that were recorded."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from itertools import zip_longest
from typing import Any, Final

from baohuang.audit.findings import Check, Finding
from baohuang.audit.inputs import Recorded, UnaccountableError, command_of
from baohuang.eventlog.port import StreamId, Version
from baohuang.rules import events as ev
from baohuang.rules.bans import SetBan, decide_ban
from baohuang.rules.decide import decide
from baohuang.rules.evolve import fold
from baohuang.rules.refusals import RefusedError
from baohuang.rules.state import Table

NO_DATA: Final = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError)
"""What computing with data may raise that is anybody's; ArithmeticError is a moment at the end of all calendars."""
_NOT_POSSIBLE: Final = (UnaccountableError, RefusedError, *NO_DATA)
"""What deciding by something that never was decided so may raise."""
_DEALING: Final = (ev.SeedCommitted, ev.HandStarted, ev.CardsDealt)
_PLAYERS_OWN: Final = (ev.PlayerBanned, ev.PlayerReinstated)
AsShown = Callable[[ev.Event, ev.Event], ev.Event]
"""Makes of an event that follows what is shown of it to whoever was shown the other one in its place."""


def all_of_it(follows: ev.Event, shown: ev.Event) -> ev.Event:  # noqa: ARG001 - the signature of AsShown
    """Return the event as it is: nothing of the record is hidden."""
    return follows


class Decisions:
    """Decides a stream's commands again, one after the other, keeping the state between them and nothing else.

    After a command that does not follow the state is that of the decision, if it has as many events, else unknown:
    then the rest of the hand is passed over, up to the next HandStarted, which holds the whole table.
    """

    def __init__(self, stream_id: StreamId, as_shown: AsShown = all_of_it) -> None:
        self._stream_id = stream_id
        self._as_shown = as_shown
        self._table: Table | None = None
        self._banned = False
        self._lost = False
        self._doubtful = False

    def follow(self, recorded: Recorded) -> Iterator[Finding]:
        """Tell what is wrong with the events of the next command."""
        if self._lost:
            self._resume(recorded)
            return
        try:
            derived = self._shown(recorded, self._decide(recorded))
        except _NOT_POSSIBLE as error:
            yield self._impossible(recorded, error)
            self.lose()
            return
        wrong = list(self._differences(recorded, derived))
        yield from wrong
        if wrong and (self._doubtful or len(derived) != len(recorded.events)):
            self.lose()
        self._doubtful = bool(wrong)

    @property
    def table(self) -> Table | None:
        """The table as it is now; None where that is not known, and for what is none."""
        return None if self._lost else self._table

    def lose(self) -> None:
        """Forget the state: it is not known any more."""
        self._lost = True

    def _decide(self, recorded: Recorded) -> Sequence[ev.Event]:
        first = recorded.events[0]
        _check_place(first, self._stream_id)
        if self._table is None and isinstance(first, _PLAYERS_OWN):
            command = SetBan(first.player, isinstance(first, ev.PlayerBanned), first.note, recorded.at)
            event = decide_ban(banned=self._banned, command=command)
            self._banned = command.banned
            return (event,)
        derived, (*_, self._table) = decide(self._table, command_of(self._table, recorded))
        return derived

    def _shown(self, recorded: Recorded, derived: Sequence[ev.Event]) -> Sequence[ev.Event]:
        """Return the events that follow as they are shown in place of those recorded."""
        beside = zip(derived, recorded.events, strict=False)
        return *(self._as_shown(one, shown) for one, shown in beside), *derived[len(recorded.events) :]

    def _resume(self, recorded: Recorded) -> None:
        for index, event in enumerate(recorded.events):
            if isinstance(event, ev.HandStarted):
                try:
                    self._table = fold(recorded.events[index:])
                except _NOT_POSSIBLE:
                    return
                self._lost, self._doubtful = False, False
                return

    def _impossible(self, recorded: Recorded, error: Exception) -> Finding:
        clause = error.rule if isinstance(error, RefusedError) else getattr(recorded.events[0], "rule", "")
        said = str(error) if isinstance(error, RefusedError | UnaccountableError) else "it cannot be decided"
        check = Check.RULING if ev.is_ruling(recorded.events[0]) else Check.COMMAND
        name = type(recorded.events[0]).__name__
        message = f"{name} by {recorded.actor} could not come about: {said}; the rest of the hand was not decided again"
        return Finding(check, self._stream_id, Version(recorded.version), message, clause)

    def _differences(self, recorded: Recorded, derived: Sequence[ev.Event]) -> Iterator[Finding]:
        if tuple(derived) == recorded.events:
            return
        for index, (found, expected) in enumerate(zip_longest(recorded.events, derived)):
            if found == expected:
                continue
            version, clause = Version(recorded.version + index), getattr(expected or found, "rule", "")
            yield Finding(_check_of(expected or found), self._stream_id, version, _told(found, expected), clause)
            if type(found) is not type(expected):
                return  # what comes after stands at other versions


def _check_place(first: ev.Event, stream_id: StreamId) -> None:
    """Raise UnaccountableError for what is of another table, or of another player, than its stream."""
    match first:
        case ev.TableOpened(table_id=table_id) if StreamId(table_id) != stream_id:
            raise UnaccountableError(f"it is of the table {table_id}")
        case ev.PlayerBanned(player=player) | ev.PlayerReinstated(player=player) if stream_id != f"player:{player}":
            raise UnaccountableError(f"it is of the player {player}")
        case _:
            pass


def _check_of(event: ev.Event | None) -> Check:
    if ev.is_ruling(event):
        return Check.RULING
    return Check.DEAL if isinstance(event, _DEALING) else Check.COMMAND


def _told(found: ev.Event | None, expected: ev.Event | None) -> str:
    """Say how a recorded event differs from the one that follows; of hidden parts only that they do."""
    if found is None:
        return f"{type(expected).__name__} follows, and is not recorded"
    if expected is None:
        return f"{type(found).__name__} is recorded, and does not follow"
    if type(found) is not type(expected):
        return f"{type(found).__name__} is recorded, and {type(expected).__name__} follows"
    return f"{type(found).__name__}: " + "; ".join(_fields_told(found, expected))


def _fields_told(found: Any, expected: Any) -> Iterator[str]:
    for field in fields(found):
        mine, right = getattr(found, field.name), getattr(expected, field.name)
        if mine == right:
            continue
        if field.name == "hidden":
            yield "what is hidden is not what follows"
        else:
            yield f"{field.name} {_plain(mine)} is recorded, {_plain(right)} follows"


def _plain(value: Any) -> str:
    return value.name if hasattr(value, "name") else repr(value)
