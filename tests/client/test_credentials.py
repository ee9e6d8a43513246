"""Clients that prove who they are by tokens, against the real service."""

import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from baohuang.client import BearerToken, Credentials, NotKnownError, SlowDownError, TableClient, connect
from baohuang.rpc.settings import ServerSettings
from client.in_process import HASTY, Service, running
from rpc.signers import ed25519, jwks


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[Service]:
    """Give a service that wants tokens and lets a player call three times."""
    file = tmp_path / "jwks.json"
    file.write_bytes(jwks(ed25519()))
    settings = ServerSettings(jwks=str(file), drain_grace_seconds=0.5, rate_limit_per_second=0.1, rate_limit_burst=3)
    async with running(settings=settings) as serving:
        yield serving


def token(sub: str = "alice", lasting: float = 60) -> str:
    now = time.time()
    return ed25519().token(now, sub=sub, exp=now + lasting)


async def opener(service: Service, credentials: Credentials) -> str:
    """Open a table with these credentials and tell who opened it."""
    async with connect(service.address, credentials, HASTY) as client:
        opened = await client.open_table("ourgame-simple")
        return (await client.get_table(opened.table_id)).table.opened_by


async def test_a_token_says_who_calls(service: Service) -> None:
    """Calls and watches go with it, and the service takes its subject for the player."""
    async with connect(service.address, BearerToken(token("Chen")), HASTY) as client:
        table_id = (await client.open_table("ourgame-simple")).table_id
        await client.sit_down(table_id, 2)
        async for moment in client.watch(table_id):
            assert moment.table.seats[2].player == "Chen"
            break


async def test_a_callable_is_asked_for_every_call(service: Service) -> None:
    """Renewed tokens are used at once: one client, another player at each call, as the callable has it."""
    names = iter(["ann", "bob"])
    async with connect(service.address, BearerToken(lambda: token(next(names))), HASTY) as client:
        opened = await client.open_table("ourgame-simple")
        await client.sit_down(opened.table_id, 0)
    events = await service.events(opened.table_id)
    assert [event.actor for event in events][-1] == "bob"
    assert events[0].actor == "ann"


@pytest.mark.parametrize("bad", ["", "x", token(lasting=-60)])
async def test_a_bad_token_is_not_known(service: Service, bad: str) -> None:
    """NotKnownError, with what is wrong as metadata; nothing is asked again."""
    with pytest.raises(NotKnownError) as caught:
        await opener(service, BearerToken(bad))
    assert caught.value.metadata["problem"] in {"MALFORMED", "EXPIRED"}


async def test_too_many_calls_are_told_to_wait(service: Service) -> None:
    """SlowDownError says for how long."""
    async with connect(service.address, BearerToken(token()), HASTY) as client:
        for _ in range(3):
            await only_look(client)
        with pytest.raises(SlowDownError) as caught:
            await only_look(client)
    assert 5 < caught.value.retry_after_seconds <= 10


async def only_look(client: TableClient) -> None:
    """Make one call that changes nothing."""
    assert [table async for table in client.list_tables()] == []


def test_a_token_does_not_show() -> None:
    """Printed or logged, credentials keep their secret."""
    assert "hunter2" not in repr(BearerToken("hunter2"))
