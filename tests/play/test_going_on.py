"""`baohuang play --data` beside a running backend: what happens to its hand when the terminal dies, and elsewhere."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from io import StringIO
from pathlib import Path
from typing import Any

import grpc
import pytest
from rich.console import Console

from baohuang.client import BearerToken, Summary, TableClient, connect
from baohuang.rpc.auth import Caller, CallerId, Role
from baohuang.rules.rulesets import Options
from baohuang.rules.state import PlayerId, TableId
from command_line.backend import LocalBackend, table_address
from command_line.bots.errands import may_take_back
from command_line.development_key import DevelopmentKey
from command_line.identities import by_key
from command_line.play.bot_names import unused_names
from command_line.play.company import BotClients, Company, Sought
from command_line.play.displays import LineDisplay
from command_line.play.inbox import Inbox, InputEnded
from command_line.play.session import Session
from command_line.surroundings import BackendOptions
from play.player_process import Player, first_choice, player

ME = "carl"


@pytest.fixture
async def data(tmp_path: Path) -> AsyncIterator[Path]:
    """Give the data folder of a running backend with three replicas of the table service."""
    async with LocalBackend(BackendOptions(tmp_path / "data", dev_seed=7, insecure_dev=True, table_replicas=3)):
        yield tmp_path / "data"


@pytest.fixture
async def clients(data: Path) -> AsyncIterator["Clients"]:
    """Give clients of the backend, closed at the end."""
    async with AsyncExitStack() as connections:
        yield Clients(data, connections)


class Clients:
    """Clients with tokens of the folder's key."""

    def __init__(self, data: Path, connections: AsyncExitStack) -> None:
        self._data = data
        self._connections = connections

    async def of(self, name: str, role: Role = Role.PLAYER) -> TableClient:
        """Give a client of the caller."""
        token = BearerToken(self.token(name, role))
        return await self._connections.enter_async_context(connect(table_address(self._data), token))

    def token(self, name: str, role: Role = Role.PLAYER) -> str:
        """Give a token of the caller."""
        return DevelopmentKey.of(self._data).token(Caller(CallerId(name), role), 3600)

    async def void_the_hand(self) -> None:
        """End the hand at my table, as an operator may."""
        table_id = await my_table(await self.of(ME))
        await (await self.of("ops", Role.OPERATOR)).void_hand(table_id, "a test")

    async def hand_elsewhere(self) -> TableId:
        """Have a hand of mine begin at another table, with four other persons."""
        players = [await self.of(name) for name in (ME, "an", "bo", "cy", "di")]
        table_id = (await players[0].open_table("ourgame-simple")).table_id
        for seat, client in enumerate(reversed(players)):
            await client.sit_down(table_id, seat)
        for client in players:
            await client.set_ready(table_id, ready=True)
        return table_id


async def my_table(me: TableClient) -> TableId:
    """Give the table at which I am in a hand."""
    (table_id,) = [one.table_id async for one in me.list_tables(player=ME) if one.hand_in_progress]
    return table_id


async def kill(me: Player) -> None:
    """End it as a crash does."""
    me.process.kill()
    await me.process.wait()


async def play_to_the_end(me: Player, shown: list[str]) -> None:
    """Answer the question shown and every one after it with what the help lists, until the hand is over."""
    while not shown[-1].startswith("another hand?"):
        helped = await me.answer("h")
        if helped[-1].startswith("another hand?"):
            return
        shown = await me.answer(first_choice(helped))


async def test_the_hand_of_a_dead_terminal_goes_on(data: Path, tmp_path: Path) -> None:
    """Killed in mid-hand and started again: the same hand, with the same bots, to its end; then another one."""
    options = ("--data", str(data), "--name", ME)
    async with player(tmp_path, *options) as me:
        await me.until(" >")
        first = (await me.answer("n"))[-1]
        cards = next(line for line in reversed(me.printed) if line.startswith("your "))
        await kill(me)
    async with player(tmp_path, *options) as me:
        shown = await me.until(" >")
        assert shown[0].startswith("you are in a hand already, at table ")
        assert shown[-2] == cards
        assert shown[-1].partition("(")[0] == first.partition("(")[0]
        await play_to_the_end(me, shown)
        assert not any("托管" in line for line in me.printed)
        await me.type("y")
        await me.until("hand 2 starts")
        await me.until(" >")
        code, _, complaint = await me.end()
    assert (code, complaint) == (0, "")


async def test_the_seat_is_taken_back_from_the_trustee(data: Path, tmp_path: Path, clients: Clients) -> None:
    """Who comes back while the trustee plays for him gets his seat back (TRUST-3)."""
    client = await clients.of(ME)
    options = ("--data", str(data), "--name", ME)
    async with player(tmp_path, *options) as me:
        await me.until(" >")
        await me.type("t")
        await me.until("type t to take the seat back")
        await kill(me)
    table_id = await my_table(client)
    assert may_take_back((await client.get_table(table_id)).table, 0)
    async with player(tmp_path, *options) as me:
        await me.until("takes the seat back")
        assert not may_take_back((await client.get_table(table_id)).table, 0)


