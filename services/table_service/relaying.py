"""The log's relay, which every replica of this service runs: one of them publishes, the others stand by."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final

from baohuang.database.pool import Identity, Limits, open_pool
from baohuang.metrics.bugs import Bugs
from baohuang.metrics.family import Metrics
from baohuang.stream.address import NatsAddress
from baohuang.stream.connection import connect_to
from baohuang.stream.counts import read_relay
from baohuang.stream.lease import Lease
from baohuang.stream.log_source import LogSource
from baohuang.stream.relay import Relay
from baohuang.stream.streams import TABLE_STREAM
from baohuang.stream.table_messages import SETTLING
from baohuang.stream.traces import Traces
from baohuang.stream.working import at_work
from table_service.curtain import Learnt

RELAY_IDENTITY: Final = Identity("baohuang relay", "baohuang_app", "eventlog")
LOG_SOURCE: Final = "log"
"""The name of the log's lease."""
_CONNECTIONS: Final = 2


@dataclass(frozen=True, slots=True)
class Relayed:
    """What publishes the log: `told` is told what that has more, `traces` the traces that it was appended in."""

    told: Callable[[Sequence[Learnt]], None]
    traces: Traces


@asynccontextmanager
async def relaying(
    dsn: str,
    nats: NatsAddress | str | None,
    servers: int = 1,
    metrics: Metrics | None = None,
    bugs: Bugs | None = None,
) -> AsyncIterator[Relayed | None]:
    """Publish the log to JetStream until the end of the block; without a NATS nothing is published, and None given.

    `servers` of NATS keep the stream, where it is not there yet.

    Gives what is to be told what was appended: somebody waits for the score of what points follow from.
    Raises OSError, asyncpg.PostgresError, CertificateError.
    """
    if nats is None:
        yield None
        return
    async with await open_pool(dsn, _CONNECTIONS, Limits(), RELAY_IDENTITY) as pool:
        lease, connect = Lease(pool, LOG_SOURCE), connect_to(nats, "baohuang relay of the log")
        relay = Relay(LogSource(pool), TABLE_STREAM.kept_by(servers), lease, connect)
        if metrics is not None:
            metrics.add(partial(read_relay, TABLE_STREAM.name, relay.counts))
        async with at_work(relay, bugs=bugs):
            yield Relayed(partial(_tell, relay), relay.traces)


def _tell(relay: Relay, learnt: Sequence[Learnt]) -> None:
    if any(one.happened.stored.type in SETTLING for one in learnt):
        relay.hurry()
    else:
        relay.poke()
