"""Calls: refusals come as exceptions with all they carry; a lost reply is asked for again, under the same id."""

from typing import Final

import pytest

from baohuang.client import (
    Credentials,
    DevelopmentIdentity,
    MalformedError,
    MoveRefusedError,
    NotAllowedError,
    NotFoundError,
    NotKnownError,
    Patience,
    StaleError,
    UnreachableError,
    connect,
)
from baohuang.embedded.ports import free_port
from baohuang.eventlog.port import Version
from baohuang.rules.commands import CallCard, Pass, Yield
from baohuang.rules.redact import mask
from baohuang.rules.rulesets import Options
from baohuang.rules.state import PlayerId, TableId
from client.in_process import ALICE, losing_client, running

_PLAYERS: Final = tuple(map(PlayerId, ("alice", "bob", "carol", "dan", "eve")))


class _Nobody:
    """Credentials of nobody."""

    def metadata(self) -> tuple[tuple[str, str], ...]:
        """Say nothing."""
        return ()


async def test_a_command_is_answered_with_version_and_hash_of_its_last_event() -> None:
    """The receipt of every command is the log's head."""
    async with running() as service, service.client() as alice:
        opened = await alice.open_table("ourgame-simple", Options(turn_seconds=60))
        for receipt in (
            opened,
            await alice.sit_down(opened.table_id, 3),
            await alice.set_ready(opened.table_id, ready=True, entropy="dice"),
            await alice.set_ready(opened.table_id, ready=False),
            await alice.stand_up(opened.table_id),
        ):
            stored = (await service.events(opened.table_id))[receipt.version - 1]
            assert (receipt.table_id, receipt.hash) == (opened.table_id, stored.hash)
        view = await alice.get_table(opened.table_id)
        assert (view.version, view.hash, view.seat) == (receipt.version, receipt.hash, None)
        assert view.table == mask(await service.table(opened.table_id), None)
        assert view.table.options.turn_seconds == 60


async def test_tables_are_listed_over_all_pages_newest_first_and_filtered() -> None:
    """A listing goes on from page to page by itself, and every filter holds."""
    async with running() as service, service.client() as alice:
        opened = [(await alice.open_table("homy-classic")).table_id for _ in range(53)]
        other = (await alice.open_table("homy-weihai")).table_id
        await alice.sit_down(opened[7], 2)
        listed = [summary.table_id async for summary in alice.list_tables(ruleset="homy-classic")]
        assert sorted(listed, reverse=True) == listed
        assert set(listed) == set(opened)
        (seated,) = [summary async for summary in alice.list_tables(player=ALICE)]
        assert (seated.table_id, seated.players[2]) == (opened[7], ALICE)
        assert other in [summary.table_id async for summary in alice.list_tables(free_seat=True)]


async def test_a_refused_move_names_its_reason_and_its_clause() -> None:
    """FAILED_PRECONDITION comes as MoveRefusedError with reason and rule, and nothing is stored."""
    async with running() as service, service.client() as alice:
        table_id = (await alice.open_table("ourgame-simple")).table_id
        await alice.sit_down(table_id, 0)
        before = await service.events(table_id)
        with pytest.raises(MoveRefusedError) as refused:
            await alice.act(table_id, Pass())
        assert (refused.value.reason, refused.value.rule) == ("WRONG_PHASE", "TABLE-1")
        assert refused.value.message
        assert await service.events(table_id) == before


async def test_a_malformed_request_names_its_fields() -> None:
    """INVALID_ARGUMENT comes as MalformedError with the path of each bad field and what is wrong with it."""
    async with running() as service, service.client() as alice:
        with pytest.raises(MalformedError) as refused:
            await alice.open_table("bridge")
        (violation,) = refused.value.violations
        assert (refused.value.reason, violation.field) == ("UNKNOWN_RULESET", "ruleset")
        assert "bridge" in violation.description
        table_id = (await alice.open_table("ourgame-simple")).table_id
        with pytest.raises(MalformedError) as refused:
            await alice.act(table_id, CallCard("1x"))  # type: ignore[arg-type] # no card at all
        assert [violation.field for violation in refused.value.violations] == ["call_card.card"]


async def test_other_refusals_have_a_class_each() -> None:
    """No table, not your seat, an old version, no identity: each is told apart by its class."""
    async with running() as service, service.client() as alice:
        table_id = (await alice.open_table("ourgame-simple")).table_id
        with pytest.raises(NotFoundError, match="NO_SUCH_TABLE"):
            await alice.get_table(TableId("00000000-0000-7000-8000-000000000000"))
        with pytest.raises(NotAllowedError, match="NOT_SEATED"):
            await alice.stand_up(table_id)
        with pytest.raises(StaleError) as stale:
            await alice.act(table_id, Pass(), expected_version=Version(1))
        assert stale.value.metadata["version"] == "2"
        nobody: Credentials = _Nobody()
        async with connect(service.address, nobody) as unknown:
            with pytest.raises(NotKnownError, match="UNAUTHENTICATED"):
                await unknown.get_table(table_id)


async def test_a_lost_reply_is_asked_for_again_and_the_command_is_carried_out_once() -> None:
    """Every command whose reply is lost after the commit is sent again as it was; one event comes of it."""
    async with running() as service, losing_client(service, ALICE) as (alice, loser):
        table_id = (await alice.open_table("ourgame-simple")).table_id
        await alice.sit_down(table_id, 0)
        await alice.set_ready(table_id, ready=True)
        await alice.stand_up(table_id)
        assert loser.lost == loser.retried
        assert len({request.request_id for request in loser.lost}) == 4
        types = [event.type for event in await service.events(table_id)]
        assert types == ["TableOpened", "SeedCommitted", "PlayerSat", "ReadinessSet", "PlayerStood"]
        assert [summary.table_id async for summary in alice.list_tables()] == [table_id]


async def test_a_move_whose_reply_is_lost_is_made_once() -> None:
    """Act is retried like every command."""
    async with running() as service:
        async with service.client() as alice:
            table_id = (await alice.open_table("ourgame-simple")).table_id
        for seat, player in enumerate(_PLAYERS):
            async with service.client(player) as client:
                await client.sit_down(table_id, seat)
                await client.set_ready(table_id, ready=True)
        hand = (await service.table(table_id)).hand
        assert hand is not None
        assert hand.turn is not None
        async with losing_client(service, _PLAYERS[hand.turn]) as (holder, losing):
            receipt = await holder.act(table_id, Yield())
        assert losing.lost == losing.retried
        events = await service.events(table_id)
        assert [event.type for event in events].count("CrownYielded") == 1
        assert receipt.version == events[-1].version


async def test_without_an_answer_the_request_id_is_handed_out_and_can_be_used_later() -> None:
    """UnreachableError carries the request id; the same call under it, once there is a service, is carried out once."""
    port = free_port()
    patience = Patience(attempts=2, call_seconds=0.3, first_wait_seconds=0.01)
    async with connect(f"127.0.0.1:{port}", DevelopmentIdentity(ALICE), patience) as alice:
        with pytest.raises(UnreachableError) as unreachable:
            await alice.open_table("ourgame-simple")
    async with running() as service, service.client() as alice:
        first = await alice.open_table("ourgame-simple", request_id=unreachable.value.request_id)
        assert await alice.open_table("ourgame-simple", request_id=unreachable.value.request_id) == first
