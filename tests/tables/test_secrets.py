import asyncio
from typing import Final

import pytest
from google.protobuf.json_format import MessageToDict

from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.rules import commands as cmd
from baohuang.rules.rulesets import RULESETS
from baohuang.rules.state import Answer, Phase, in_progress
from bench.random_player import chance_of
from tables.clients import Client, act
from tables.entitlement import check_entitled, guards_made
from tables.games import PLAYERS, Game, seated
from tables.replicas import Replica
from tables.viewers import Response, Viewer

VIEWERS: Final = (0, 1, 2, 3, 4, None)


@pytest.mark.parametrize("ruleset", RULESETS)
async def test_nobody_is_shown_what_is_not_his_before_the_hand_is_over(service: Replica, ruleset: str) -> None:
    """Every message to every viewer: cards only where all may see them or they are his own; no seed, no other's role.

    Two hands where there is tribute.
    """
    game, chance = await seated(service, ruleset), chance_of((ruleset, "secrets"))
    for _ in range(1 + RULESETS[ruleset].tribute):  # type: ignore[index] # a RulesetId
        viewers = [Viewer(client_of(service, seat), game.table_id) for seat in VIEWERS]
        watching = [asyncio.create_task(viewer.watch(lambda v=viewer: ended(v))) for viewer in viewers]  # type: ignore[misc]
        for viewer in viewers:
            await viewer.opened.wait()
        await game.all_ready()
        await game.play(chance)
        await asyncio.gather(*watching)
        guards = await guards_made(game)
        seeds = (await game.hand()).result.seeds  # type: ignore[union-attr] # the hand is over
        for viewer, seat in zip(viewers, VIEWERS, strict=True):
            check_messages(viewer.received, seat, guards, seeds)


def client_of(service: Replica, seat: int | None) -> Client:
    """Return a client of the seat's player, or of a spectator."""
    return Client(service.channel, "spectator" if seat is None else PLAYERS[seat])


def ended(viewer: Viewer) -> bool:
    """Tell whether the viewer saw the end of a hand since he came."""
    return bool(viewer.received) and viewer.received[-1].update.type == "HandFinished"


def check_messages(
    received: list[Response], seat: int | None, guards: dict[int, int | None], seeds: tuple[str, ...]
) -> None:
    """Check all updates of a stream but the one that ends the hand and opens everything."""
    for response in received[1:-1]:
        update = MessageToDict(response.update)
        assert not any(seed in str(update) for seed in seeds)
        ((kind, event),) = update["event"].items()
        check_entitled(seat, kind, event, guards.get(response.update.version))


@pytest.mark.parametrize("ruleset", RULESETS)
async def test_views_show_own_cards_and_own_role(service: Replica, ruleset: str) -> None:
    """GetTable at every point of a hand: others' cards are `??`, as many as they hold; roles, answers are covered."""
    game, chance = await seated(service, ruleset), chance_of((ruleset, "views"))
    await game.all_ready()
    step = 0
    while in_progress(await game.table()):
        await check_view(service, game, VIEWERS[step % len(VIEWERS)])
        await game.step(chance)
        step += 1
    assert step > len(VIEWERS)


async def check_view(service: Replica, game: Game, seat: int | None) -> None:
    """Check one viewer's view of the hand as it is."""
    truth = await game.hand()
    view = (await client_of(service, seat).call(pb.GetTableRequest(table_id=game.table_id))).table
    for other, held in enumerate(view.hand.hands):
        own = truth.hands[other]
        assert tuple(held.cards) == (own if other == seat else ("??",) * len(own))
    for other, answer in enumerate(view.hand.answers):
        assert other == seat or answer in {0, 1}
    roles, true = view.hand.roles, truth.roles
    assert not roles.HasField("guard") or true.public_guard is not None or true.guard == seat
    assert not roles.HasField("solo") or true.public_solo or true.emperor == seat
    assert set(view.seeds) <= {""}
    assert view.commitment.seed == ""
    assert view.viewer_seat == (seat or 0)
    assert view.HasField("viewer_seat") == (seat is not None)
    for pasted in view.hand.offer.pile:
        assert pasted.seat == seat or pasted.card == "??"
    for paid in view.hand.tribute:
        assert seat in {paid.payer, paid.receiver} or set(paid.cards) == {"??"}


async def test_refusals_tell_no_secret(service: Replica) -> None:
    """A move refused to one seat is worded alike for every seat that has no business with it."""
    game = await seated(service)
    await game.all_ready()
    table, chance = game.table_id, chance_of("refusals")
    await game.reach(Phase.DECLARE, chance)
    hand = await game.hand()
    rebels = [seat for seat in range(5) if seat not in {hand.roles.guard, hand.roles.emperor}]
    refused = [await game.clients[seat].refused(act(table, cmd.Declare(Answer.OPEN_GUARD))) for seat in rebels]
    assert len({(one.reason, one.message, tuple(one.metadata.items())) for one in refused}) == 1
