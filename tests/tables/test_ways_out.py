"""Hidden information and the ways out that no message of the contract is: errors, metadata, lines of the log.

What is in messages, `test_secrets` and the audit of crowds look after.
"""

import io
import logging
import re
from collections.abc import Iterator
from dataclasses import fields
from random import Random
from typing import Any, Final

import grpc
import pytest
import structlog
from google.protobuf.message import Message

from baohuang.eventlog.memory import MemoryLog
from baohuang.eventlog.port import Append, EventLog, Outcome
from baohuang.rpc.log import configure_logging
from baohuang.rules import commands as cmd
from baohuang.rules.cards import PLAIN
from baohuang.rules.events import EVENT_TYPES
from baohuang.rules.state import Answer, in_progress
from bench.random_player import Mood, RandomPlayer, chance_of
from tables.clients import SECONDS, Client, Refused, act, open_table, ready, refusal, sit
from tables.games import PLAYERS, Game
from tables.logs import FrontLog
from tables.replicas import replica

CARD: Final = re.compile(r"(?<![A-Za-z0-9])(?:[3-9TJQKA2][shdc]|[BS]J\*)(?![A-Za-z0-9])")
"""A card that is more than a shape: with its suit, or its mark."""
OF_REFUSALS: Final = {"grpc-status-details-bin"}
TRYING: Final = (
    cmd.Pass(),
    cmd.Play((PLAIN[20],)),
    cmd.Declare(Answer.REVOLT),
    cmd.CallCard(PLAIN[30]),
    cmd.Enthrone(),
)
TURNED_DOWN: Final = Mood(yields=0.7, yields_again=0.2, kicks=0.3)
"""The crown goes round, so that something is pasted to it."""


class Told(Client):
    """Keeps, of all his calls, the metadata that came with the answers and the text of the refusals."""

    def __init__(self, channel: grpc.aio.Channel, player: str) -> None:
        super().__init__(channel, player)
        self.metadata_keys: set[str] = set()
        self.refusals: list[tuple[Message, Refused]] = []

    async def call(self, request: Message, seconds: float = SECONDS) -> Any:
        """Make the call."""
        call = self.start(request, seconds)
        reply = await call
        self._note(await call.initial_metadata(), await call.trailing_metadata())
        return reply

    async def is_refused(self, request: Message) -> None:
        """Make a call that may well be refused."""
        try:
            await self.call(request)
        except grpc.aio.AioRpcError as error:
            self._note(error.initial_metadata(), error.trailing_metadata())
            self.refusals.append((request, refusal(error)))

    def _note(self, *several: Any) -> None:
        self.metadata_keys |= {key for metadata in several for key, _ in metadata or ()}


class Broken(FrontLog):
    """Fails now and then as only a bug does."""

    def __init__(self, behind: EventLog) -> None:
        super().__init__(behind)
        self._appends = 0

    async def append(self, command: Append) -> Outcome:
        """Append; raise ZeroDivisionError for every twentieth."""
        self._appends += 1
        if self._appends % 20 == 0:
            raise ZeroDivisionError
        return await self.behind.append(command)


@pytest.fixture
def log_lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """Log for real, all there is to log, into memory."""
    written = io.StringIO()
    monkeypatch.setattr("sys.stderr", written)
    configure_logging("DEBUG")
    structlog.configure(cache_logger_on_first_use=False)
    handler = logging.StreamHandler(written)
    logging.getLogger().addHandler(handler)
    yield written
    logging.getLogger().removeHandler(handler)
    structlog.reset_defaults()


async def test_no_card_gets_out_beside_the_messages(log: MemoryLog, log_lines: io.StringIO) -> None:
    """Two hands with tribute and one with the crown going round, everybody trying what is not his to do, and bugs.

    No refusal names a card that its own request does not; no answer carries metadata of ours but a refusal's details;
    no line of the log, failures included, has a card, a seed or a player's entropy in it. Every type of event that
    hides something occurred.
    """
    async with replica(Broken(log)) as service:
        games = [
            await played(service.channel, log, "homy-qingdao", 2),
            await played(service.channel, log, "ourgame-simple", 1),
        ]
    for client in [client for game in games for client in game.clients]:
        assert isinstance(client, Told)
        assert client.metadata_keys <= OF_REFUSALS
        for request, refused in client.refusals:
            text = f"{refused.message} {refused.metadata} {refused.fields}"
            assert set(CARD.findall(text)) <= set(CARD.findall(str(request))), text
    lines = log_lines.getvalue()
    seeds = [seed for game in games for seed in (await game.hand()).result.seeds]  # type: ignore[union-attr] # over
    assert "ZeroDivisionError" in lines
    assert CARD.findall(lines) == []
    assert not [secret for secret in (*seeds, "entropy of") if secret in lines]
    hiding = {name for name, kind in EVENT_TYPES.items() if "hidden" in {field.name for field in fields(kind)}}
    assert hiding <= {one.type for one in log._events}


async def played(channel: grpc.aio.Channel, log: EventLog, ruleset: str, hands: int) -> Game:
    """Play hands at a new table, everybody and a stranger trying something every few moves."""
    clients = [Told(channel, f"{player}-{ruleset}") for player in PLAYERS]
    game = Game(log, (await insisted(clients[0], open_table(ruleset))).table_id, clients)
    for seat, client in enumerate(clients):
        await insisted(client, sit(game.table_id, seat))
    chance = chance_of("ways out", ruleset)
    for _ in range(hands):
        for client in clients:
            await insisted(client, ready(game.table_id, f"entropy of {client.player}"))
        await play_on(game, RandomPlayer(chance, TURNED_DOWN), chance)
    return game


async def play_on(game: Game, player: RandomPlayer, chance: Random) -> None:
    """Play the hand to its end."""
    while in_progress(await game.table()):
        if chance.random() < 0.1:
            for client in game.clients:
                assert isinstance(client, Told)
                await client.is_refused(act(game.table_id, chance.choice(TRYING)))
        table = await game.table()
        if in_progress(table):
            seat, move = player.line(table)
            await insisted(game.clients[seat], act(game.table_id, move))


async def insisted(client: Client, request: Message) -> Any:
    """Make a call until no bug stands in its way."""
    while True:
        try:
            return await client.call(request)
        except grpc.aio.AioRpcError as error:
            if error.code() is not grpc.StatusCode.INTERNAL:
                raise
