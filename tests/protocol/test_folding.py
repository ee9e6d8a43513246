"""A client that folds events as the document's table says has the view that the service would give it."""

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from google.protobuf import json_format
from google.protobuf.message import Message

from baohuang.eventlog.memory import MemoryLog
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.gen.table.v1 import table_view_pb2
from baohuang.rules.rulesets import RULESETS, RulesetId
from baohuang.rules.state import in_progress
from bench.random_player import chance_of
from protocol.folding import fold
from protocol.reflected import Json
from tables.clients import Client, fresh
from tables.games import Game, seated
from tables.replicas import replica

_COMPARE_EVERY = 7


class Folding:
    """A viewer who has nothing but his stream."""

    def __init__(self, client: Client, table_id: str) -> None:
        self._client = client
        self._table_id = table_id
        self._stream = client.watch(table_id).__aiter__()
        self._view: Json = {}

    async def reach(self, version: int) -> None:
        """Follow the stream to that version."""
        while self._view.get("version", 0) < version:
            message = _as_json(await anext(self._stream))
            if "snapshot" in message:
                self._view = message["snapshot"]
            elif "update" in message:
                fold(self._view, message["update"])

    async def compare(self) -> None:
        """Check that the service would show him exactly what he has."""
        reply = await self._client.call(pb.GetTableRequest(table_id=self._table_id))
        assert _comparable(json_format.ParseDict(self._view, table_view_pb2.TableView())) == _comparable(reply.table)


def _as_json(message: Message) -> Any:
    return json_format.MessageToDict(message, always_print_fields_with_no_presence=True)


def _comparable(view: table_view_pb2.TableView) -> table_view_pb2.TableView:
    """Leave out who looks, which no event says, and what changes while nobody does anything."""
    view.ClearField("viewer_seat")
    view.ClearField("millis_left")
    return view


@pytest.mark.parametrize("ruleset", RULESETS)
async def test_folding_gives_the_services_view(ruleset: RulesetId) -> None:
    """Random play with trustees, and tribute where there is any: a seat's and the public's view equal GetTable's."""
    chance = chance_of(f"folding {ruleset}")
    async with replica(MemoryLog()) as service:
        game = await seated(service, ruleset)
        folders = [Folding(client, game.table_id) for client in (game.clients[0], Client(service.channel, "zoe"))]
        for _ in range(2 if RULESETS[ruleset].tribute else 1):
            await game.all_ready()
            await _play(game, folders, chance)


async def _play(game: Game, folders: Sequence[Folding], chance: Random) -> None:
    steps = 0
    while in_progress(await game.table()):
        await game.step(chance)
        steps += 1
        if steps % _COMPARE_EVERY == 0:
            await _trustee_for_a_moment(game, chance)
            await _compare(game, folders)
    await _compare(game, folders)


async def _trustee_for_a_moment(game: Game, chance: Random) -> None:
    """Let a player ask for the trustee and take his seat back, three times at most: the fourth would be permanent."""
    seat = chance.randrange(5)
    if not in_progress(await game.table()) or (await game.hand()).trusteeships[seat].entries > 2:
        return
    for active in (True, False):
        if in_progress(await game.table()):
            request = pb.SetTrusteeshipRequest(request_id=fresh(), table_id=game.table_id, active=active)
            await game.clients[seat].call(request)


async def _compare(game: Game, folders: Sequence[Folding]) -> None:
    version = (await game.head()).version
    for folder in folders:
        await folder.reach(version)
        await folder.compare()
