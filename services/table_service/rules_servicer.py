"""RulesService: the rules, asked without a table. Stateless."""

from collections.abc import Iterable
from typing import Any

import grpc

from baohuang.gen.rules.v1 import error_reason_pb2, hand_pb2, rules_service_pb2_grpc, ruleset_pb2
from baohuang.gen.rules.v1 import rules_service_pb2 as pb
from baohuang.rpc.errors import MalformedInput
from baohuang.rpc.messages import requested_options, to_proto
from baohuang.rules.cards import Card
from baohuang.rules.deal import SEATS
from baohuang.rules.legal import cards_for, check_play, legal_shapes
from baohuang.rules.plays import shape_of
from baohuang.rules.refusals import Refusal, RefusedError
from baohuang.rules.rulesets import RULESETS, OptionError, Ruleset, UnknownRulesetError, ruleset_named, with_options
from baohuang.rules.settlement import Outcome, Solo, doublings, settle
from table_service.api import cards_in, hand_in
from table_service.refusing import refusal_of

Context = grpc.aio.ServicerContext[Any, Any]
Asked = pb.CheckPlayRequest | pb.ListLegalPlaysRequest | pb.SettleRequest


class RulesServicer(rules_service_pb2_grpc.RulesServiceServicer):
    """Serves the contract; see `baohuang/rules/v1/rules_service.proto`."""

    async def ListRulesets(self, request: pb.ListRulesetsRequest, context: Context) -> pb.ListRulesetsResponse:
        """Return the six rulesets."""
        return pb.ListRulesetsResponse(
            rulesets=[to_proto(ruleset, ruleset_pb2.Ruleset) for ruleset in RULESETS.values()]
        )

    async def CheckPlay(self, request: pb.CheckPlayRequest, context: Context) -> pb.CheckPlayResponse:
        """Tell whether a play, or a pass, is legal, and why not."""
        ruleset = _ruleset(request)
        hand, on = hand_in(request.hand, "hand"), _set_on_table(request.on)
        play = cards_in(request.play, "play")
        try:
            _check(ruleset, hand, on, play)
        except RefusedError as refused:
            reason = error_reason_pb2.ErrorReason.Value(f"ERROR_REASON_{refused.reason.value}")
            return pb.CheckPlayResponse(legal=False, reason=reason, rule=refused.rule, shape=_text(play))
        return pb.CheckPlayResponse(legal=True, shape=_text(play))

    async def ListLegalPlays(self, request: pb.ListLegalPlaysRequest, context: Context) -> pb.ListLegalPlaysResponse:
        """Return every play the holder of the hand may make."""
        ruleset = _ruleset(request)
        hand, on = hand_in(request.hand, "hand"), _set_on_table(request.on)
        shapes = legal_shapes(hand, shape_of(on), ruleset.roast, ruleset.hold6)
        return pb.ListLegalPlaysResponse(
            plays=[pb.LegalPlay(shape=str(shape), cards=cards_for(hand, shape)) for shape in sorted(shapes, key=str)]
        )

    async def Settle(self, request: pb.SettleRequest, context: Context) -> pb.SettleResponse:
        """Return the points of a finished hand."""
        ruleset, outcome = _ruleset(request), _outcome(request)
        if request.surrendered and not (ruleset.surrender and outcome.solo is Solo.HIDDEN):
            raise MalformedInput.field("surrendered", "only a hidden solo may, where the ruleset has it (DECL-5)")
        return pb.SettleResponse(points=settle(ruleset, outcome), doublings=doublings(ruleset, outcome))


def _ruleset(request: Asked) -> Ruleset:
    try:
        return with_options(ruleset_named(request.ruleset), requested_options(request.options))
    except (UnknownRulesetError, OptionError) as error:
        raise refusal_of(error) from error


def _set_on_table(texts: Iterable[str]) -> tuple[Card, ...]:
    cards = hand_in(texts, "on")
    if cards and shape_of(cards) is None:
        raise MalformedInput.field("on", "is no set (SET-1)")
    return cards


def _check(ruleset: Ruleset, hand: tuple[Card, ...], on: tuple[Card, ...], play: tuple[Card, ...]) -> None:
    if play:
        check_play(ruleset, hand, on, play)
    elif not on:
        raise RefusedError(Refusal.MUST_LEAD, "PLAY-1", "the leader must play")


def _text(play: tuple[Card, ...]) -> str:
    return str(shape_of(play) or "")


def _outcome(request: pb.SettleRequest) -> Outcome:
    solo = _solo(request.solo) if request.HasField("solo") else None
    guard = _seat(request.guard, "guard") if request.HasField("guard") and solo is None else None
    emperor = _seat(request.emperor, "emperor")
    if solo is None and guard in {None, emperor}:
        raise MalformedInput.field("guard", "without a solo there is a guard, on another seat than the emperor's")
    places = () if request.surrendered else tuple(_seat(seat, "places") for seat in request.places)
    if not request.surrendered and sorted(places) != list(range(SEATS)):
        raise MalformedInput.field("places", "must be all five seats in order of going out")
    return Outcome(
        emperor=emperor,
        guard=guard,
        solo=solo,
        places=places,
        open_guard=request.open_guard,
        revolt=request.revolt,
        kicked=request.kicked,
        surrendered=request.surrendered,
    )


def _solo(value: "hand_pb2.Solo.ValueType") -> Solo:
    try:
        return Solo(hand_pb2.Solo.Name(value))
    except ValueError as error:
        raise MalformedInput.field("solo", "must be SOLO_OPEN or SOLO_HIDDEN") from error


def _seat(value: int, field: str) -> int:
    if not 0 <= value < SEATS:
        raise MalformedInput.field(field, f"seats are 0 to {SEATS - 1}")
    return value
