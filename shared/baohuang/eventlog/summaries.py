"""The summary kept on a table's stream head, so that listings need no folding."""

from dataclasses import fields
from operator import attrgetter
from typing import Final

import msgspec

from baohuang.rules.bots import is_bot
from baohuang.rules.rulesets import Options, RulesetId
from baohuang.rules.state import PlayerId, Table, TableStatus, in_progress


class Summary(msgspec.Struct, frozen=True, rename="camel"):
    """A table at a glance; nothing of it is hidden from anybody who may know of the table."""

    ruleset: RulesetId
    options: Options
    status: TableStatus
    players: tuple[PlayerId, ...]
    free_seat: bool
    hands_played: int
    hand_in_progress: bool
    listed: bool = True
    """Whether it is open to all, and so in everybody's listings."""
    bots: bool = False
    """Whether bots sit at it."""


_STANDING: Final = attrgetter(*(field.name for field in fields(Table) if field.name not in {"hand", "version"}))
"""All of a table but its hand, and the version that every event changes."""
_encode: Final = msgspec.json.Encoder(order="sorted").encode
_decode: Final = msgspec.json.Decoder(Summary).decode


def summary_of(table: Table) -> bytes:
    """Return the table's summary as JSON."""
    players = tuple(taken.player for taken in table.seats)
    return _encode(
        Summary(
            ruleset=table.ruleset.id,
            options=table.options,
            status=table.status,
            players=players,
            free_seat=not all(players),
            hands_played=table.hands_played,
            hand_in_progress=in_progress(table),
            listed=not table.invitation_digest,
            bots=any(map(is_bot, players)),
        )
    )


def new_summary(before: Table | None, after: Table) -> bytes | None:
    """Return the table's summary if a command changed it, None if it is what it was: most change the hand alone."""
    if before is None:
        return summary_of(after)
    if _STANDING(before) == _STANDING(after) and in_progress(before) == in_progress(after):
        return None
    summary = summary_of(after)
    return None if summary == summary_of(before) else summary


def read_summary(stored: bytes) -> Summary:
    """Return a stored summary. Raises msgspec.ValidationError if it is none."""
    return _decode(stored)


def follows(stored: bytes, table: Table) -> bool:
    """Tell whether a stored summary is the table's; those of before a field was there may be without it."""
    try:
        said = read_summary(stored)
    except msgspec.ValidationError:
        return False
    derived = summary_of(table)
    return said == read_summary(derived) and _fields(stored) <= _fields(derived)


def _fields(stored: bytes) -> set[str]:
    fields: dict[str, msgspec.Raw] = msgspec.json.decode(stored, type=dict[str, msgspec.Raw])
    return set(fields)


def filter_for(
    ruleset: str, status: TableStatus | None, player: str, *, free_seat: bool, bots: bool, private: bool
) -> bytes:
    """Return the containment filter for a listing: what is empty, None or false does not filter.

    Private tables are among what it finds only with `private`.
    """
    # What every table's summary has, and that of no other stream.
    wanted: dict[str, object] = {"players": []}
    if ruleset:
        wanted["ruleset"] = ruleset
    if status is not None:
        wanted["status"] = status.value
    if player:
        wanted["players"] = [player]
    if free_seat:
        wanted["freeSeat"] = True
    if bots:
        wanted["bots"] = True
    if not private:
        wanted["listed"] = True
    return _encode(wanted)
