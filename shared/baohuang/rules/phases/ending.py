"""How a hand ends and is settled: END-H, END-L, END-2, TRUST-4."""

from baohuang.rules.cards import CROWN, in_order
from baohuang.rules.clock import NEVER, later
from baohuang.rules.deal import SEATS
from baohuang.rules.decision import Decision
from baohuang.rules.events import HandFinished, HandVoided, SeatCards
from baohuang.rules.refusals import Refusal, RefusedError
from baohuang.rules.rulesets import Ending, Ruleset
from baohuang.rules.seating import READY_SECONDS
from baohuang.rules.settlement import Points, Solo, doublings, settle
from baohuang.rules.state import ALL_SEATS, Hand, Instant, Phase, Roles, downstream_of, outcome_of

_LAST_BUT_ONE = 4
_TWO_OPPONENTS = 2
_NO_POINTS: Points = (0,) * SEATS


def hand_has_ended(ruleset: Ruleset, roles: Roles, out: tuple[int, ...]) -> bool:
    """Tell whether the hand is over with these seats out (END-H, END-L)."""
    gone = set(out)
    if roles.solo is Solo.OPEN:
        return bool(gone)
    if roles.solo is Solo.HIDDEN:
        opponents_out = len(gone - {roles.emperor})
        enough = _TWO_OPPONENTS if ruleset.ending is Ending.SIDE_OUT else _LAST_BUT_ONE
        return roles.emperor in gone or opponents_out >= enough
    if ruleset.ending is Ending.SIDE_OUT:
        crown = {roles.emperor, roles.guard}
        return crown <= gone or set(ALL_SEATS) - crown <= gone
    return len(gone) >= _LAST_BUT_ONE


def finish(decision: Decision) -> None:
    """Settle the hand (section 5) and open everything that was hidden; void it if all five are trustees (TRUST-4)."""
    hand = decision.hand
    places = () if hand.stakes.surrendered else _places(hand)
    outcome = outcome_of(hand, places)
    trustees = trustees_of(hand)
    if trustees == ALL_SEATS:
        decision.emit(
            HandVoided(
                rule="TRUST-4", trustees=trustees, decided_at=decision.command.at, rests_on=entries_of(hand, trustees)
            )
        )
        decision.emit(_finished(decision, places, _NO_POINTS, void=True))
    else:
        named = doublings(decision.ruleset, outcome)
        decision.emit(_finished(decision, places, settle(decision.ruleset, outcome), named))


def void(decision: Decision, note: str) -> None:
    """End the hand as it stands, by an operator's ruling (RULE-1): no places, no points, and everything is opened."""
    hand = decision.hand
    if hand.phase is Phase.SETTLED:
        raise RefusedError(Refusal.WRONG_PHASE, "RULE-1", "the hand is over")
    decision.emit(HandVoided("RULE-1", trustees_of(hand), decision.command.at, (hand.turn_version,), note))
    decision.emit(_finished(decision, (), _NO_POINTS, void=True))


def _finished(
    decision: Decision, places: tuple[int, ...], points: Points, doubled: tuple[str, ...] = (), *, void: bool = False
) -> HandFinished:
    """Tell the end of the hand, with all that the points can be computed from anew."""
    hand, table = decision.hand, decision.table
    return HandFinished(
        hand=hand.number,
        places=places,
        points=points,
        emperor=hand.roles.emperor,
        guard=hand.roles.guard,
        solo=hand.roles.solo,
        surrendered=hand.stakes.surrendered,
        void=void,
        doublings=doubled,
        hands=_cards_left(hand),
        seeds=table.seeds,
        due_at=_to_be_ready_by(decision),
        players=hand.players,
        ruleset=table.ruleset.id,
        options=table.options,
        open_guard=hand.stakes.open_guard,
        revolt=hand.stakes.revolt,
        kicked=hand.stakes.kicked,
    )


def _to_be_ready_by(decision: Decision) -> Instant:
    """TABLE-1: all must be ready again in time, unless the table is about to be dissolved (TRUST-4)."""
    return NEVER if trustees_of(decision.hand) else later(decision.command.at, READY_SECONDS)


def _cards_left(hand: Hand) -> tuple[SeatCards, ...]:
    """Return the cards never played; a crown still on offer, and what is pasted to it, goes back where it came from."""
    hands = [list(cards) for cards in hand.hands]
    if hand.offer is not None:
        hands[hand.offer.origin].append(CROWN)
        for pasted in hand.offer.pile:
            hands[pasted.seat].append(pasted.card)
    return tuple(SeatCards(seat, in_order(cards)) for seat, cards in enumerate(hands) if cards)


def trustees_of(hand: Hand) -> tuple[int, ...]:
    """Return the seats in trusteeship, ascending."""
    return tuple(seat for seat in ALL_SEATS if hand.trusteeships[seat].active)


def entries_of(hand: Hand, trustees: tuple[int, ...]) -> tuple[int, ...]:
    """Return the versions, ascending, of the events by which these seats last entered trusteeship."""
    return tuple(sorted(hand.trusteeships[seat].version for seat in trustees))


def _places(hand: Hand) -> tuple[int, ...]:
    """END-2: seats not out share the remaining places by fewer cards, then order of play from the emperor."""
    if hand.roles.emperor is None:
        raise ValueError("places are told from the emperor")
    still_in = [seat for seat in downstream_of(hand.roles.emperor) if seat not in hand.out]
    return (*hand.out, *sorted(still_in, key=lambda seat: len(hand.hands[seat])))
