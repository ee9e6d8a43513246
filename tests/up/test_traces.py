"""A hand played against real services, each a process of its own, as its traces tell it to a real collector."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Container, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

import msgspec
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from baohuang.client import BearerToken, TableClient, connect, fresh_invitation_code
from baohuang.eventlog.port import StoredEvent, StreamId
from baohuang.eventlog.postgres.log import open_reader
from baohuang.rpc.auth import Caller, CallerId, Role
from baohuang.rpc.reason import Reason
from command_line.bots.runner import Bot
from command_line.development_key import DevelopmentKey
from eventually import eventually
from tracing.collector import Collector, Told, collecting
from up.running import Up, dsn_of, up

SOON: Final = 60.0
ENTROPY: Final = "entropy-that-nobody-else-may-know"
ONWARD: Final = {"OTEL_TRACES_SAMPLER": "parentbased_always_off", "OTEL_BSP_SCHEDULE_DELAY": "100"}
"""Only what the app begins is told, and soon."""
NAMES: Final = {
    "a hand": "app",
    "decide": "baohuang-table",
    "append": "baohuang-table",
    "wait for the flush": "baohuang-table",
    "flush event log": "baohuang-table",
    "consume scoring": "baohuang-scoring",
    "post to ledger": "baohuang-scoring",
    "consume rating": "baohuang-rating",
    "rate": "baohuang-rating",
}
"""Spans that one service tells; others are calls, commands on streams, and what relays publish."""


@dataclass(frozen=True, slots=True)
class Hand:
    """A hand that was played in one trace, and what was secret about it."""

    trace: Sequence[Told]
    collector: Collector
    events: Sequence[StoredEvent]
    secrets: Sequence[str]


@contextmanager
def in_a_trace(endpoint: str) -> Iterator[bytes]:
    """Have the block be a sampled span of an app that has traces of its own; gives the trace's id."""
    provider = TracerProvider(resource=Resource.create({"service.name": "app"}), shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(endpoint, insecure=True)))
    with provider.get_tracer("app").start_as_current_span("a hand") as root:
        yield root.get_span_context().trace_id.to_bytes(16, "big")
    provider.shutdown()


@asynccontextmanager
async def players(started: Up, tokens: Sequence[str]) -> AsyncIterator[Sequence[Bot]]:
    """Give five players: three who call, two who play over streams."""
    async with AsyncExitStack() as stack:
        bots = []
        for seat, token in enumerate(tokens):
            client = await stack.enter_async_context(connect(started.address, BearerToken(token)))
            way = client if seat < 3 else cast("TableClient", await stack.enter_async_context(client.play()))
            bots.append(Bot(way, seat))
        yield bots


async def play(started: Up, tokens: Sequence[str], code: str) -> str:
    """Play a hand at a private table, and return the table."""
    async with players(started, tokens) as bots:
        opened = await bots[0].client.open_table("ourgame-simple", invitation_code=code)
        for seat, bot in enumerate(bots):
            await bot.client.sit_down(opened.table_id, seat, invitation_code=code)
            await bot.client.set_ready(opened.table_id, ready=True, entropy=f"{ENTROPY}-{seat}")
        await asyncio.gather(*(bot.play_hand(opened.table_id) for bot in bots))
    return str(opened.table_id)


async def test_one_trace_from_the_client_to_the_rating(data: Path) -> None:
    """A hand in the trace of an app: all of it is one trace, command by command, and nothing hidden is in it."""
    with collecting() as collector:
        hand = await played(data, collector)
    check_way_to_the_rating(hand)
    check_commands(hand)
    check_streams(hand)
    check_nothing_hidden(hand)


async def played(data: Path, collector: Collector) -> Hand:
    """Play a hand in the trace of an app, and wait until it is rated and all of it is told."""
    environment = {**ONWARD, "OTEL_EXPORTER_OTLP_ENDPOINT": collector.endpoint}
    async with up(data, "--without=matchmaking", "--without=bots", environment=environment) as started:
        await started.ready()
        key = DevelopmentKey.of(data)
        tokens = [key.token(Caller(CallerId(f"player-{seat}"), Role.PLAYER), 3600) for seat in range(5)]
        code = fresh_invitation_code()
        with in_a_trace(collector.endpoint) as trace_id:
            table_id = await play(started, tokens, code)

        async def rated() -> bool:
            return any(one.name == "rate" for one in collector.trace(trace_id))

        await eventually(rated, SOON)
        async with open_reader(dsn_of(started)) as log:
            events = await log.read_stream(StreamId(table_id))
    # The services have ended, and with them their last traces are out.
    return Hand(collector.trace(trace_id), collector, events, (*tokens, code, *hidden_in(events)))


def hidden_in(events: Sequence[StoredEvent]) -> Sequence[str]:
    """Return what the log keeps hidden, as far as it is text that is found nowhere by chance: salts, seeds, entropy."""
    salts = [one.salt.hex() for one in events]
    hidden = [msgspec.json.decode(one.data).get("hidden", {}) for one in events]
    seeds = [text for one in hidden for text in texts(one) if len(text) > len("a card, a role, an answer")]
    assert seeds
    return [*salts, ENTROPY, *seeds]


