"""NATS, or a service that follows it, is lost at the worst moment: every hand is scored once and rated once."""

import asyncio
from pathlib import Path

import asyncpg
import pytest

from baohuang.embedded.nats import EmbeddedNats
from baohuang.stream.connection import connect_to
from baohuang.stream.jetstream import JetStream
from baohuang.stream.streams import SCORING_STREAM, TABLE_STREAM
from command_line.services import RATING, SCORING, Service
from eventually import eventually
from scoring.following import Ledger
from scoring.hands import a_hand
from scoring.recording import TABLES, Recorder
from scoring.test_over_nats import SOON, all_rated, everything_follows, process, told
from table_service.relaying import relaying


@pytest.mark.parametrize("loss", ["restarted", "killed", "deleted"])
async def test_everybody_goes_on_within_ten_seconds(
    recorder: Recorder, ledger: Ledger, own_database_dsn: str, nats: EmbeddedNats, url: str, *, loss: str
) -> None:
    """NATS is lost while replicas of both have nothing to do, then in the middle of their work.

    A hand that is played after it is scored and rated within ten seconds, and all end where the log is.
    """
    async with everything_follows(own_database_dsn, url, 2):
        await recorder.record_some(3)
        await all_rated(own_database_dsn, ledger)
        await lose(nats, url, loss)
        await recorder.record(a_hand(), TABLES[0])
        await all_rated(own_database_dsn, ledger, within=10.0)
        busy = asyncio.create_task(recorder.record_some(30, seed=2))
        await lose(nats, url, loss)
        await busy
        await recorder.record(a_hand(), TABLES[1])
        await all_rated(own_database_dsn, ledger, within=10.0)


async def lose(nats: EmbeddedNats, url: str, loss: str) -> None:
    """Do to NATS, or to both streams, what its operators do, or its machine."""
    if loss == "deleted":
        async with connect_to(url, "operator")() as client:
            for name in (TABLE_STREAM, SCORING_STREAM):
                await JetStream(client, name).remove()
        return
    if loss == "killed":
        await nats.child.stop(())
    await nats.stop()
    await nats.start()


@pytest.mark.parametrize("service", [SCORING, RATING], ids=["scoring", "rating"])
async def test_killed_between_effect_and_acknowledgement(
    recorder: Recorder,
    ledger: Ledger,
    own_database_dsn: str,
    nats: EmbeddedNats,
    url: str,
    *,
    tmp_path: Path,
    service: Service,
) -> None:
    """A process commits what it was brought, cannot say so, since NATS was killed meanwhile, and is killed itself.

    JetStream brings it all again, to the process that follows it: nothing is booked, or rated, a second time.
    """
    held = {SCORING: "select from scoring.progress for update", RATING: "select from rating.players for update"}[
        service
    ]
    environment = {"BAOHUANG_POSTGRES_DSN": own_database_dsn, "BAOHUANG_NATS_URL": url, "BAOHUANG_INSECURE_DEV": "true"}
    admin, hand = await asyncpg.connect(own_database_dsn), a_hand()
    async with (
        relaying(own_database_dsn, url),
        process(SCORING, tmp_path, environment) as scoring,
        process(RATING, tmp_path, environment) as rating,
    ):
        await recorder.record(hand)
        await all_rated(own_database_dsn, ledger)
        async with admin.transaction():
            await admin.execute(held)
            await recorder.record(hand)
            await eventually(lambda: somebody_waits(own_database_dsn), within=SOON)
            await nats.child.stop(())
        await eventually(lambda: is_committed(own_database_dsn, service, 2), within=SOON)
        await (scoring if service is SCORING else rating).kill()
        await nats.stop()
        await nats.start()
        await (scoring if service is SCORING else rating).start()
        await recorder.record(hand)
        await all_rated(own_database_dsn, ledger)
    await admin.close()
    assert len(await ledger.postings()) == 3


async def somebody_waits(dsn: str) -> bool:
    """Tell whether a service waits for a lock that a test holds."""
    return await told(
        dsn, "select count(*) > 0 from pg_stat_activity where wait_event_type = 'Lock' and usename is not null"
    )


async def is_committed(dsn: str, service: Service, number: int) -> bool:
    """Tell whether a service has applied so many messages."""
    applied = {
        SCORING: "select count(*) = $1 from scoring.passed",
        RATING: "select count(*) = $1 from rating.passed",
    }[service]
    return await told(dsn, applied, number)
