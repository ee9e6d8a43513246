"""What scoring and rating could not apply is listed, and what stopped them is taken back, by command."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial

import asyncpg
import pytest

from baohuang.database.pool import Pool
from baohuang.stream.applying import Alarmed, Applying
from baohuang.stream.port import HASH_HEADER, NO_NUMBER, Message, Number
from rating.following import Ratings
from rating_service.wiring import open_ratings
from scoring.following import MANY, Ledger
from scoring.recording import TABLES, Recorder
from scoring.test_audit import Forgery, forge, run
from scoring.test_unscorable import wrong
from scoring_service.ledger_source import LedgerSource


async def test_what_is_set_aside_is_listed(kept: str, recorder: Recorder, ledger: Ledger) -> None:
    """Of scoring and of rating: what it is, why, since when, how often it was tried; and that there is nothing."""
    done = await run(kept, "set-aside")
    assert (done.exit_code, done.stdout) == (0, "nothing is set aside\n")
    reached = len(await ledger.postings())
    appended = await recorder.record(wrong(), TABLES[2])
    await ledger.follow()
    await run(kept, "redrive")
    done = await run(kept, "set-aside")
    waits, tried, way_out = done.stdout.splitlines()
    where = f"position {await last_position(kept)}, HandFinished of table {TABLES[2]} version {appended.version}"
    assert (done.exit_code, waits) == (1, f"scoring waits at posting {reached + 1}: {where}")
    assert re.fullmatch(r"    since 2\d{3}-.*Z, tried 2x: Unscorable: the points are .*", tried)
    assert f"`baohuang skip scoring {reached + 1} --reason ...`" in way_out
    assert (await run(kept, "skip", "scoring", str(reached + 1), "--reason", "a test")).exit_code == 0
    async with await open_ratings(kept) as pool:
        (spoilt,) = await LedgerSource(ledger.pool).read(Number(reached), MANY)
        bad = Message(spoilt.number, spoilt.subject, b"{}", spoilt.headers)
        await Ratings(pool).replica().take([bad])
        done = await run(kept, "set-aside")
        assert done.stdout.startswith(f"rating waits at posting {reached + 1}: {spoilt.subject}\n    since 2")
        await Ratings(pool).replica().take([spoilt])
    assert (await run(kept, "set-aside")).exit_code == 0


async def last_position(dsn: str) -> int:
    """Return where the log ends."""
    admin = await asyncpg.connect(dsn)
    position: int = await admin.fetchval("select last_position from eventlog.counter")
    await admin.close()
    return position


@pytest.mark.parametrize("stopped", ["scoring", "rating"])
async def test_an_alarm_is_cleared_when_it_is_over(kept: str, recorder: Recorder, ledger: Ledger, stopped: str) -> None:
    """Who was brought another message under a known number stops, and is listed; cleared, he goes on with the next."""
    assert (await run(kept, "clear-alarm", stopped)).exit_code == 1
    async with await open_ratings(kept) as pool, following(ledger, pool, stopped) as (replica, messages):
        known = (await messages())[0]
        with pytest.raises(Alarmed):
            await replica.take([Message(known.number, known.subject, b"{}", {HASH_HEADER: "00" * 32})])
        await recorder.record_some(2, seed=3)
        if stopped == "rating":
            await ledger.follow()
        with pytest.raises(Alarmed):
            await replica.take(await messages())
        done = await run(kept, "set-aside")
        assert (done.exit_code, f"{stopped} is stopped" in done.stdout, "hash 0000" in done.stdout) == (1, True, True)
        done = await run(kept, "clear-alarm", stopped)
        assert (done.exit_code, f"{stopped} goes on after message" in done.stdout) == (0, True), done.output
        assert await replica.take(await messages()) == (await messages())[-1].number
    for command in ("set-aside", "reconcile"):
        assert (await run(kept, command)).exit_code == 0


@pytest.mark.parametrize("stopped", ["scoring", "rating"])
async def test_an_alarm_stays_while_it_is_so(kept: str, ledger: Ledger, stopped: str) -> None:
    """If log, or ledger, have become another past than the one gone past, clearing is refused, and says where."""
    async with await open_ratings(kept) as pool, following(ledger, pool, stopped) as (replica, messages):
        await forge(kept, "eventlog" if stopped == "scoring" else "scoring", (ANOTHER_PAST[stopped],))
        with pytest.raises(Alarmed):
            await replica.take(await messages())
        for _ in range(2):
            done = await run(kept, "clear-alarm", stopped)
            assert (done.exit_code, "the alarm stays: the source has another message" in done.stdout) == (1, True)
        with pytest.raises(Alarmed):
            await replica.reached()


ANOTHER_PAST: Mapping[str, Forgery] = {
    "scoring": ("update events set hash = sha256(hash) where type = 'HandFinished'", "", "", ""),
    "rating": ("""update postings set data = data || '{{"kicked": true}}' where number = {n}""", "", "", ""),
}
"""How a superuser changes the past that each of them follows."""


@asynccontextmanager
async def following(
    ledger: Ledger, ratings: Pool, who: str
) -> AsyncIterator[tuple[Applying, Callable[[], Awaitable[Sequence[Message]]]]]:
    """Give a replica of who follows, and what reads all messages that it is to be sent."""
    if who == "scoring":
        yield ledger.replica(), ledger.messages
    else:
        yield Ratings(ratings).replica(), partial(LedgerSource(ledger.pool).read, NO_NUMBER, MANY)