async def test_a_hand_begun_elsewhere_is_gone_to(data: Path, tmp_path: Path, clients: Clients) -> None:
    """Who wants another hand, but is in one at another table by then, is taken there (FINE-6), in his seat there."""
    async with player(tmp_path, "--data", str(data), "--name", ME) as me:
        await me.until(" >")
        await clients.void_the_hand()
        await me.until("another hand?")
        table_id = await clients.hand_elsewhere()
        await me.type("y")
        await me.until(f"you are in a hand already, at table {table_id}")
        assert_left(await me.end())
    hand = (await (await clients.of(ME)).get_table(table_id)).table.hand
    assert hand is not None
    assert [standing.active for standing in hand.trusteeships] == [False] * 4 + [True]


class BusyOnceListed(TableClient):
    """A client whose player begins a hand elsewhere as soon as he was told that he is in none."""

    def __init__(self, channel: grpc.aio.Channel, token: BearerToken, begin: Callable[[], Awaitable[object]]) -> None:
        super().__init__(channel, token)
        self._begin = begin

    async def list_tables(self, **filters: Any) -> AsyncIterator[Summary]:
        """List, and begin."""
        async for one in super().list_tables(**filters):
            yield one
        await self._begin()


async def test_a_hand_begun_at_the_last_moment_is_gone_to(data: Path, clients: Clients) -> None:
    """He is in no hand when he is looked for, and in one when he would sit down: the refusal tells in which."""
    begun: list[TableId] = []

    async def begin() -> None:
        begun.append(await clients.hand_elsewhere())

    inbox, printed = Inbox(), Console(file=StringIO(), width=200)
    inbox.put(InputEnded())
    async with AsyncExitStack() as stack:
        channel = await stack.enter_async_context(grpc.aio.insecure_channel(table_address(data)))
        me = BusyOnceListed(channel, BearerToken(clients.token(ME)), begin)
        bots = BotClients(table_address(data), by_key(DevelopmentKey.of(data)), 0, stack)
        company = Company(PlayerId(ME), me, unused_names(), bots)
        await Session(company, inbox, LineDisplay(printed)).play(Sought("ourgame-simple", Options(bots=True)))
    said = printed.file.getvalue()  # type: ignore[attr-defined] # a StringIO
    assert f"you are in a hand already, at table {begun[0]}" in said
    assert "you have left the table" in said


async def test_the_end_of_the_input_leaves_in_order(data: Path, tmp_path: Path, clients: Clients) -> None:
    """Before the hand, at its questions, at "leave?", and at "another hand?": no traceback, and no hand left behind."""
    client = await clients.of(ME)
    options = ("--data", str(data), "--name", ME)
    for typed in ((), ("q",), ("zzz", "h", "t", "q")):
        async with player(tmp_path, *options) as me:
            for line in typed:
                await me.type(line)
            assert_left(await me.end())
    for typed in ((), ("q",)):
        async with player(tmp_path, *options) as me:
            await me.until(" >")
            for line in typed:
                await me.answer(line)
            assert_left(await me.end())
    async with player(tmp_path, *options) as me:
        await me.until(" >")
        await clients.void_the_hand()
        await me.until("another hand?")
        code, _, complaint = await me.end()
        assert (code, complaint) == (0, "")
    assert [one async for one in client.list_tables(player=ME) if one.hand_in_progress] == []


def assert_left(ended: tuple[int, list[str], str]) -> None:
    code, rest, complaint = ended
    assert (code, complaint) == (0, "")
    assert any("you have left the table" in line for line in rest), rest


async def test_what_is_typed_before_the_hand_is_answered(data: Path, tmp_path: Path) -> None:
    """A word, the trustee, help: there is no hand yet, and what to do about it; the question comes all the same."""
    async with player(tmp_path, "--data", str(data), "--name", ME) as me:
        for line in ("zzz", "t", "h"):
            await me.type(line)
        shown = await me.until("at any time:")
        refused = "✗ no hand is being played yet: wait until you are asked (h help, q leave)"
        assert [line for line in shown if "no hand" in line] == [refused, refused, refused[2:].partition(" (")[0]]
        assert (await me.until(" >"))[-1].startswith("declare something")


async def test_a_closed_input_is_an_ended_one(data: Path, tmp_path: Path) -> None:
    """Started without any standard input at all, it leaves in order."""
    command = 'exec "$0" -m command_line play --data "$1" --name "$2" <&-'
    process = await asyncio.create_subprocess_exec(
        *("sh", "-c", command, sys.executable, str(data), ME),
        cwd=tmp_path,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    said, complaint = await asyncio.wait_for(process.communicate(), 60)
    assert (process.returncode, complaint) == (0, b"")
    assert b"you have left the table" in said
