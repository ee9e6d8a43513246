"""Tickets as their player sees them; each class is the message of its name in `baohuang/matchmaking/v1`."""

from dataclasses import dataclass
from enum import Enum
from typing import NewType

from baohuang.rules.rulesets import Options
from baohuang.rules.state import PlayerId, TableId

TicketId = NewType("TicketId", str)


class TicketState(Enum):
    """What became of a ticket."""

    QUEUED = "TICKET_STATE_QUEUED"
    """Open: its party gathers, waits, or is about to be seated."""
    MATCHED = "TICKET_STATE_MATCHED"
    CANCELLED = "TICKET_STATE_CANCELLED"
    EXPIRED = "TICKET_STATE_EXPIRED"
    SET_ASIDE = "TICKET_STATE_SET_ASIDE"


@dataclass(frozen=True, slots=True)
class Party:
    """Players who are seated together, their leader first, and what others join them with; "" but for the leader."""

    size: int
    players: tuple[PlayerId, ...]
    party_code: str
    ruleset: str
    options: Options


@dataclass(frozen=True, slots=True)
class Waiting:
    """How a party waits: its place in the queue from 1, 0 while it is in none; for how many milliseconds.

    `match_found` tells that its table is about to be opened; it cannot be cancelled then.
    """

    place: int
    waited_ms: int
    match_found: bool


@dataclass(frozen=True, slots=True)
class Matched:
    """Where a player sits, and all players by seat."""

    match_id: str
    table_id: TableId
    seat: int
    players: tuple[PlayerId, ...]


@dataclass(frozen=True, slots=True)
class SetAside:
    """Why a party could not be seated: a reason of the contract, and on whose account; "" if on nobody's."""

    reason: str
    player: PlayerId


@dataclass(frozen=True, slots=True)
class Ticket:
    """A player's wish to play. `waiting`, `matched` and `set_aside` are there in the states they belong to."""

    ticket_id: TicketId
    player: PlayerId
    state: TicketState
    revision: int
    party: Party
    waiting: Waiting | None
    matched: Matched | None
    set_aside: SetAside | None


@dataclass(frozen=True, slots=True)
class QueueLength:
    """How many wait in a queue, for how many milliseconds the first of them; tickets set aside within a day."""

    players: int
    parties: int
    longest_wait_ms: int
    set_aside: int
