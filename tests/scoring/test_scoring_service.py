from collections.abc import AsyncIterator

import grpc
import pytest

from baohuang.gen.scoring.v1 import scored_pb2
from baohuang.gen.scoring.v1 import scoring_service_pb2 as pb
from baohuang.rpc.messages import from_proto
from baohuang.rules.events import TableOpened
from baohuang.rules.rulesets import Options
from baohuang.rules.state import PlayerId, TableId
from baohuang.scoring.events import HandScored
from scoring.following import Ledger
from scoring.hands import a_hand
from scoring.recording import TABLES, Recorder
from scoring.serving import Caller, channel_to
from scoring_service.wiring import SERVICES, register

PAGE = 7


@pytest.fixture
async def channel(recorder: Recorder, ledger: Ledger) -> AsyncIterator[grpc.aio.Channel]:
    """Give a channel to a service whose ledger has some postings."""
    await recorder.record_some(20)
    await ledger.follow()
    async with channel_to(lambda server: register(server, ledger.pool), *SERVICES) as opened:
        yield opened


async def test_a_score_is_what_was_published(channel: grpc.aio.Channel, ledger: Ledger) -> None:
    """GetHandScore gives the posting of every hand, void ones included, with its whole derivation."""
    hands = [posting for posting in await ledger.postings() if isinstance(posting, HandScored)]
    for hand in hands:
        reply = await Caller(channel).call(pb.GetHandScoreRequest(table_id=hand.table_id, hand=hand.hand))
        assert from_proto(reply.score, HandScored) == hand
    assert any(hand.void for hand in hands)


async def test_a_hand_that_is_not_scored(channel: grpc.aio.Channel) -> None:
    """NOT_FOUND, NOT_SCORED for a hand to come, another table, an id that no table has; a hand 0 is malformed."""
    for table_id, hand in ((TABLES[0], 99), ("0" * 36, 1), ("no table", 1), ("", 1)):
        refused = await Caller(channel).refused(pb.GetHandScoreRequest(table_id=table_id, hand=hand))
        assert (refused.code, refused.reason) == (grpc.StatusCode.NOT_FOUND, "NOT_SCORED")
    refused = await Caller(channel).refused(pb.GetHandScoreRequest(table_id=TABLES[0]))
    assert (refused.code, refused.fields) == (grpc.StatusCode.INVALID_ARGUMENT, ("hand",))


async def test_the_score_of_a_private_table_is_its_players(recorder: Recorder, ledger: Ledger) -> None:
    """Those who played the hand, operators and services get it; to others it is as a hand that there never was."""
    for table_id, digest in ((TABLES[0], "5e" * 32), (TABLES[1], "")):
        opened = TableOpened(TableId(table_id), "ourgame-simple", Options(), PlayerId("host"), invitation_digest=digest)
        await recorder.append(table_id, (opened,))
        await recorder.record(a_hand(), table_id)
    await ledger.follow()
    private, public = (pb.GetHandScoreRequest(table_id=table_id, hand=1) for table_id in TABLES[:2])
    missing = pb.GetHandScoreRequest(table_id=TABLES[0], hand=2)
    async with channel_to(lambda server: register(server, ledger.pool), *SERVICES) as channel:
        trusted = [Caller(channel, "anybody", role) for role in ("operator", "service")]
        for caller in (*trusted, *(Caller(channel, player) for player in a_hand().players)):
            assert (await caller.call(private)).score.table_id == TABLES[0]
        for stranger in (Caller(channel, "host"), Caller(channel, "stranger")):
            assert await stranger.refused(private) == await stranger.refused(missing)
            assert (await stranger.call(public)).score.table_id == TABLES[1]


async def test_accounts_are_the_ledgers(channel: grpc.aio.Channel, ledger: Ledger) -> None:
    """GetAccount gives each balance, to anybody; a player who never played has an account at 0."""
    balances = await ledger.balances()
    assert balances["house"] > 0
    for name, balance in balances.items():
        reply = await Caller(channel).call(pb.GetAccountRequest(account=name))
        assert (reply.account.account, reply.account.balance) == (name, balance)
        assert reply.account.entries > 0
    reply = await Caller(channel).call(pb.GetAccountRequest(account="player:nobody-yet"))
    assert reply.account == pb.Account(account="player:nobody-yet")


