"""A real nats-server with the users of `permissions`: each does its work, and is refused all else."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from nats.aio.client import Client

from baohuang.embedded.nats import EmbeddedNats
from baohuang.rules.state import TableId
from baohuang.stream.connection import connect_to
from baohuang.stream.jetstream import JetStream
from baohuang.stream.permissions import NatsUser, authorization, password_variable
from baohuang.stream.port import Message, Number, StreamUnavailable
from baohuang.stream.streams import SCORING_STREAM, TABLE_STREAM, StreamName
from baohuang.stream.subjects import seat_subject, source_subject, table_subject

WORKERS = (NatsUser.TABLE, NatsUser.SCORING, NatsUser.RATING)
TABLE_1 = TableId("t1")
_CHECKOUT = Path(__file__).parents[2]


class Session:
    """A connection of a user, and what the server says against it."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.told: list[str] = []

    async def tell(self, error: Exception) -> None:
        """Be told of an error that belongs to no call."""
        self.told.append(str(error))

    async def refused(self, subject: str) -> bool:
        """Publish, and tell whether that was refused."""
        await self.client.publish(subject, b"{}")
        await self.client.flush()
        await self.client.flush()
        told, self.told = self.told, []
        return any("permissions violation for publish" in one.lower() for one in told)


@asynccontextmanager
async def session(server: EmbeddedNats, user: NatsUser) -> AsyncIterator[Session]:
    """Connect as a user."""
    client = Client()
    made = Session(client)
    await client.connect(server.url_of(user), error_cb=made.tell, allow_reconnect=False)
    yield made
    await client.close()


def stream_subjects(stream: StreamName) -> list[str]:
    """Return what only the publisher of a stream may send."""
    api = [f"$JS.API.STREAM.{verb}.{stream.name}" for verb in ("CREATE", "UPDATE", "DELETE", "PURGE", "MSG.DELETE")]
    return [stream.subject("t1", "HandScored"), *api]


def consumer_subjects(stream: StreamName, consumer: str) -> list[str]:
    """Return what only the consumer of a stream may send."""
    return [
        f"$JS.API.CONSUMER.MSG.NEXT.{stream.name}.{consumer}",
        f"$JS.API.CONSUMER.DELETE.{stream.name}.{consumer}",
        f"$JS.API.CONSUMER.DURABLE.CREATE.{stream.name}.{consumer}",
        f"$JS.ACK.{stream.name}.{consumer}.1.1.1.1.0",
    ]


POKES = [table_subject(TABLE_1), seat_subject(TABLE_1), source_subject(TABLE_STREAM.name)]
SYSTEM = ["$JS.API.STREAM.CREATE.other", "$JS.API.STREAM.LIST", "$SYS.REQ.SERVER.PING", "_INBOX.somebody", "anything"]
OF_SCORING = consumer_subjects(TABLE_STREAM, "scoring")
OF_RATING = consumer_subjects(SCORING_STREAM, "rating")
FORBIDDEN = {
    NatsUser.TABLE: [*stream_subjects(SCORING_STREAM), *OF_SCORING, *OF_RATING, *SYSTEM],
    NatsUser.SCORING: [*stream_subjects(TABLE_STREAM), *POKES, *OF_RATING, *SYSTEM],
    NatsUser.RATING: [*stream_subjects(TABLE_STREAM), *stream_subjects(SCORING_STREAM), *POKES, *OF_SCORING, *SYSTEM],
}


@pytest.mark.parametrize("user", WORKERS)
async def test_what_is_not_a_services_to_say_is_refused(nats_server: EmbeddedNats, user: NatsUser) -> None:
    """Table alone publishes events of tables and pokes, scoring alone the ledger; nobody touches what is another's."""
    await nats_server.start()
    async with session(nats_server, user) as opened:
        heard = [subject for subject in FORBIDDEN[user] if not await opened.refused(subject)]
    assert heard == []


async def test_the_purge_of_a_stream_is_no_ones_but_an_operators(nats_server: EmbeddedNats) -> None:
    """Not even who publishes a stream may empty it behind its consumers' backs."""
    await nats_server.start()
    for user, stream in ((NatsUser.TABLE, TABLE_STREAM), (NatsUser.SCORING, SCORING_STREAM)):
        async with session(nats_server, user) as opened:
            for verb in ("UPDATE", "PURGE", "MSG.DELETE"):
                assert await opened.refused(f"$JS.API.STREAM.{verb}.{stream.name}")


async def test_a_stream_is_published_by_its_own_service_only(nats_server: EmbeddedNats) -> None:
    """As table the log's stream is made and filled; as scoring the same message is not stored, and not answered."""
    await nats_server.start()
    message = Message(Number(1), TABLE_STREAM.subject("t1", "HandFinished"), b"{}", {})
    async with connect_to(nats_server.url_of(NatsUser.SCORING), "a test")() as client:
        with pytest.raises(StreamUnavailable):
            await JetStream(client, TABLE_STREAM).publish([message])
    async with connect_to(nats_server.url_of(NatsUser.TABLE), "a test")() as client:
        stream = JetStream(client, TABLE_STREAM)
        await stream.make()
        assert (await stream.end()).number == 0
        await stream.publish([message])
        assert (await stream.end()).number == 1


async def test_nobody_listens_to_what_is_not_his(nats_server: EmbeddedNats) -> None:
    """Who is told of tables by JetStream alone hears no pokes, and the events of tables go to no other subscriber."""
    await nats_server.start()
    for user, subject in (
        (NatsUser.SCORING, table_subject(TABLE_1)),
        (NatsUser.RATING, TABLE_STREAM.all_subjects),
        (NatsUser.SCORING, ">"),
    ):
        async with session(nats_server, user) as opened:
            await opened.client.subscribe(subject)
            await opened.client.flush()
            await opened.client.flush()
            assert any("permissions violation for subscription" in one.lower() for one in opened.told)


async def test_a_services_password_opens_no_other_user(nats_server: EmbeddedNats) -> None:
    """Each URL has a password of its own."""
    await nats_server.start()
    passwords = {nats_server.url_of(user).split(":")[2].split("@")[0] for user in NatsUser}
    assert len(passwords) == len(NatsUser)
    forged = nats_server.url_of(NatsUser.SCORING).replace("scoring:", "table:")
    with pytest.raises(StreamUnavailable):
        async with connect_to(forged, "a test")():
            pass


def test_the_file_for_operators_is_what_the_code_says() -> None:
    """`deploy/nats/authorization.conf` is written by `python -m baohuang.stream.permissions`, and is up to date."""
    kept = (_CHECKOUT / "deploy/nats/authorization.conf").read_text()
    assert kept == authorization(password_variable)
    assert json.dumps(TABLE_STREAM.all_subjects) in kept
