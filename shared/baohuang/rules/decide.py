"""Command → events: the one way a table changes. Pure; raises RefusedError and changes nothing when refused."""

from typing import assert_never

from baohuang.rules import commands as cmd
from baohuang.rules import seating
from baohuang.rules.clock import later
from baohuang.rules.deal import commitment_to, dealt, shuffled
from baohuang.rules.decision import Decision
from baohuang.rules.events import (
    CardsDealt,
    Event,
    HandStarted,
    HiddenHands,
    HiddenSeed,
    SeatCards,
    SeedCommitted,
    TableDissolved,
    TableOpened,
)
from baohuang.rules.phases import answering, call, connection, course, crown, ending, play, standing, tribute
from baohuang.rules.phases.ending import entries_of, trustees_of
from baohuang.rules.refusals import Refusal, RefusedError
from baohuang.rules.reversals import reverse
from baohuang.rules.rulesets import ruleset_named, with_options
from baohuang.rules.state import (
    FineReason,
    Phase,
    Table,
    TableStatus,
    TrusteeshipReason,
    in_progress,
)


def decide(table: Table | None, command: cmd.Command) -> tuple[tuple[Event, ...], tuple[Table, ...]]:
    """Return the events the command brings about, at least one, and the table as each of them leaves it.

    Raises RefusedError (a wrong move, its clause named), UnknownRulesetError and OptionError (OpenTable).
    """
    decision = Decision(table, command)
    _act(decision, command.action)
    _follow_up(decision)
    return tuple(decision.events), tuple(decision.tables)


def _act(decision: Decision, action: cmd.Action) -> None:
    match action:
        case (
            cmd.Play() | cmd.Pass() | cmd.Enthrone() | cmd.Yield() | cmd.DeclareOpenSolo() | cmd.AnswerSeize()
            | cmd.CallCard() | cmd.Declare() | cmd.AnswerKick() | cmd.ReturnTribute()
        ):  # fmt: skip
            _move(decision, _own_seat_in_hand(decision), action)
        case cmd.OpenTable():
            _open_table(decision, action)
        case cmd.SitDown():
            seating.sit_down(decision, action.seat)
        case cmd.StandUp():
            seating.stand_up(decision)
        case cmd.SetReady():
            seating.set_ready(decision, action)
            if all(taken.ready for taken in decision.table.seats):
                _start_hand(decision)
        case cmd.VoidHand() | cmd.CloseTable() | cmd.ReverseRuling():
            _rule(decision, action)
        case (
            cmd.ExpireTurn() | cmd.ExpireDeadline() | cmd.ReportConnection() | cmd.RequestTrusteeship()
            | cmd.CancelTrusteeship() | cmd.LeaveTable() | cmd.ForfeitSeat() | cmd.KickPlayer()
        ):  # fmt: skip
            _change_standing(decision, action)
        case _:
            assert_never(action)


def _move(decision: Decision, seat: int, move: cmd.Move) -> None:  # noqa: C901 - one line a move
    match move:
        case cmd.Play():
            play.play_cards(decision, seat, move.cards)
        case cmd.Pass():
            play.pass_turn(decision, seat)
        case cmd.Enthrone():
            crown.enthrone(decision, seat)
        case cmd.Yield():
            crown.yield_crown(decision, seat)
        case cmd.DeclareOpenSolo() if decision.hand.phase is Phase.CALL:
            call.declare_open_solo(decision, seat)
        case cmd.DeclareOpenSolo():
            crown.enthrone_by_open_solo(decision, seat)
        case cmd.CallCard():
            call.call_card(decision, seat, move.card)
        case cmd.AnswerSeize():
            answering.answer(decision, seat, Phase.SEIZE, move.answer)
        case cmd.Declare():
            answering.answer(decision, seat, Phase.DECLARE, move.answer)
        case cmd.AnswerKick():
            answering.answer(decision, seat, Phase.KICK, move.answer)
        case cmd.ReturnTribute():
            tribute.return_tribute(decision, seat, move.cards)
        case _:
            assert_never(move)


def _change_standing(decision: Decision, action: cmd.StandingMove) -> None:
    match action:
        case cmd.ExpireTurn():
            standing.expire_turn(decision, seating.seat_given(action.seat))
        case cmd.ExpireDeadline() if in_progress(decision.table):
            standing.expire_deadline(decision, action.due_at)
        case cmd.ExpireDeadline():
            seating.expire(decision, action.due_at)
        case cmd.ReportConnection():
            connection.report(decision, seating.seat_given(action.seat), action.since, connected=action.connected)
        case cmd.KickPlayer():
            standing.force_out(decision, seating.seat_given(action.seat), FineReason.KICKED)
        case cmd.RequestTrusteeship():
            standing.request_trusteeship(decision, _own_seat_in_hand(decision), TrusteeshipReason.REQUESTED)
        case cmd.LeaveTable():
            standing.request_trusteeship(decision, _own_seat_in_hand(decision), TrusteeshipReason.LEFT)
        case cmd.CancelTrusteeship():
            standing.cancel_trusteeship(decision, _own_seat_in_hand(decision))
        case cmd.ForfeitSeat():
            standing.force_out(decision, _own_seat_in_hand(decision), FineReason.FORFEITED)
        case _:
            assert_never(action)


