"""A ruling explained from the log: decision, clause, timeline, and whether it follows; in two languages."""

import asyncio
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from typer.testing import CliRunner

from audit.honest import Play, banned, recorded, written
from baohuang.audit.clauses import CLAUSES, SENTENCES
from baohuang.audit.explaining import NotARulingError, NothingThereError, explain
from baohuang.audit.judgement import Judgement
from baohuang.eventlog.codec import decode
from baohuang.eventlog.memory import MemoryLog
from baohuang.eventlog.port import NO_VERSION, EventLog, StoredEvent, StreamId, Version
from baohuang.eventlog.postgres.log import open_log
from baohuang.rules import events as ev
from baohuang.rules.events import is_ruling
from baohuang.rules.rulesets import RULESETS
from baohuang.rules.state import TableId, TrusteeshipReason
from command_line.main import app
from tables.logs import FrontLog


async def rulings(log: MemoryLog, stream_id: StreamId) -> Sequence[StoredEvent]:
    """Return all rulings of a stream."""
    events = await log.read_stream(stream_id, limit=100_000)
    return [event for event in events if is_ruling(decode(event.type, event.data))]


async def test_every_ruling_of_honest_play_is_explained() -> None:
    """Each names its clause with text, the events it rests on, the clock's reading; and follows from the log alone."""
    log, kinds = MemoryLog(), set()
    streams = [await recorded(log, Play(TableId(name), name, 1, restless=0.05), hands=1) for name in RULESETS]
    streams += [await recorded(log, Play(TableId("more"), "ourgame-simple", 4, restless=0.2), hands=2)]
    streams += [await banned(log, "an", 2)]
    trusted = Play(TableId("trusted"), "homy-standard", 1)
    streams += [await written(log, trusted.table_id, trusted.all_trustees())]
    for stream_id in streams:
        for one in await rulings(log, stream_id):
            judgement = await explain(log, stream_id, one.version)
            kinds.add(judgement.ruling)
            check(judgement, decode(one.type, one.data))
    assert kinds >= {
        "TrusteeshipEntered", "TurnExtended", "PlayerFined", "PlayerBanned", "PlayerReinstated", "FineReversed",
        "VoidReversed",
    }  # fmt: skip


def check(judgement: Judgement, ruling: ev.Event) -> None:
    """Check a judgement of honest play against its event."""
    assert judgement.follows
    assert judgement.findings == ()
    assert judgement.wrong == ()
    versions = [moment.version for moment in judgement.timeline]
    assert isinstance(ruling, ev.PlayerFined) or set(getattr(ruling, "rests_on", ())) <= set(versions)
    assert [moment.at for moment in judgement.timeline] == sorted(moment.at for moment in judgement.timeline)
    assert judgement.decided_at in {moment.at for moment in judgement.timeline}
    for told in (judgement.decided, *(moment.told for moment in judgement.timeline)):
        assert re.search("[a-z]", told.english)
        assert re.search("[\u4e00-\u9fff]", told.chinese)


async def test_a_timeout_tells_the_line_and_the_deadline() -> None:
    """What decides a dispute: when the turn opened, the deadline, the last sign of life, when the line was lost."""
    log = MemoryLog()
    for seed in range(40):
        stream_id = await recorded(log, Play(TableId(f"t{seed}"), "ourgame-simple", seed, restless=0.2), hands=1)
        for one in await rulings(log, stream_id):
            event = decode(one.type, one.data)
            if (
                isinstance(event, ev.TrusteeshipEntered)
                and event.reason is TrusteeshipReason.TIMEOUT
                and event.connection_lost_at
            ):
                judgement = await explain(log, stream_id, one.version)
                told = {(moment.at, moment.told.english) for moment in judgement.timeline}
                assert (event.due_at, "the deadline passed") in told
                assert (event.connection_lost_at, "since then the line was known to be lost") in told
                assert any(f"the last that {event.player} did before: " in english for _, english in told)
                assert any(f"its deadline being {event.due_at}" in english for _, english in told)
                return
    raise AssertionError("nobody's time ran out with his line lost")


async def test_a_ruling_that_does_not_follow_is_told_to_be_so() -> None:
    """The record does not bear out what was changed in it, and says which check found that."""
    log = MemoryLog()
    stream_id = await recorded(log, Play(TableId("table"), "homy-qingdao", 1, restless=0.05), hands=1)
    ruling = (await rulings(log, stream_id))[0]
    place = log._streams[stream_id].index(ruling)
    log._streams[stream_id][place] = structs.replace(ruling, data=ruling.data.replace(b"TRUST-1", b"TRUST-2"))
    judgement = await explain(log, stream_id, ruling.version)
    assert not judgement.follows
    assert any(finding.startswith("chain: ") for finding in judgement.findings)
    assert any(finding.startswith("ruling: ") for finding in judgement.findings)
    assert len(judgement.wrong) == len(judgement.findings)
    assert all(f"version {ruling.version}:" in wrong.english for wrong in judgement.wrong)
    assert all(f"版本 {ruling.version}：" in wrong.chinese for wrong in judgement.wrong)


