import pytest

from baohuang.gen.rules.v1 import rules_service_pb2
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.gen.table.v1 import table_view_pb2
from baohuang.rpc.messages import from_proto
from baohuang.rules.deal import commitment_to
from baohuang.rules.redact import mask
from baohuang.rules.rulesets import RULESETS, RulesetId
from baohuang.rules.state import Table
from bench.random_player import chance_of
from tables.clients import Client, fresh, ready, stand
from tables.games import PLAYERS, Game, opened, seated, started
from tables.replicas import Replica


@pytest.mark.parametrize("ruleset", RULESETS)
async def test_hands_of_every_ruleset(service: Replica, ruleset: str) -> None:
    """Random legal play ends each hand with points that sum to zero; GetTable and ListTables agree with the log.

    Two hands where there is tribute, which takes a hand before.
    """
    game, chance = await started(service, ruleset), chance_of(ruleset)
    for number in (1, 2)[: 1 + RULESETS[RulesetId(ruleset)].tribute]:
        result = (await game.play(chance)).result
        assert result is not None
        assert sum(result.points) == 0
        await agrees(game, hands_played=number)
        await game.all_ready()


async def agrees(game: Game, hands_played: int) -> None:
    """Check what GetTable and ListTables say between hands against the log."""
    table, head = await game.table(), await game.head()
    for seat, client in enumerate(game.clients):
        view = (await client.call(pb.GetTableRequest(table_id=game.table_id))).table
        assert (view.version, view.hash, view.viewer_seat) == (head.version, head.hash, seat)
        assert from_proto(view, Table) == mask(table, seat)
    listed = await game.clients[0].call(pb.ListTablesRequest(player=game.clients[0].player))
    (found,) = listed.tables
    assert (found.table_id, found.version, found.hands_played) == (game.table_id, head.version, hands_played)
    assert (found.hand_in_progress, tuple(found.players)) == (False, PLAYERS)


async def test_the_next_hand_is_dealt_by_the_emperor_from_a_new_seed(service: Replica) -> None:
    """After a hand nobody is ready; the next one starts with the fifth, its dealer the last emperor (DEAL-1).

    Its seed was committed to before (FAIR-1), and the seed of the last hand, now open, is that of its commitment.
    """
    game = await seated(service)
    first = (await game.table()).commitment
    await game.all_ready()
    over = await game.play(chance_of("next hand"))
    table = await game.table()
    assert over.result is not None
    assert first is not None
    assert table.commitment is not None
    assert [commitment_to(bytes.fromhex(seed)) for seed in over.result.seeds][:1] == [first.commitment]
    assert table.commitment.commitment != first.commitment
    assert not any(seat.ready for seat in table.seats)
    for client in game.clients[:4]:
        await client.call(ready(game.table_id))
        assert (await game.hand()).number == 1
    await game.clients[4].call(ready(game.table_id))
    hand = await game.hand()
    assert (hand.number, hand.dealer) == (2, over.roles.emperor)


async def test_seats_change_hands_between_hands_only(service: Replica) -> None:
    """During a hand nobody stands up, sits down or gets ready; after it a seat is free for somebody else."""
    game = await started(service)
    guest = Client(service.channel, "guest")
    before = await game.head()
    for client in game.clients:
        assert (await client.refused(stand(game.table_id))).reason == "HAND_IN_PROGRESS"
        assert (await client.refused(ready(game.table_id))).reason == "HAND_IN_PROGRESS"
    assert (await guest.refused(pb.SitDownRequest(request_id=fresh(), table_id=game.table_id, seat=2))).reason == (
        "SEAT_TAKEN"
    )
    assert await game.head() == before
    await game.play(chance_of("seats"))
    await game.clients[2].call(stand(game.table_id))
    await guest.call(pb.SitDownRequest(request_id=fresh(), table_id=game.table_id, seat=2))
    game.clients[2] = guest
    await game.all_ready()
    assert (await game.hand()).players[2] == "guest"


async def test_readiness_can_be_taken_back(service: Replica) -> None:
    """Who takes it back, or stands up, keeps the hand from starting; the entropy of a deal is what was said last."""
    game = await seated(service)
    for client in game.clients[:4]:
        await client.call(ready(game.table_id, f"entropy of {client.player}"))
    await game.clients[0].call(pb.SetReadyRequest(request_id=fresh(), table_id=game.table_id, ready=False))
    await game.clients[4].call(ready(game.table_id))
    assert (await game.table()).hand is None
    await game.clients[0].call(ready(game.table_id, "last word"))
    table = await game.table()
    assert [seat.entropy for seat in table.seats] == [
        "last word", "entropy of bo", "entropy of cai", "entropy of du", ""
    ]  # fmt: skip
    assert (await game.hand()).number == 1


async def test_listings_page_through_every_table_once_newest_first(service: Replica) -> None:
    """Pages of three hold every table that meets the filters, each once, by descending id; ids grow with time."""
    simple = [(await opened(service)).table_id for _ in range(5)]
    classic = [(await opened(service, "homy-classic")).table_id for _ in range(2)]
    assert await listed(service) == sorted([*classic, *simple], reverse=True)
    assert await listed(service, ruleset="ourgame-simple") == sorted(simple, reverse=True)
    milliseconds = [table_id[:13] for table_id in (*simple, *classic)]
    assert milliseconds == sorted(milliseconds)
    assert await listed(service, player="nobody") == []
    assert await listed(service, status=table_view_pb2.TABLE_STATUS_DISSOLVED) == []


async def test_listings_tell_where_a_seat_is_free_and_where_somebody_sits(service: Replica) -> None:
    """Filters for a free seat and for a player follow what happens at the tables."""
    full, empty = await seated(service), await opened(service)
    assert await listed(service, free_seat=True) == [empty.table_id]
    assert await listed(service, player="cai") == [full.table_id]
    await full.clients[2].call(stand(full.table_id))
    assert sorted(await listed(service, free_seat=True)) == sorted([empty.table_id, full.table_id])
    assert await listed(service, player="cai") == []


async def listed(service: Replica, **filters: object) -> list[str]:
    """Return the ids of all pages of a listing."""
    client, ids, token = Client(service.channel, "an"), [], ""
    while True:
        request = pb.ListTablesRequest(page_size=3, page_token=token, **filters)  # type: ignore[arg-type]
        page = await client.call(request)
        ids += [table.table_id for table in page.tables]
        token = page.next_page_token
        if not token:
            return ids


async def test_the_rules_are_answered_without_a_table(service: Replica) -> None:
    """ListRulesets names the six; CheckPlay, ListLegalPlays and Settle agree with the rules on an example each."""
    client = Client(service.channel, "an")
    rulesets = (await client.call(rules_service_pb2.ListRulesetsRequest())).rulesets
    assert [ruleset.id for ruleset in rulesets] == list(RULESETS)
    asked = {"ruleset": "ourgame-simple", "hand": ["9h", "9s", "BJ"], "on": ["8s"]}
    plays = (await client.call(rules_service_pb2.ListLegalPlaysRequest(**asked))).plays  # type: ignore[arg-type]
    assert [play.shape for play in plays] == ["9", "BJ"]
    check = await client.call(rules_service_pb2.CheckPlayRequest(**asked, play=["9h", "9s"]))  # type: ignore[arg-type]
    assert (check.legal, check.rule, check.shape) == (False, "BEAT-1", "9 9")
    settled = await client.call(
        rules_service_pb2.SettleRequest(ruleset="ourgame-simple", emperor=0, guard=1, places=[0, 1, 2, 3, 4])
    )
    assert list(settled.points) == [6, 3, -3, -3, -3]