def _rule(decision: Decision, action: cmd.OperatorMove) -> None:
    match action:
        case cmd.VoidHand():
            ending.void(decision, action.note)
        case cmd.CloseTable():
            seating.close(decision, action.note)
        case cmd.ReverseRuling():
            reverse(decision, action)
        case _:
            assert_never(action)


def _follow_up(decision: Decision) -> None:
    """Bring about what follows of itself: the deal, trustees' actions, the settlement, the next commitment."""
    if decision.table.hand is None or decision.table.status is not TableStatus.OPEN:
        return
    course.advance(decision)
    while decision.hand.phase is Phase.REDEAL:
        _deal(decision)
        course.advance(decision)
    if decision.hand.phase is Phase.SETTLED and decision.table.commitment is None:
        _close_hand(decision)


def _open_table(decision: Decision, action: cmd.OpenTable) -> None:
    if decision.exists:
        raise RefusedError(Refusal.TABLE_EXISTS, "TABLE-1", "there is a table of this id")
    with_options(ruleset_named(action.ruleset), action.options)
    player = decision.command.player
    closes_at = later(decision.command.at, seating.ABANDONED_SECONDS)
    digest = action.invitation_digest
    decision.emit(TableOpened(action.table_id, action.ruleset, action.options, player, closes_at, digest))
    _commit(decision, hand=1, deal=1)
    seating.sit_together(decision, action.players)


def _commit(decision: Decision, hand: int, deal: int) -> None:
    """FAIR-1: bind the service to the seed of a deal to come."""
    seed = decision.fresh_seed()
    decision.emit(SeedCommitted(hand, deal, commitment_to(bytes.fromhex(seed)), HiddenSeed(seed)))


def _own_seat_in_hand(decision: Decision) -> int:
    """Return the seat the player holds in the hand; raise RefusedError NOT_SEATED, or WRONG_PHASE without a hand.

    A table that was dissolved with the hand seats nobody any more, so it is the hand that knows.
    """
    table, player = decision.table, decision.command.player
    if table.hand is None or player not in table.hand.players:
        seating.own_seat(decision)
    if decision.hand.phase is Phase.SETTLED:
        raise RefusedError(Refusal.WRONG_PHASE, "3", "the hand is over")
    return decision.hand.players.index(player)


def _start_hand(decision: Decision) -> None:
    """TABLE-1: five ready players start a hand. The event carries the whole table: a rebuild begins here."""
    table = decision.table
    if table.commitment is None:
        raise ValueError("a hand cannot start before its seed is committed")
    decision.emit(
        HandStarted(
            hand=table.commitment.hand,
            table_id=table.table_id,
            ruleset=table.ruleset.id,
            options=table.options,
            opened_by=table.opened_by,
            players=tuple(taken.player for taken in table.seats),
            entropy=tuple(taken.entropy for taken in table.seats),
            dealer=table.previous.emperor if table.previous else 0,
            previous=table.previous,
            commitment=table.commitment.commitment,
            hidden=HiddenSeed(table.commitment.seed),
            version=table.version + 1,
            invitation_digest=table.invitation_digest,
        ),
    )


def _deal(decision: Decision) -> None:
    """DEAL-1, FAIR-1: deal by the seed committed to; a redeal first commits to a new one."""
    hand = decision.hand
    if decision.table.commitment is None:
        _commit(decision, hand.number, hand.deal + 1)
    table = decision.table
    if table.commitment is None:
        raise ValueError("a deal needs a commitment")
    seed = bytes.fromhex(table.commitment.seed)
    cards = shuffled(table.ruleset.deck, seed, [taken.entropy for taken in table.seats])
    hands = dealt(cards, hand.dealer)
    decision.emit(
        CardsDealt(
            deal=table.commitment.deal,
            dealer=hand.dealer,
            sizes=tuple(len(held) for held in hands),
            hidden=HiddenHands(tuple(SeatCards(seat, held) for seat, held in enumerate(hands))),
        ),
    )
    course.begin(decision)


def _close_hand(decision: Decision) -> None:
    """TRUST-4: dissolve the table if a seat was in trusteeship; else commit to the next deal (FAIR-1)."""
    trustees = trustees_of(decision.hand)
    if trustees:
        rests_on = entries_of(decision.hand, trustees)
        decision.emit(TableDissolved("TRUST-4", trustees, decision.command.at, rests_on))
    else:
        _commit(decision, decision.hand.number + 1, 1)
