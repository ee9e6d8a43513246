"""Which ways lead to what is sought, and the query that takes them.

A way walks an index that gives its events in order, and stops when a page is full; a query takes as many ways as it
needs for each event sought to lie on one of them. The planner uses an index with a condition only for a query that
states the condition, so each way is a text of its own. All are made of the same pieces and take the same parameters.
"""

from collections.abc import Sequence
from functools import cache
from typing import Final

from baohuang.history.queries import query
from baohuang.history.sought import EventsSought, Order, RulingsSought

MOVES: Final = frozenset({"CardsPlayed", "Passed"})
"""The types of `queries/moves.sql`: every other one is seldom enough to have an index."""

_Way = tuple[str, ...]
"""A template for a way, and the pieces that are its key."""

_EVERYTHING: Final = ("way", "in_the_log")
_BY_TYPES: Final = ("way_of_types", "others", "in_the_log")
_RULINGS: Final = ("way", "rulings", "in_the_log")
_OF_STREAM: Final = ("way", "in_the_stream")
_OF_STREAM_BY_TYPES: Final = ("way_of_types", "others", "in_the_stream")
_RULINGS_OF_STREAM: Final = ("way", "rulings", "in_the_stream")
_MOVES_BY_ACTOR: Final = ("way", "moves", "by_actor", "in_the_log")
_OTHERS_BY_ACTOR: Final = ("way", "others", "by_actor", "in_the_log")
_BY_PLAYER: Final = ("way", "by_player", "in_the_log")
_RULINGS_BY_ACTOR: Final = ("way", "rulings", "by_actor", "in_the_log")
_RULINGS_BY_PLAYER: Final = ("way", "rulings", "by_player", "in_the_log")
_RULINGS_BY_CLAUSE: Final = ("way", "rulings", "by_clause", "in_the_log")
_RULINGS_ABOUT: Final = ("way_about",)


def events_query(sought: EventsSought, order: Order) -> str:
    """Return the query of a page of events; where only rulings are sought, its types are types of rulings or none."""
    return _composed("event_page", _ways_to_events(sought), order)


def rulings_query(sought: RulingsSought) -> str:
    """Return the query of a page of rulings."""
    return _composed("ruling_page", _ways_to_rulings(sought), Order.NEWEST_FIRST)


def _ways_to_events(sought: EventsSought) -> Sequence[_Way]:
    if sought.stream_id is not None:
        return (_way_in_stream(sought),)
    if sought.player is not None:
        return _ways_by_player(sought)
    if sought.rulings and not sought.types:
        return (_RULINGS,)
    return (_BY_TYPES if _are_seldom(sought.types) else _EVERYTHING,)


def _way_in_stream(sought: EventsSought) -> _Way:
    if sought.rulings and not sought.types:
        return _RULINGS_OF_STREAM
    return _OF_STREAM_BY_TYPES if _are_seldom(sought.types) else _OF_STREAM


def _ways_by_player(sought: EventsSought) -> Sequence[_Way]:
    if sought.rulings:
        return _RULINGS_BY_ACTOR, _RULINGS_BY_PLAYER
    others = _OTHERS_BY_ACTOR, _BY_PLAYER
    return others if _are_seldom(sought.types) else (_MOVES_BY_ACTOR, *others)


def _ways_to_rulings(sought: RulingsSought) -> Sequence[_Way]:
    if sought.player is not None:
        return _RULINGS_BY_PLAYER, _RULINGS_ABOUT
    if sought.stream_id is not None:
        return (_RULINGS_OF_STREAM,)
    if sought.clause is not None:
        return (_RULINGS_BY_CLAUSE,)
    return (_BY_TYPES if sought.kinds else _RULINGS,)


def _are_seldom(types: Sequence[str]) -> bool:
    return bool(types) and MOVES.isdisjoint(types)


@cache
def _composed(page: str, ways: Sequence[_Way], order: Order) -> str:
    found = _found(ways, order)
    return query(page).format(asked=query("asked"), found=found, direction=order.value)


def _found(ways: Sequence[_Way], order: Order) -> str:
    if len(ways) == 1:
        return _way_text(ways[0], "e.*", order)
    texts = (f"({_way_text(way, 'e.position', order)})" for way in ways)
    return query("joined").format(ways="\nunion\n".join(texts), direction=order.value)


def _way_text(way: _Way, what: str, order: Order) -> str:
    template, *pieces = way
    return query(template).format(
        what=what,
        key="\n    and ".join(_piece(piece) for piece in pieces),
        filters=_piece("filters"),
        place="e.version" if "in_the_stream" in pieces else "e.position",
        direction=order.value,
    )


def _piece(name: str) -> str:
    """Return a piece without the lines that say what it is."""
    return "\n".join(line for line in query(name).splitlines() if not line.startswith("--"))
