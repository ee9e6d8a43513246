"""Cases of kind `hand`: a given deal and a script, played through the same `decide` as every table."""

from typing import Any, Final

from baohuang.rules.cards import CROWN, SWORD, in_order
from baohuang.rules.commands import Action, Command
from baohuang.rules.deal import SEATS
from baohuang.rules.decide import decide
from baohuang.rules.decision import Decision
from baohuang.rules.events import (
    CardsDealt,
    Event,
    HandStarted,
    HiddenHands,
    RedealOrdered,
    SeatCards,
)
from baohuang.rules.evolve import evolve, fold
from baohuang.rules.phases import course
from baohuang.rules.phases.ending import trustees_of
from baohuang.rules.refusals import Refusal, RefusedError
from baohuang.rules.rulesets import Guarding, Ruleset
from baohuang.rules.settlement import Solo
from baohuang.rules.state import Hand, Instant, Phase, PlayerId, Previous, Table, TableId
from command_line.judge.reading import (
    Case,
    CaseError,
    cards_in,
    check_copies,
    optional_seat_in,
    places_in,
    ruleset_of,
    seat_in,
    solo_in,
)
from command_line.judge.script import action_of

_AT: Final = Instant("2026-01-01T00:00:00.000000Z")
_SEED: Final = "00" * 32
_PLAYERS: Final = tuple(PlayerId(f"seat-{seat}") for seat in range(SEATS))


def judge_hand(case: Case) -> dict[str, Any]:
    """Return the verdict of a hand; raise CaseError if the case is malformed."""
    table = _begun(case)
    script = [_script_line(line, index) for index, line in enumerate(_list(case, "script"))]
    rejected: list[list[object]] = []
    redeal = False
    for index, (seat, action) in enumerate(script):
        if redeal:
            rejected.append([index, Refusal.WRONG_PHASE.value])
            continue
        try:
            table, redeal = _apply(table, seat, action)
        except RefusedError as refused:
            rejected.append([index, refused.reason.value])
        except ValueError as error:
            raise CaseError(f"script: line {index} leaves a hand that cannot be settled: {error}") from error
    return {"rejected": rejected, **_verdict(_hand(table), redeal=redeal)}


def _begun(case: Case) -> Table:
    """Return the table with the case's hand at its first decision."""
    ruleset, options = ruleset_of(case)
    hands = _deal(case, ruleset)
    opening = HandStarted(
        hand=1,
        table_id=TableId("case"),
        ruleset=ruleset.id,
        options=options,
        opened_by=_PLAYERS[0],
        players=_PLAYERS,
        entropy=("",) * SEATS,
        dealer=0,
        previous=_previous(case),
        commitment="",
        hidden=None,
    )
    deal = CardsDealt(1, 0, tuple(map(len, hands)), HiddenHands(tuple(map(SeatCards, range(SEATS), hands))))
    decision = Decision(fold((opening, deal)), _command(0, action_of("pass", ())))
    course.begin(decision)
    course.advance(decision)
    return decision.table


def _deal(case: Case, ruleset: Ruleset) -> tuple[tuple[Any, ...], ...]:
    deal = _list(case, "deal")
    if len(deal) != SEATS:
        raise CaseError("deal: must be five hands")
    hands = tuple(in_order(cards_in(text, "deal")) for text in deal)
    every = tuple(card for hand in hands for card in hand)
    check_copies(every, "deal")
    for mark in (CROWN, SWORD) if ruleset.guarding is Guarding.SWORD_CARD else (CROWN,):
        if mark not in every:
            raise CaseError(f"deal: {mark} is missing")
    return hands


def _previous(case: Case) -> Previous | None:
    given = case.get("previous")
    if given is None:
        return None
    if not isinstance(given, dict):
        raise CaseError("previous: must be an object")
    points = given.get("points")
    if not isinstance(points, list) or [type(value) for value in points] != [int] * SEATS:
        raise CaseError("previous: points must be five whole numbers")
    # A surrendered hand has no places (DECL-5), and no other kind of result lacks them.
    surrendered = given.get("places") is None
    return Previous(
        players=_PLAYERS,
        emperor=seat_in(given.get("emperor"), "previous: emperor"),
        guard=optional_seat_in(given, "guard"),
        solo=solo_in(given),
        places=() if surrendered else places_in(given),
        points=tuple(points),
        pays_tribute=not surrendered,
    )


def _script_line(line: object, index: int) -> tuple[int, Action]:
    if not isinstance(line, list) or len(line) < 2:  # noqa: PLR2004 - a seat and a verb
        raise CaseError(f"script: line {index} must be [seat, verb, argument…]")
    seat, verb, *arguments = line
    seat = seat_in(seat, f"script: line {index}: seat")
    try:
        action = action_of(verb, tuple(arguments), seat)
    except CaseError as error:
        raise CaseError(f"script: line {index}: {error}") from error
    return seat, action


def _apply(table: Table, seat: int, action: Action) -> tuple[Table, bool]:
    """Return the table after the action, and whether it ordered a redeal: then as it was just before that."""
    events, (*_, after) = decide(table, _command(seat, action))
    if any(isinstance(event, RedealOrdered) for event in events):
        return _before_redeal(table, events), True
    return after, False


def _before_redeal(table: Table, events: tuple[Event, ...]) -> Table:
    for event in events:
        if isinstance(event, RedealOrdered):
            break
        table = evolve(table, event)
    return table


def _command(seat: int, action: Action) -> Command:
    return Command(_PLAYERS[seat], action, _AT, _SEED)


def _hand(table: Table) -> Hand:
    if table.hand is None:
        raise ValueError("a case has a hand")
    return table.hand


def _verdict(hand: Hand, *, redeal: bool) -> dict[str, Any]:
    result, roles = hand.result, hand.roles
    trustees = trustees_of(hand)
    leading = not hand.trick.cards or hand.phase is not Phase.PLAY
    return {
        "phase": Phase.REDEAL.name if redeal else hand.phase.name,
        "turn": None if redeal else hand.turn,
        "emperor": roles.emperor,
        "guard": roles.guard,
        "solo": _SOLO_WORDS[roles.solo],
        "public_guard": roles.public_guard,
        "public_solo": roles.public_solo,
        "revolters": list(hand.stakes.revolters),
        "sizes": [len(cards) for cards in hand.hands],
        "table": None if leading else sorted(hand.trick.cards),
        "out": list(hand.out),
        "places": list(result.places) if result and result.places else None,
        "points": list(result.points) if result else None,
        "trustees": list(trustees),
        "fines": list(hand.fines),
        "dissolved": result is not None and bool(trustees),
        "void": result is not None and result.void,
    }


_SOLO_WORDS: Final[dict[Solo | None, str | None]] = {None: None, Solo.OPEN: "open", Solo.HIDDEN: "hidden"}


def _list(case: Case, key: str) -> list[Any]:
    value = case.get(key)
    if not isinstance(value, list):
        raise CaseError(f"{key}: must be a list")
    return value