def texts(document: object) -> Iterator[str]:
    """Yield every text in a document."""
    match document:
        case str():
            yield document
        case dict():
            for one in document.values():
                yield from texts(one)
        case list():
            for one in document:
                yield from texts(one)


def check_way_to_the_rating(hand: Hand) -> None:
    """From the rating back, parent by parent, to the app's own span; and each step is told by who takes it."""
    spans = {one.span.span_id: one for one in hand.trace}
    (rate,) = [one for one in hand.trace if one.name == "rate"]
    way = list(back(rate, spans))
    assert [one.name for one in way[:6]] == [
        "rate",
        "consume rating",
        "relay publish",
        "consume scoring",
        "relay publish",
        "append",
    ]
    assert [one.service for one in way[:6]] == [f"baohuang-{name}" for name in ("rating", "rating", *TO_TABLE)]
    assert way[6].name.startswith("baohuang.table.v1.TableService/")
    assert [one.name for one in way[7:]] == ["a hand"]
    (finished,) = [event for event in hand.events if event.type == "HandFinished"]
    together = [event.position for event in hand.events if event.request_id == finished.request_id]
    assert way[5].attributes["baohuang.position"] == max(together)
    for one in hand.trace:
        assert one.service == NAMES.get(one.name, one.service), one.name
    assert {name for name in NAMES if name not in {one.name for one in hand.trace}} == set()


TO_TABLE: Final = ("scoring", "scoring", "table", "table")


def back(one: Told, spans: Mapping[bytes, Told]) -> Iterator[Told]:
    """Yield a span and what it comes from, up to the one that comes from nothing."""
    yield one
    if one.span.parent_span_id:
        yield from back(spans[one.span.parent_span_id], spans)


def check_commands(hand: Hand) -> None:
    """One span of a call or of a stream's command a request id; under it the decision, the append, and its wait."""
    commands = [one for one in hand.trace if "baohuang.request_id" in one.attributes]
    streamed = [one for one in commands if one.name.startswith("baohuang.table.v1.TableService/Play ")]
    appended = {event.request_id for event in hand.events if not event.actor.startswith("baohuang")}
    told = Counter(one.attributes["baohuang.request_id"] for one in commands)
    assert set(told) >= appended
    assert 0 < len(streamed) < len(commands)
    for one in commands:
        steps = {child.name for child in hand.trace if child.span.parent_span_id == one.span.span_id}
        assert "decide" in steps
        assert one.attributes["baohuang.table_id"] == hand.events[0].stream_id
    flushes = [one.span for one in hand.trace if one.name == "flush event log"]
    linked = {link.span_id for span in flushes for link in span.links}
    assert linked == {one.span.span_id for one in hand.trace if one.name == "append"}


def check_streams(hand: Hand) -> None:
    """Watching and playing over streams goes on through the hand; their spans are of the opening alone."""
    whole = max(one.span.end_time_unix_nano - one.span.start_time_unix_nano for one in hand.trace)
    opened = [one.span for one in hand.trace if one.name.endswith(("/WatchTable", "/Play"))]
    assert len(opened) >= 5
    assert all(span.end_time_unix_nano - span.start_time_unix_nano < whole / 4 for span in opened)
    assert not [one for one in hand.trace if one.span.parent_span_id in {span.span_id for span in opened}]


def check_nothing_hidden(hand: Hand) -> None:
    """Every attribute of every span is one of those we know, and has its form; no events, no texts of errors.

    So no cards; and nowhere in what was sent is a token, a code, a seed, entropy or a salt.
    """
    assert len(hand.collector.told()) == len(hand.trace) > 100
    request_ids = {event.request_id for event in hand.events}
    for one in hand.trace:
        if one.service == "app":
            continue
        assert not one.span.events
        assert not one.span.status.message
        for key, value in one.attributes.items():
            assert is_known(key, value, str(hand.events[0].stream_id), request_ids), (one.name, key, value)
    for raw in hand.collector.raw:
        for secret in hand.secrets:
            assert secret.encode() not in raw


_OUTCOMES: Final = frozenset({"Appended", "VersionConflict", "Duplicate", "TooLate", "Refused"})
_NUMBERS: Final = frozenset(
    {
        "baohuang.position",
        "baohuang.number",
        "baohuang.commands",
        "baohuang.messages",
        "rpc.grpc.status_code",
    }
)


def is_known(key: str, value: str | int, table_id: str, request_ids: Container[object]) -> bool:
    """Tell whether an attribute has a value that it may have."""
    known: Mapping[str, Container[object]] = {
        "baohuang.table_id": {table_id},
        "baohuang.request_id": request_ids,
        "baohuang.outcome": _OUTCOMES,
        "baohuang.reason": set(Reason),
        "rpc.system": {"grpc"},
    }
    return isinstance(value, int) if key in _NUMBERS else value in known.get(key, ())
