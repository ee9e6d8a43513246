"""A client's view of a table, folded from JSON by the document's table and nothing else.

States and events are JSON objects with their default values printed; what is `optional` is there only when present.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from .reflected import Json

RANKS: Final = "3456789TJQKA2"
ORDER: Final = ("??", *(rank + suit for rank in RANKS for suit in "cdhs"), "SJ", "SJ*", "BJ", "BJ*")
NO_ANSWERS: Final = ("ANSWER_UNSPECIFIED",) * 5
TURNS: Final = frozenset(
    {"TributePaid", "TributeReturned", "CrownOffered", "CrownYielded", "PhaseBegan", "CardsPlayed", "Passed"}
)
"""The events marked **turn**."""


def fold(table: Json, update: Json) -> None:
    """Move the view on by an update."""
    kind, (event,) = update["type"], update["event"].values()
    version = update["version"]
    if kind in TURNS:
        _turn(table["hand"], event, version, event["seat"] if kind == "CrownOffered" else event.get("turn"))
    if kind != "HandStarted":
        event = {**event, "version": version}
    _CHANGES[kind](table, event)
    table |= {"version": version, "hash": update["hash"]}


def _turn(hand: Json, event: Json, version: int, seat: int | None) -> None:
    _set_turn(hand, seat, event["dueAt"])
    hand["turnVersion"] = version


def _set_turn(hand: Json, seat: int | None, due_at: str) -> None:
    hand.pop("turn", None)
    hand |= {"dueAt": due_at} if seat is None else {"dueAt": due_at, "turn": seat}


def _no_turn(hand: Json) -> None:
    _set_turn(hand, None, "")


def _lose(hand: Json, seat: int, cards: Sequence[str]) -> None:
    held = hand["hands"][seat]["cards"]
    for card in cards:
        held.remove("??" if "??" in held else card)


def _gain(hand: Json, seat: int, cards: Sequence[str]) -> None:
    held = hand["hands"][seat]["cards"]
    held += ["??"] * len(cards) if "??" in held else cards
    held.sort(key=ORDER.index)


def _player_sat(table: Json, event: Json) -> None:
    table["seats"][event["seat"]] = {"player": event["player"], **_due(event)}
    table |= {"closesAt": "", "closesVersion": 0}


def _due(event: Json) -> Json:
    return {"dueAt": event["dueAt"], "dueVersion": event["version"] if event["dueAt"] else 0}


def _seat_left(table: Json, event: Json) -> None:
    table["seats"][event["seat"]] = {}
    table |= {"closesAt": event["closesAt"], "closesVersion": event["version"] if event["closesAt"] else 0}


def _readiness_set(table: Json, event: Json) -> None:
    before = table["seats"][event["seat"]]
    due = {} if event["dueAt"] == before["dueAt"] else _due(event)
    table["seats"][event["seat"]] = {**before, **{key: event[key] for key in ("ready", "entropy")}, **due}


def _seed_committed(table: Json, event: Json) -> None:
    table["commitment"] = {key: event[key] for key in ("hand", "deal", "commitment")}


def _hand_started(table: Json, event: Json) -> None:
    people = zip(event["players"], event["entropy"], strict=True)
    table["seats"] = [{"player": player, "ready": True, "entropy": entropy} for player, entropy in people]
    table |= {"handsPlayed": event["hand"] - 1, "seeds": []}
    table["commitment"] = {"hand": event["hand"], "deal": 1, "commitment": event["commitment"]}
    table["hand"] = {
        "number": event["hand"],
        "players": event["players"],
        "dealer": event["dealer"],
        "phase": "PHASE_REDEAL",
        "answers": [*NO_ANSWERS],
        "hands": [{"cards": []} for _ in range(5)],
        "roles": {},
        "stakes": {},
        "trick": {},
        "tribute": [],
        "out": [],
        "trusteeships": [{} for _ in range(5)],
        "fines": [0] * 5,
        "connections": [{} for _ in range(5)],
    }


def _cards_dealt(table: Json, event: Json) -> None:
    hand, shown = table["hand"], event.get("hidden", {"hands": []})["hands"]
    hand |= {"deal": event["deal"], "hands": [{"cards": ["??"] * size} for size in event["sizes"]]}
    for held in shown:
        hand["hands"][held["seat"]] = {"cards": [*held["cards"]]}
    del table["commitment"]
    table["seeds"].append("")


def _tribute_paid(table: Json, event: Json) -> None:
    hand = table["hand"]
    shown = {(paid["payer"], paid["receiver"]): paid["cards"] for paid in event.get("hidden", {}).get("payments", ())}
    hand |= {"phase": "PHASE_TRIBUTE", "tribute": []}
    for paid in event["payments"]:
        cards = shown.get((paid["payer"], paid["receiver"]), ["??"] * paid["count"])
        hand["tribute"].append({"payer": paid["payer"], "receiver": paid["receiver"], "cards": cards})
        _lose(hand, paid["payer"], cards)
    for paid in hand["tribute"]:
        _gain(hand, paid["receiver"], paid["cards"])


def _tribute_returned(table: Json, event: Json) -> None:
    hand, cards = table["hand"], event.get("hidden", {}).get("cards", ["??"] * event["count"])
    _lose(hand, event["seat"], cards)
    _gain(hand, event["payer"], cards)
    for paid in hand["tribute"]:
        if (paid["payer"], paid["receiver"]) == (event["payer"], event["seat"]):
            paid["returned"] = True


def _crown_offered(table: Json, event: Json) -> None:
    table["hand"] |= {"phase": "PHASE_CROWN", "offer": {"origin": event["seat"], "refusals": 0, "pile": []}}
    _lose(table["hand"], event["seat"], ["BJ*"])


def _crown_yielded(table: Json, event: Json) -> None:
    offer = table["hand"]["offer"]
    offer["refusals"] += 1
    if event["pasted"]:
        card = event.get("hidden", {}).get("card", "??")
        _lose(table["hand"], event["seat"], [card])
        offer["pile"].append({"seat": event["seat"], "card": card})


def _redeal_ordered(table: Json, event: Json) -> None:
    hand = table["hand"]
    _no_turn(hand)
    del hand["offer"]
    hand |= {"phase": "PHASE_REDEAL", "tribute": [], "hands": [{"cards": []} for _ in range(5)]}


def _enthroned(table: Json, event: Json) -> None:
    hand, hidden = table["hand"], event.get("hidden", {})
    _no_turn(hand)
    del hand["offer"]
    hand["tribute"] = []
    roles = {key: hidden[key] for key in ("guard", "solo") if key in hidden}
    roles |= {"solo": "SOLO_OPEN", "publicSolo": True} if event["openSolo"] else {}
    hand["roles"] = {"emperor": event["seat"], "settled": event["rolesSettled"], **roles}
    _gain(hand, event["seat"], hidden.get("cards") or ["??"] * event["pile"])


def _phase_began(table: Json, event: Json) -> None:
    table["hand"] |= {"phase": event["phase"], "asked": event["asked"], "answers": [*NO_ANSWERS]}


def _answered(table: Json, event: Json) -> None:
    table["hand"]["answers"][event["seat"]] = event.get("hidden", {}).get("answer", "ANSWER_HIDDEN")


def _all_published(hand: Json) -> None:
    hand |= {"asked": [], "answers": [*NO_ANSWERS], "dueAt": ""}


def _seize_published(table: Json, event: Json) -> None:
    hand = table["hand"]
    _all_published(hand)
    hand["roles"]["settled"] = event["rolesSettled"]
    if "winner" in event:
        hand["roles"].pop("guard", None)
        hand["roles"] |= {"emperor": event["winner"], "solo": "SOLO_OPEN", "publicSolo": True}


def _card_called(table: Json, event: Json) -> None:
    _no_turn(table["hand"])
    hidden = event.get("hidden", {})
    shown = {key: hidden[key] for key in ("guard", "solo") if key in hidden}
    table["hand"]["roles"] |= {"called": event["card"], "settled": True, **shown}


def _open_solo_declared(table: Json, event: Json) -> None:
    _no_turn(table["hand"])
    table["hand"]["roles"] |= {"solo": "SOLO_OPEN", "publicSolo": True, "settled": True}


def _declarations_published(table: Json, event: Json) -> None:
    hand = table["hand"]
    _all_published(hand)
    hand["stakes"] |= {key: event[key] for key in ("openGuard", "revolt", "surrendered", "revolters")}
    if "guard" in event:
        hand["roles"] |= {"guard": event["guard"], "publicGuard": event["guard"]}
    if "solo" in event:
        hand["roles"] |= {"solo": event["solo"], "publicSolo": True}


def _kicks_published(table: Json, event: Json) -> None:
    _all_published(table["hand"])
    table["hand"]["stakes"] |= {"kickers": event["kickers"], "kicked": bool(event["kickers"])}


def _seat_went_out(table: Json, event: Json) -> None:
    table["hand"]["out"].append(event["seat"])


def _cards_played(table: Json, event: Json) -> None:
    hand = table["hand"]
    _lose(hand, event["seat"], event["cards"])
    hand["trick"] = {"cards": event["cards"], "player": event["seat"], "passes": 0}
    if event["place"]:
        hand["out"].append(event["seat"])


def _passed(table: Json, event: Json) -> None:
    trick = table["hand"]["trick"]
    table["hand"]["trick"] = {} if event["trickOver"] else {**trick, "passes": trick["passes"] + 1}


def _role_revealed(table: Json, event: Json) -> None:
    guard = {"guard": event["seat"], "publicGuard": event["seat"]}
    table["hand"]["roles"] |= {"solo": "SOLO_HIDDEN", "publicSolo": True} if event["solo"] else guard


def _trusteeship_entered(table: Json, event: Json) -> None:
    entered = {"active": True, "entries": event["entry"], "version": event["version"]}
    table["hand"]["trusteeships"][event["seat"]] |= entered


def _trusteeship_made_permanent(table: Json, event: Json) -> None:
    table["hand"]["trusteeships"][event["seat"]]["permanent"] = True


def _trusteeship_cancelled(table: Json, event: Json) -> None:
    table["hand"]["trusteeships"][event["seat"]]["active"] = False


def _player_fined(table: Json, event: Json) -> None:
    table["hand"]["fines"][event["seat"]] += event["points"]
    _add_reversible(table["hand"], event["version"], {"seat": event["seat"]})


def _add_reversible(hand: Json, version: int, fined: Json) -> None:
    hand["reversible"] = [*hand.get("reversible", ()), {"version": version, "reversedBy": 0, **fined}]


def _ruling_reversed(table: Json, event: Json) -> None:
    for ruling in table["hand"]["reversible"]:
        if ruling["version"] == event["reverses"]:
            ruling["reversedBy"] = event["version"]


def _turn_extended(table: Json, event: Json) -> None:
    table["hand"] |= {"dueAt": event["dueAt"], "turnVersion": event["version"]}


def _hand_voided(table: Json, event: Json) -> None:
    """Nothing: HandFinished says it."""


def _hand_finished(table: Json, event: Json) -> None:
    hand = table["hand"]
    _no_turn(hand)
    roles = {key: event[key] for key in ("guard", "solo") if key in event}
    if "emperor" in event:
        table["previous"] = {
            "players": hand["players"],
            **{key: event[key] for key in ("emperor", "places", "points")},
            **roles,
            "paysTribute": not (event["void"] or event["surrendered"]),
        }
    elif "previous" in table:
        table["previous"]["paysTribute"] = False
    table |= {"seeds": event["seeds"], "handsPlayed": event["hand"]}
    table["seats"] = [{"player": seat["player"], **_due(event)} for seat in table["seats"]]
    left = {held["seat"]: held["cards"] for held in event["hands"]}
    hand |= {"phase": "PHASE_SETTLED", "asked": [], "answers": [*NO_ANSWERS], "trick": {}, "tribute": []}
    hand.pop("offer", None)
    hand["hands"] = [{"cards": left.get(seat, [])} for seat in range(5)]
    hand["stakes"]["surrendered"] = event["surrendered"]
    hand["roles"] |= roles
    hand["result"] = {key: event[key] for key in ("places", "points", "void", "seeds")}
    if event["void"] and (event["places"] or event["surrendered"]):
        _add_reversible(hand, event["version"] - 1, {})


def _table_dissolved(table: Json, event: Json) -> None:
    table |= {"status": "TABLE_STATUS_DISSOLVED", "seats": [{} for _ in range(5)]}


def _table_closed(table: Json, event: Json) -> None:
    closed = {"status": "TABLE_STATUS_CLOSED", "closesAt": "", "closesVersion": 0}
    table |= {**closed, "seats": [{} for _ in range(5)]}


_CHANGES: Final[Mapping[str, Callable[[Any, Any], None]]] = {
    "PlayerSat": _player_sat,
    "PlayerStood": _seat_left,
    "PlayerUnseated": _seat_left,
    "ReadinessSet": _readiness_set,
    "SeedCommitted": _seed_committed,
    "HandStarted": _hand_started,
    "CardsDealt": _cards_dealt,
    "TributePaid": _tribute_paid,
    "TributeReturned": _tribute_returned,
    "CrownOffered": _crown_offered,
    "CrownYielded": _crown_yielded,
    "RedealOrdered": _redeal_ordered,
    "EmperorEnthroned": _enthroned,
    "PhaseBegan": _phase_began,
    "Answered": _answered,
    "SeizePublished": _seize_published,
    "CardCalled": _card_called,
    "OpenSoloDeclared": _open_solo_declared,
    "DeclarationsPublished": _declarations_published,
    "KicksPublished": _kicks_published,
    "SeatWentOut": _seat_went_out,
    "CardsPlayed": _cards_played,
    "Passed": _passed,
    "RoleRevealed": _role_revealed,
    "TrusteeshipEntered": _trusteeship_entered,
    "TrusteeshipMadePermanent": _trusteeship_made_permanent,
    "TrusteeshipCancelled": _trusteeship_cancelled,
    "PlayerFined": _player_fined,
    "TurnExtended": _turn_extended,
    "HandVoided": _hand_voided,
    "HandFinished": _hand_finished,
    "FineReversed": _ruling_reversed,
    "VoidReversed": _ruling_reversed,
    "TableDissolved": _table_dissolved,
    "TableClosed": _table_closed,
}
