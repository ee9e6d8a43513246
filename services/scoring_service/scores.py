"""The points of a hand and of a fine, computed from what happened and compared with what the table says of them.

Section 5 (PTS-L, PTS-H, DECL-5), FINE-3, and what is taken back (RULE-1). Everything here is pure.
"""

from dataclasses import replace
from typing import Final, assert_never

from baohuang.rules.deal import SEATS
from baohuang.rules.events import FineReversed, HandFinished, PlayerFined, VoidReversed
from baohuang.rules.rulesets import PointsTable, Ruleset, ruleset_named, with_options
from baohuang.rules.settlement import Outcome, Points, Solo, doublings, settle
from baohuang.scoring.events import (
    Booked,
    Doubling,
    FinePosted,
    FineReturned,
    HandScored,
    PostingNumber,
    Role,
    SeatScore,
)
from scoring_service.settling import Settling, Unscorable

_FINE_BEFORE_ROLES: Final = -20
_FINE_AFTER_ROLES: Final = -40
_DOUBLED: Final = 2
_NOTHING: Final = (0,) * SEATS


_Ended = HandFinished | VoidReversed
"""What says how a hand ended."""


def posted(number: PostingNumber, settling: Settling) -> Booked:
    """Return the posting that an event leads to. Raises Unscorable."""
    match settling.event:
        case HandFinished() | VoidReversed() as ended:
            return _hand(number, settling, ended)
        case PlayerFined() as fined:
            return _fine(number, settling, fined)
        case FineReversed() as taken_back:
            return _returned(number, settling, taken_back)
        case other:
            assert_never(other)


def _hand(number: PostingNumber, at: Settling, finished: _Ended) -> HandScored:
    if len(set(finished.players)) != SEATS or not all(finished.players):
        raise Unscorable(f"five players make a hand, not {', '.join(finished.players) or 'nobody'}")
    if finished.options is None:
        raise Unscorable("the hand does not say its options")
    void = isinstance(finished, HandFinished) and finished.void
    base, points, rule, doubled = (_NOTHING, _NOTHING, "", ()) if void else _settled(finished)
    if finished.points != points:
        raise Unscorable(f"the points are {_row(points)}, and the hand says {_row(finished.points)}")
    return HandScored(
        posting=number,
        table_id=at.table_id,
        hand=finished.hand,
        version=at.version,
        finished_at=at.happened_at,
        ruleset=finished.ruleset,
        options=finished.options,
        seats=tuple(
            SeatScore(seat, player, _role(finished, seat), _place(finished, seat), base[seat], points[seat])
            for seat, player in enumerate(finished.players)
        ),
        rule=rule,
        doublings=doubled,
        solo=finished.solo,
        open_guard=finished.open_guard,
        revolt=finished.revolt,
        kicked=finished.kicked,
        surrendered=finished.surrendered,
        void=void,
        reverses=finished.reverses if isinstance(finished, VoidReversed) else None,
    )


def _settled(finished: _Ended) -> tuple[Points, Points, str, tuple[Doubling, ...]]:
    """Return base points, points, the clause of the base points, and the doublings of a hand that is not void."""
    ruleset, outcome = _ruleset(finished), _outcome(finished)
    named = doublings(ruleset, outcome)
    if finished.doublings != named:
        raise Unscorable(f"the doublings are {named}, and the hand says {finished.doublings}")
    plain = replace(outcome, open_guard=False, revolt=False, kicked=False)
    base = settle(replace(ruleset, sweep_doubling=False), plain)
    return base, settle(ruleset, outcome), _clause(ruleset, outcome), tuple(map(_doubling, named))


def _ruleset(finished: _Ended) -> Ruleset:
    if finished.options is None:
        raise Unscorable("the hand does not say its options")
    try:
        return with_options(ruleset_named(finished.ruleset), finished.options)
    except ValueError as error:
        raise Unscorable(str(error)) from error


def _outcome(finished: _Ended) -> Outcome:
    """Return what decides the points. Raises Unscorable for a hand that nobody could have played."""
    emperor, guard = finished.emperor, finished.guard
    if emperor is None or not 0 <= emperor < SEATS:
        raise Unscorable(f"there is no emperor at seat {emperor}")
    if (guard is None) is not (finished.solo is not None):
        raise Unscorable("there is either a guard or a solo")
    if guard is not None and (guard == emperor or not 0 <= guard < SEATS):
        raise Unscorable(f"there is no guard at seat {guard}")
    if finished.surrendered and finished.solo is not Solo.HIDDEN:
        raise Unscorable("only a hidden solo surrenders (DECL-5)")
    if sorted(finished.places) != ([] if finished.surrendered else list(range(SEATS))):
        raise Unscorable(f"the places {_row(finished.places)} are not those of five seats")
    return Outcome(
        emperor=emperor,
        guard=guard,
        solo=finished.solo,
        places=finished.places,
        open_guard=finished.open_guard,
        revolt=finished.revolt,
        kicked=finished.kicked,
        surrendered=finished.surrendered,
    )


def _clause(ruleset: Ruleset, outcome: Outcome) -> str:
    if outcome.surrendered:
        return "DECL-5"
    return "PTS-L" if ruleset.points is PointsTable.OURGAME else "PTS-H"


def _doubling(named: str) -> Doubling:
    rule, _, reason = named.partition(" ")
    return Doubling(rule, reason, _DOUBLED)


def _role(finished: _Ended, seat: int) -> Role | None:
    if finished.emperor is None:
        return None
    if seat == finished.emperor:
        return Role.EMPEROR
    return Role.GUARD if seat == finished.guard else Role.REBEL


def _place(finished: _Ended, seat: int) -> int | None:
    return finished.places.index(seat) + 1 if seat in finished.places else None


def _fine(number: PostingNumber, at: Settling, fined: PlayerFined) -> FinePosted:
    """FINE-3: less before the roles are settled than after."""
    points = _FINE_AFTER_ROLES if fined.roles_settled else _FINE_BEFORE_ROLES
    if fined.points != points:
        raise Unscorable(f"the fine is {points}, and the ruling says {fined.points}")
    if not fined.player:
        raise Unscorable("nobody was fined")
    return FinePosted(
        posting=number,
        table_id=at.table_id,
        version=at.version,
        fined_at=fined.decided_at,
        player=fined.player,
        points=points,
        reason=fined.reason,
        rule=fined.rule,
    )


def _returned(number: PostingNumber, at: Settling, taken_back: FineReversed) -> FineReturned:
    """RULE-1: what the player gets back is what FINE-3 can have cost him."""
    if -taken_back.points not in {_FINE_BEFORE_ROLES, _FINE_AFTER_ROLES}:
        raise Unscorable(f"a fine is {_FINE_BEFORE_ROLES} or {_FINE_AFTER_ROLES}, and {taken_back.points} return")
    if not taken_back.player:
        raise Unscorable("nobody was fined")
    return FineReturned(
        posting=number,
        table_id=at.table_id,
        version=at.version,
        returned_at=taken_back.decided_at,
        player=taken_back.player,
        points=taken_back.points,
        reverses=taken_back.reverses,
        rule=taken_back.rule,
    )


def _row(numbers: tuple[int, ...]) -> str:
    return " ".join(map(str, numbers)) or "none"
