"""Verification finds nothing in what was really played, whatever was played and ruled."""

from collections import Counter

import pytest

from audit.honest import Play, banned, found, recorded, written
from baohuang.audit.log import LogAudit
from baohuang.eventlog.memory import MemoryLog
from baohuang.rules.rulesets import RULESETS
from baohuang.rules.state import TableId

RULINGS = {
    "TrusteeshipEntered", "TrusteeshipMadePermanent", "TrusteeshipCancelled", "PlayerFined", "HandVoided",
    "TurnExtended", "PlayerUnseated", "TableClosed", "TableDissolved", "ConnectionLost", "ConnectionRestored",
    "RedealOrdered", "PlayerBanned", "PlayerReinstated", "FineReversed", "VoidReversed",
}  # fmt: skip


async def test_nothing_is_found_in_honest_play() -> None:
    """Hands of all six rulesets, with rulings of every kind: each command follows, each deal can be made again."""
    log = MemoryLog()
    streams = [
        await recorded(log, Play(TableId(f"{name}-{seed}"), name, seed), hands=2)
        for name in RULESETS
        for seed in range(4)
    ]
    streams.append(await recorded(log, Play(TableId("dealt again"), "ourgame-simple", 6), hands=1))
    streams.append(await banned(log, "an", 3))
    trusted = Play(TableId("trusted"), "homy-standard", 1)
    streams.append(await written(log, trusted.table_id, trusted.all_trustees()))
    audit = LogAudit(log)
    for stream_id in streams:
        assert await found(audit.stream(stream_id)) == []
    types = Counter(event.type for event in await log.read_all(limit=1_000_000))
    assert RULINGS - set(types) == set()
    assert audit.tally.events == types.total()


@pytest.mark.parametrize("page", [1, 7])
async def test_pages_do_not_matter(page: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However few events a read takes, a command that spans two of them is decided whole."""
    monkeypatch.setattr("baohuang.audit.log._PAGE", page)
    log = MemoryLog()
    stream_id = await recorded(log, Play(TableId("paged"), "homy-weihai", 1), hands=1)
    audit = LogAudit(log)
    assert await found(audit.stream(stream_id)) == []
    assert audit.tally.events == len(await log.read_stream(stream_id, limit=100_000))
