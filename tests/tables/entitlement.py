"""Who may be shown what of an event before its hand is over: written from TABLE-2, not from the code under test."""

from collections.abc import Iterator
from typing import Any, Final

from baohuang.eventlog.codec import decode
from baohuang.rules.events import CardCalled, EmperorEnthroned
from tables.games import Game

Json = Any
PUBLIC_CARDS: Final = {("cardsPlayed", "cards"), ("cardCalled", "card")}
"""Where an update shows cards to everybody."""


def hidden_shown_to(seat: int | None, kind: str, event: dict[str, Json], guard: int | None) -> bool:
    """Tell whether `hidden` may be there for the seat."""
    match kind:
        case "answered" | "crownYielded":
            return bool(seat == event.get("seat", 0))
        case "cardsDealt":
            return seat is not None
        case "tributePaid":
            return any(seat in {paid.get("payer", 0), paid.get("receiver", 0)} for paid in event["payments"])
        case "tributeReturned":
            return seat in {event.get("seat", 0), event.get("payer", 0)}
        case "emperorEnthroned" | "cardCalled":
            return seat is not None and seat in {event.get("seat", 0), guard}
        case _:
            return False


def check_hidden(seat: int | None, kind: str, event: dict[str, Json]) -> None:
    """Check what stands in an event's `hidden`, whoever may see some of it."""
    hidden = event["hidden"]
    match kind:
        case "cardsDealt":
            assert [held.get("seat", 0) for held in hidden["hands"]] == [seat]
        case "tributePaid":
            assert all(seat in {paid.get("payer", 0), paid.get("receiver", 0)} for paid in hidden["payments"])
        case "emperorEnthroned" | "cardCalled" if seat == event.get("seat", 0):
            assert "guard" not in hidden
        case "emperorEnthroned" | "cardCalled":
            assert hidden == {"guard": seat}
        case _:
            pass


def cards_in(value: Json, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Give the path to every text in a message that could be a card."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from cards_in(inner, (*path, key))
    elif isinstance(value, list):
        for inner in value:
            yield from cards_in(inner, path)
    elif isinstance(value, str) and 2 <= len(value) <= 3 and value[0] in "3456789TJQKA2BS" and value[1] in "shdcJ":
        yield path


def check_entitled(seat: int | None, kind: str, event: Json, guard: int | None) -> None:
    """Check that an event, as JSON, shows the seat nothing but what is public or his; `guard` is whom it made guard."""
    shown = "hidden" in event
    assert not shown or hidden_shown_to(seat, kind, event, guard)
    if shown:
        check_hidden(seat, kind, event)
    public = {path for path in cards_in(event) if path[0] != "hidden"}
    assert {(kind, *path) for path in public} <= PUBLIC_CARDS


async def guards_made(game: Game) -> dict[int, int | None]:
    """Return, by version, the guard that an enthronement or a call made; a later seize may unmake him."""
    events = [(stored.version, decode(stored.type, stored.data)) for stored in await game.events()]
    return {
        version: event.hidden.guard
        for version, event in events
        if isinstance(event, EmperorEnthroned | CardCalled) and event.hidden
    }