async def test_what_is_no_account(channel: grpc.aio.Channel) -> None:
    """INVALID_ARGUMENT, and the field is named."""
    for name in ("", "player:", "alice", "House", "player:a b", "player:" + "x" * 65, "house\0"):
        refused = await Caller(channel).refused(pb.GetAccountRequest(account=name))
        assert (refused.code, refused.fields) == (grpc.StatusCode.INVALID_ARGUMENT, ("account",))


async def pages(caller: Caller, account: str) -> list[list[pb.Entry]]:
    """Return all pages of a statement."""
    found, token = [], ""
    while True:
        reply = await caller.call(pb.ListEntriesRequest(account=account, page_size=PAGE, page_token=token))
        found.append(list(reply.entries))
        token = reply.next_page_token
        if not token:
            return found


async def test_pages_of_entries_are_the_ledger(channel: grpc.aio.Channel, ledger: Ledger) -> None:
    """Newest first, each line once, of all accounts and of each, however the pages fall; postings sum to zero."""
    operator = Caller(channel, role="operator")
    everything = [entry for page in await pages(operator, "") for entry in page]
    rows = await ledger.fetch("select number, line, account, points, balance from entries order by number desc, line")
    assert [(e.posting, e.line, e.account, e.points, e.balance) for e in everything] == [tuple(row) for row in rows]
    for account in await ledger.balances():
        own = await pages(operator, account)
        assert [entry for page in own for entry in page] == [e for e in everything if e.account == account]
        assert all(len(page) == PAGE for page in own[:-1])


async def test_an_entry_says_what_it_is_of(channel: grpc.aio.Channel) -> None:
    """A hand's entry names the hand, a fine's does not; both name table, version and moment."""
    everything = [entry for page in await pages(Caller(channel, role="service"), "") for entry in page]
    kinds = {entry.kind for entry in everything}
    assert kinds == {scored_pb2.POSTING_KIND_HAND, scored_pb2.POSTING_KIND_FINE}
    for entry in everything:
        assert entry.HasField("hand") == (entry.kind == scored_pb2.POSTING_KIND_HAND)
        assert entry.table_id in TABLES
        assert entry.version > 0
        assert entry.happened_at.startswith("202")


async def test_a_statement_is_its_owners(channel: grpc.aio.Channel) -> None:
    """A player lists his own account; others', the house's and the whole ledger are refused to him."""
    player = Caller(channel, "player-01")
    assert (await player.call(pb.ListEntriesRequest(account="player:player-01"))).entries
    for account in ("player:player-02", "house", ""):
        refused = await player.refused(pb.ListEntriesRequest(account=account))
        assert (refused.code, refused.reason) == (grpc.StatusCode.PERMISSION_DENIED, "PERMISSION_DENIED")
    assert not (await Caller(channel, "house").call(pb.ListEntriesRequest(account="player:house"))).entries


async def test_a_page_token_that_is_not_ours(channel: grpc.aio.Channel) -> None:
    """INVALID_ARGUMENT for the page token, whatever it holds."""
    for token in ("x", "MQ", "%%%", "MQox\n", "MQo5OTk5OTk5OTk5", "LTEKMA", "MQotMQ", "é", "\0"):
        refused = await Caller(channel, role="operator").refused(pb.ListEntriesRequest(page_token=token))
        assert (refused.code, refused.fields) == (grpc.StatusCode.INVALID_ARGUMENT, ("page_token",))


async def test_page_sizes(channel: grpc.aio.Channel) -> None:
    """Negative is malformed; 0 is the default of 50; more than 100 is 100."""
    operator = Caller(channel, role="operator")
    refused = await operator.refused(pb.ListEntriesRequest(page_size=-1))
    assert refused.fields == ("page_size",)
    assert len((await operator.call(pb.ListEntriesRequest())).entries) == 50
    assert len((await operator.call(pb.ListEntriesRequest(page_size=1000))).entries) <= 100


async def test_without_a_database(channel: grpc.aio.Channel, ledger: Ledger) -> None:
    """Every call is UNAVAILABLE, STORE_UNAVAILABLE, and none a bug of ours."""
    await ledger.pool.close()
    operator = Caller(channel, role="operator")
    for request in (
        pb.GetHandScoreRequest(table_id=TABLES[0], hand=1),
        pb.GetAccountRequest(account="house"),
        pb.ListEntriesRequest(),
    ):
        refused = await operator.refused(request)
        assert (refused.code, refused.reason) == (grpc.StatusCode.UNAVAILABLE, "STORE_UNAVAILABLE")
