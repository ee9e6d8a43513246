"""What is hidden cannot be guessed from what is published in its place."""

import json
from collections.abc import Iterator
from hashlib import sha256
from itertools import pairwise

from baohuang.eventlog import chain
from baohuang.eventlog.codec import decode
from baohuang.gen.table.v1 import watch_pb2
from baohuang.rules.events import Answered
from baohuang.rules.redact import mask
from baohuang.rules.state import Answer, Phase
from bench.random_player import chance_of
from tables.clients import Client
from tables.games import seated
from tables.replicas import Replica
from tables.viewers import Viewer


def digest(salt: bytes, answer: Answer, request_id: str) -> bytes:
    """Return what stands for a hidden answer, by the formula that everybody may read."""
    hidden = {"hidden": {"answer": answer.value}, "requestId": request_id}
    return sha256(salt + json.dumps(hidden, sort_keys=True, separators=(",", ":")).encode()).digest()


def salts_to_try(before: watch_pb2.Update, update: watch_pb2.Update, table_id: str) -> Iterator[bytes]:
    """Yield what a spectator might take for the salt: none, plain ones, all that he was sent, and hashes of it."""
    yield from (b"", bytes(chain.SALT_BYTES), b"\xff" * chain.SALT_BYTES)
    for known in (before.hash, update.hash, before.hidden_digest, table_id.encode(), update.recorded_at.encode()):
        hashed = sha256(known).digest()
        yield from (known, known[: chain.SALT_BYTES], hashed, hashed[: chain.SALT_BYTES])


async def test_a_hidden_choice_is_not_found_by_trying_them_all(durable: Replica) -> None:
    """No answer there is gives the digest that a spectator is sent in place of one, whatever he takes for the salt.

    Not even if he knows the request's id. With the salt that the log keeps to itself it is the one that was given, and
    no other; no two events share a salt, and none was sent to anybody.
    """
    game = await seated(durable, "homy-classic")
    viewer = Viewer(
        Client(durable.channel, "guesser"), game.table_id, (await game.head()).version, mask(await game.table(), None)
    )
    await game.all_ready()
    await game.reach(Phase.PLAY, chance_of("guessing"))
    await viewer.reach((await game.head()).version)
    stored = {int(event.version): event for event in await game.events()}
    guessed = 0
    for before, update in pairwise(viewer.updates):
        if update.type != Answered.__name__:
            continue
        kept = stored[update.version]
        event = decode(kept.type, kept.data)
        assert isinstance(event, Answered)
        assert event.hidden is not None
        assert not update.event.answered.HasField("hidden")
        for salt in salts_to_try(before, update, game.table_id):
            for request_id in (kept.request_id, ""):
                assert update.hidden_digest not in {digest(salt, answer, request_id) for answer in Answer}
        opened = [one for one in Answer if digest(kept.salt, one, kept.request_id) == update.hidden_digest]
        assert opened == [event.hidden.answer]
        guessed += 1
    assert guessed >= 5
    assert {len(event.salt) for event in stored.values()} == {chain.SALT_BYTES}
    assert len({event.salt for event in stored.values()}) == len(stored)
    sent = b"".join(response.SerializeToString() for response in viewer.received)
    assert not any(event.salt in sent or event.salt.hex().encode() in sent for event in stored.values())
