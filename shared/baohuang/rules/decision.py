"""A decision in the making: the events so far, and the table as each of them leaves it."""

from hashlib import sha256

from baohuang.rules.clock import later
from baohuang.rules.commands import Command
from baohuang.rules.events import Event
from baohuang.rules.evolve import evolve
from baohuang.rules.refusals import Refusal, RefusedError
from baohuang.rules.rulesets import Ruleset
from baohuang.rules.state import Hand, Instant, Table


class Decision:
    """What one command brings about. Lives only inside `decide`; its events and its tables come out."""

    __slots__ = ("_seed", "_table", "command", "events", "tables")

    def __init__(self, table: Table | None, command: Command) -> None:
        self._table = table
        self.command = command
        self.events: list[Event] = []
        self.tables: list[Table] = []
        self._seed = command.seed

    def emit(self, event: Event) -> None:
        """Add an event and move the state on."""
        self._table = evolve(self._table, event)
        self.events.append(event)
        self.tables.append(self._table)

    def turn_ends(self) -> Instant:
        """Return the deadline of a turn that opens now."""
        return later(self.command.at, self.table.options.turn_seconds)

    def answers_due(self) -> Instant:
        """Return the deadline of a simultaneous phase that begins now."""
        return later(self.command.at, self.table.options.declare_seconds)

    def fresh_seed(self) -> str:
        """Return a seed, in hex, that this decision has not used: the command's, then its hash, and so on."""
        seed = self._seed
        self._seed = sha256(bytes.fromhex(seed)).hexdigest()
        return seed

    @property
    def exists(self) -> bool:
        """Whether there is a table."""
        return self._table is not None

    @property
    def table(self) -> Table:
        """The table; raises RefusedError NO_SUCH_TABLE if there is none."""
        if self._table is None:
            raise RefusedError(Refusal.NO_SUCH_TABLE, "TABLE-1", "there is no such table")
        return self._table

    @property
    def ruleset(self) -> Ruleset:
        """The table's ruleset, its options applied."""
        return self.table.ruleset

    @property
    def hand(self) -> Hand:
        """The hand being played; raises RefusedError WRONG_PHASE if there is none."""
        hand = self._table.hand if self._table else self.table.hand
        if hand is None:
            raise RefusedError(Refusal.WRONG_PHASE, "TABLE-1", "no hand has been started at this table")
        return hand
