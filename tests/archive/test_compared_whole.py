"""What is there already is compared whole with a file, not by its hash alone: each change is told, and nothing done."""

import asyncio
from pathlib import Path

import asyncpg
import pytest

from archive.commands import archived, every_event, ran

_EVENT = "update eventlog.events set {} where stream_id = 'table-a' and version = 9"
_HEAD = "update eventlog.heads set {} where stream_id = 'table-a'"
_REPLY = "update eventlog.requests set {} where request_id = 'table-a/0'"
CHANGES = {
    "position": _EVENT.format("position = 100000"),
    "recordedAt": _EVENT.format("recorded_at = recorded_at + interval '1 microsecond'"),
    "type": _EVENT.format("type = 'Nothing'"),
    "actor": _EVENT.format("actor = 'somebody'"),
    "requestId": _EVENT.format("request_id = 'another'"),
    "data": _EVENT.format("""data = data || '{"more": 1}'"""),
    "salt": _EVENT.format("salt = substr(hash, 1, 16)"),
    "hash": _EVENT.format("hash = salt || salt"),
    "summary": _HEAD.format("""summary = summary || '{"handsPlayed": 9}'"""),
    "outcome": _REPLY.format("""outcome = '{"version": 77}'"""),
    "digest": _REPLY.format("digest = 'x'"),
}


@pytest.mark.parametrize("what", CHANGES)
async def test_a_changed_log(source: str, superuser: asyncpg.Connection, tmp_path: Path, what: str) -> None:
    """Whatever of a table was changed, its hashes left alone: both commands name it, and leave log and file alone."""
    (file, *_) = await asyncio.to_thread(archived, source, tmp_path)
    kept = file.read_bytes()
    await superuser.execute(CHANGES[what])
    before = await every_event(source)
    restored = await ran("unarchive", file, "--postgres-dsn", source)
    assert (restored.exit_code, f": {what}" in restored.output) == (1, True), restored.output
    assert await every_event(source) == before
    again = await ran("archive", "table-a", "--to", tmp_path, "--postgres-dsn", source)
    assert again.exit_code == 1
    assert "another record than the log: " in again.output
    assert what in again.output or what == "requestId"  # then the reply is to another request
    assert file.read_bytes() == kept


async def test_a_reply_that_the_log_has_lost(source: str, superuser: asyncpg.Connection, tmp_path: Path) -> None:
    """Is told by `archive`, and put back by `unarchive`."""
    (file, *_) = await asyncio.to_thread(archived, source, tmp_path)
    await superuser.execute("delete from eventlog.requests where request_id = 'table-a/0'")
    told = await ran("archive", "table-a", "--to", tmp_path, "--postgres-dsn", source)
    assert (told.exit_code, "the reply to olga's request table-a/0" in told.output) == (1, True)
    assert (await ran("unarchive", file, "--postgres-dsn", source)).exit_code == 0
    assert (await ran("archive", "table-a", "--to", tmp_path, "--postgres-dsn", source)).exit_code == 0


async def test_a_head_that_was_set_back_to_another_hash(
    source: str, superuser: asyncpg.Connection, tmp_path: Path
) -> None:
    """Is no head to go on from: it is told, not replaced."""
    (file, *_) = await asyncio.to_thread(archived, source, tmp_path)
    await superuser.execute("update eventlog.heads set version = 9, hash = $1 where stream_id = 'table-a'", bytes(32))
    told = await ran("unarchive", file, "--postgres-dsn", source)
    assert (told.exit_code, "at version 9, is another in the log: hash" in told.output) == (1, True)
