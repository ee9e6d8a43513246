"""Tickets as they are told of, queues and matches as they are stored."""

from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache
from typing import Final, NewType

import msgspec
from msgspec import Struct

from baohuang.rules.rulesets import RULE_OPTIONS, Options, ruleset_named, with_options
from baohuang.rules.state import PlayerId, TableId
from matchmaking_service.matching import PartyId

TicketId = NewType("TicketId", str)
MatchId = NewType("MatchId", str)

_encode: Final = msgspec.json.Encoder(order="sorted").encode
_decode: Final = msgspec.json.Decoder(Options).decode


class TicketState(Enum):
    """What became of a ticket; the members' values are those of its row."""

    QUEUED = "queued"
    MATCHED = "matched"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    SET_ASIDE = "set_aside"


@dataclass(frozen=True, slots=True)
class Wish:
    """A party as it is asked for: what to play, and for how many players it is."""

    ruleset: str
    options: Options
    size: int


class Ticket(Struct, frozen=True):
    """A ticket, its party, how it waits, and what became of it.

    `place` counts parties from 1, 0 for one that does not wait; `match_found` of one that is about to be seated.
    `players` are the party's, the leader first; `code` is None where the party is of one. `match_id`, `table_id` and
    `seats` are set if it is matched, `reason` if it was set aside, `culprit` if that was on somebody's account.
    `options` are None if they cannot be read.
    """

    ticket_id: TicketId
    party_id: PartyId
    player: PlayerId
    state: TicketState
    revision: int
    reason: str | None
    culprit: PlayerId | None
    leader: PlayerId
    code: str | None
    ruleset: str
    options: Options | None
    size: int
    players: tuple[PlayerId, ...]
    place: int
    waited_ms: int
    match_found: bool
    match_id: MatchId | None
    table_id: TableId | None
    seats: tuple[PlayerId, ...] | None


@dataclass(frozen=True, slots=True)
class QueueLength:
    """How many wait in a queue, the first of them for how long, and how many of its tickets went wrong of late."""

    players: int
    parties: int
    longest_wait_ms: int
    set_aside: int
    expired: int


@dataclass(frozen=True, slots=True)
class Formed:
    """A match that is committed and whose table is to be opened; `lease` counts who took it. Players are by seat."""

    match_id: MatchId
    ruleset: str
    options: Options
    players: tuple[PlayerId, ...]
    lease: int


def options_of_queue(ruleset: str, options: Options) -> Options:
    """Return the options without those that are as the ruleset has them anyway: who plays the same waits together.

    Raises UnknownRulesetError, OptionError.
    """
    played = with_options(ruleset_named(ruleset), options)
    for name in RULE_OPTIONS:
        without = replace(options, **{name: None})  # type: ignore[arg-type] # each of them may be None
        if getattr(options, name) is not None and _plays(ruleset, without, played):
            options = without
    return options


@lru_cache(maxsize=1_000)
def stored_options(options: Options) -> bytes:
    """Return options as JSON."""
    return _encode(options)


@lru_cache(maxsize=1_000)
def read_options(stored: bytes) -> Options:
    """Return stored options. Raises ValueError if they are none."""
    return _decode(stored)


def options_if_readable(stored: bytes) -> Options | None:
    """Return stored options, None if they are none."""
    try:
        return read_options(stored)
    except ValueError:
        return None


def _plays(ruleset: str, options: Options, played: object) -> bool:
    # hold6 without its short_deck is no way to play at all.
    return not (options.hold6 and not options.short_deck) and with_options(ruleset_named(ruleset), options) == played