class Read(FrontLog):
    """Counts the events that are read."""

    def __init__(self, behind: EventLog) -> None:
        super().__init__(behind)
        self.events = 0

    async def read_stream(
        self, stream_id: StreamId, after_version: Version = NO_VERSION, limit: int = 1000
    ) -> Sequence[StoredEvent]:
        """Read, and count."""
        page = await super().read_stream(stream_id, after_version, limit)
        self.events += len(page)
        return page


async def test_explaining_costs_one_hand() -> None:
    """However long the table's record is; and what was changed in an older hand is for verification to find."""
    log = MemoryLog()
    stream_id = await recorded(log, Play(TableId("table"), "ourgame-simple", 3, restless=0.01), hands=12)
    stored = log._streams[stream_id]
    starts = [one.version for one in stored if one.type == "HandStarted"]
    assert len(starts) > 5
    longest = max(after - before for before, after in pairwise((*starts, len(stored))))
    stored[10] = structs.replace(stored[10], actor="somebody else")
    for ruling in [one for one in await rulings(log, stream_id) if one.version > starts[1]]:
        reading = Read(log)
        assert (await explain(reading, stream_id, ruling.version)).follows
        assert reading.events < 3 * longest + 512


@pytest.mark.parametrize(("back", "change"), [(0, {"actor": "somebody else"}), (1, {"hash": bytes(32)})])
async def test_a_hand_is_chained_to_what_stands_before_it(back: int, change: dict[str, Any]) -> None:
    """A hand whose beginning was changed does not bear the ruling out, nor one that does not follow what is before."""
    log = MemoryLog()
    stream_id = await recorded(log, Play(TableId("table"), "homy-qingdao", 1, restless=0.05), hands=2)
    stored = log._streams[stream_id]
    ruling = (await rulings(log, stream_id))[-1]
    began = max(one.version for one in stored if one.type == "HandStarted" and one.version < ruling.version)
    stored[began - 1 - back] = structs.replace(stored[began - 1 - back], **change)
    judgement = await explain(log, stream_id, ruling.version)
    assert not judgement.follows
    assert judgement.findings[0].startswith("chain: ")


async def test_what_is_no_ruling() -> None:
    """A version without a ruling, and one without an event."""
    log = MemoryLog()
    stream_id = await recorded(log, Play(TableId("table"), "ourgame-simple", 1), hands=1)
    with pytest.raises(NotARulingError, match="TableOpened"):
        await explain(log, stream_id, Version(1))
    with pytest.raises(NothingThereError, match="table has no event of version 100000"):
        await explain(log, stream_id, Version(100_000))
    with pytest.raises(NothingThereError, match="there is no table nowhere"):
        await explain(log, StreamId("nowhere"), Version(1))


def test_the_clauses_are_those_of_the_rules() -> None:
    """The English text is word for word that of docs/rules.md; sentences quoted alone are of their clause."""
    rules = " ".join(Path("docs/rules.md").read_text(encoding="utf-8").split())
    for name, clause in CLAUSES.items():
        assert f"- {name} {clause.english}" in rules
        assert len(re.findall("[\u4e00-\u9fff]", clause.chinese)) > 20
    for name, sentences in SENTENCES.items():
        for sentence in sentences:
            assert sentence.english in CLAUSES[name].english
            assert sentence.chinese in CLAUSES[name].chinese


def test_the_command(own_database_dsn: str) -> None:
    """In English, in Chinese, as JSON; 2 for what is no ruling."""

    async def played() -> None:
        async with open_log(own_database_dsn) as log:
            await banned(log, "an", 1)

    asyncio.run(played())
    runner, options = CliRunner(), ["--postgres-dsn", own_database_dsn]
    english = runner.invoke(app, ["explain", "player:an", "1", *options])
    assert english.exit_code == 0
    assert "an is banned (he shouts)" in english.output
    assert "✓ decided again from the log alone" in english.output
    chinese = runner.invoke(app, ["explain", "player:an", "1", "--language", "zh", *options])
    assert "an 被禁止参加牌局" in chinese.output
    told = runner.invoke(app, ["explain", "player:an", "1", "--json", *options])
    assert '"follows":true' in told.output
    assert told.output.startswith('{"stream":"player:an","version":1,')
    assert '"decidedAt":"' in told.output
    assert '"reversedBy":null' in told.output
    assert runner.invoke(app, ["explain", "player:an", "9", *options]).exit_code == 2
