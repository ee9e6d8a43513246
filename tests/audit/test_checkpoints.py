"""Signed checkpoints: what they say, who may sign them, and what they find that the log itself cannot tell any more."""

import asyncio
import io
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from pathlib import Path

import asyncpg
import pytest
from typer.testing import CliRunner

from audit.forging import Forger, with_fields
from audit.honest import Play, banned, recorded
from baohuang.audit.checkpointing import check_kept, check_stored, make
from baohuang.audit.checkpoints import Checkpoint, Root, Statement, StreamEnd
from baohuang.audit.findings import Check, Finding
from baohuang.audit.kept import KeptFileError, read_ends, read_first, write_end, write_first
from baohuang.audit.signing import SigningKey, SigningKeyError
from baohuang.audit.survey import Survey, open_signing
from baohuang.eventlog.port import Position, StreamId, Version
from baohuang.eventlog.postgres.log import PostgresLog, open_log
from baohuang.rpc.keys import key_set
from baohuang.rules.state import TableId
from command_line.main import app
from databases import Server

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
TABLE = StreamId("table")


@pytest.fixture(scope="module")
def played_database(postgres_server: Server, template_database: str) -> Iterator[str]:
    """Give the name of a database with a table and a player's bans, to copy and never to connect to."""
    with postgres_server.database(template_database) as name:
        asyncio.run(play_all(postgres_server.dsn_of(name)))
        yield name


async def play_all(dsn: str) -> None:
    """Play at a table and ban a player."""
    async with open_log(dsn) as log:
        await recorded(log, Play(TableId(TABLE), "ourgame-simple", 1), hands=1)
        await banned(log, "an", 2)


@pytest.fixture
async def survey(dsn: str) -> AsyncIterator[Survey]:
    """Give its survey."""
    async with open_signing(dsn) as opened:
        yield opened


@pytest.fixture
def key(tmp_path: Path) -> SigningKey:
    """Give a key whose public half is in the set."""
    return SigningKey.made(tmp_path / "signing.pem", tmp_path / "keys.json")


async def kept(survey: Survey, checkpoint: Checkpoint) -> str:
    """Return the file that is kept of a checkpoint."""
    file = io.StringIO()
    write_first(file, checkpoint)
    async for end in survey.ends_at(checkpoint.statement.position):
        write_end(file, end)
    return file.getvalue()


async def against(survey: Survey, text: str, folder: Path) -> list[Finding]:
    """Hold the log against a kept file."""
    keys = key_set((folder / "keys.json").read_bytes()).by_id
    lines = io.StringIO(text[text.index("\n") + 1 :])
    first = read_first(io.StringIO(text))
    return [finding async for finding in check_kept(survey, first, partial(_again, lines), keys)]


def _again(lines: io.StringIO) -> Iterator[StreamEnd]:
    lines.seek(0)
    return read_ends(lines)


async def stored(survey: Survey, folder: Path) -> list[Finding]:
    """Check the log's own checkpoints."""
    keys = key_set((folder / "keys.json").read_bytes()).by_id
    return [finding async for finding in check_stored(survey, keys)]


async def test_an_honest_log_is_what_was_signed(
    log: PostgresLog, survey: Survey, key: SigningKey, tmp_path: Path
) -> None:
    """Also after it went on; and a second checkpoint follows the first, under another key."""
    first = await make(survey, key, NOON)
    assert first is not None
    assert first.statement.streams == 2
    text = await kept(survey, first)
    assert await make(survey, key, NOON) is None
    await banned(log, "bo", 1)
    rotated = SigningKey.made(tmp_path / "next.pem", tmp_path / "keys.json")
    second = await make(survey, rotated, NOON)
    assert second is not None
    assert second.statement.previous == first.statement.digest
    assert await against(survey, text, tmp_path) == []
    assert await against(survey, await kept(survey, second), tmp_path) == []
    assert await stored(survey, tmp_path) == []


Tampering = Callable[[asyncpg.Connection, PostgresLog], Awaitable[object]]


async def _cut(superuser: asyncpg.Connection, log: PostgresLog) -> None:
    """Cut a tail so that the log itself shows nothing: head, counter and all."""
    await superuser.execute("delete from eventlog.events where stream_id = 'player:an' and version = 2")
    await superuser.execute(
        "update eventlog.heads as h set version = 1, hash = e.hash from eventlog.events as e "
        "where h.stream_id = 'player:an' and e.stream_id = 'player:an' and e.version = 1"
    )
    await superuser.execute("update eventlog.counter set last_position = last_position - 1")


async def _remove(superuser: asyncpg.Connection, log: PostgresLog) -> None:
    await superuser.execute("delete from eventlog.events where stream_id = 'player:an'")
    await superuser.execute("delete from eventlog.heads where stream_id = 'player:an'")
    await superuser.execute("update eventlog.counter set last_position = last_position - 2")


async def _make_anew(superuser: asyncpg.Connection, log: PostgresLog) -> None:
    """Change an operator's words, which nothing follows from, with all hashes made anew."""
    await Forger(superuser, log).rewrite(
        StreamId("player:an"),
        lambda events: [with_fields(events[0], note="he sings"), *events[1:]],
    )


@pytest.mark.parametrize(
    ("tampering", "version", "told"),
    [
        (_cut, 2, "it has 1 as its last"),
        (_remove, 2, "the stream was removed: it had 2 events"),
        (_make_anew, 2, "this event had another hash"),
    ],
    ids=["a cut tail", "a removed stream", "a chain made anew"],
)
async def test_what_only_a_checkpoint_tells(  # noqa: PLR0917 - fixtures and parameters
    log: PostgresLog,
    survey: Survey,
    superuser: asyncpg.Connection,
    key: SigningKey,
    tmp_path: Path,
    tampering: Tampering,
    version: int,
    told: str,
) -> None:
    """A tail cut with its head, a stream removed whole, a chain made anew: the stream and the version are named."""
    made = await make(survey, key, NOON)
    assert made is not None
    text = await kept(survey, made)
    await tampering(superuser, log)
    (named,) = await against(survey, text, tmp_path)
    assert (named.check, named.stream_id, named.version) == (Check.CHECKPOINT, "player:an", version)
    assert told in named.message
    (of_all,) = await stored(survey, tmp_path)
    of_streams = (
        "1 streams reach back to it, 2 were signed" if told.startswith("the stream was removed") else "do not end"
    )
    assert of_streams in of_all.message


async def test_a_file_that_is_not_what_was_signed_says_nothing_of_the_log(
    survey: Survey, key: SigningKey, tmp_path: Path
) -> None:
    """A changed line is told as the file's fault, and no stream is said to be another for it."""
    made = await make(survey, key, NOON)
    assert made is not None
    first, *lines = (await kept(survey, made)).splitlines(keepends=True)
    changes = (
        [line.replace('",2,"', '",1,"') for line in lines],
        [*lines[:-1], lines[-1][:-4] + ('0"]\n' if lines[-1][-4] != "0" else '1"]\n')],
        lines[1:],
        [*lines, '["zz",1,"' + "0" * 64 + '"]\n'],
    )
    for change in changes:
        (found,) = await against(survey, first + "".join(change), tmp_path)
        assert found.stream_id == ""
        assert "the log was not held against it: the streams in it are not those that were signed" in found.message


async def test_a_stream_that_was_put_before_a_checkpoint(
    survey: Survey, superuser: asyncpg.Connection, key: SigningKey, tmp_path: Path
) -> None:
    """All that was signed is there, and more than that: the numbers tell, once for each that is asked."""
    made = await make(survey, key, NOON)
    assert made is not None
    text = await kept(survey, made)
    await superuser.execute(
        "insert into eventlog.events select 0, recorded_at, 1, 'zz', type, actor, 'r', data, salt, hash "
        "from eventlog.events where position = 1"
    )
    await superuser.execute("insert into eventlog.heads select 'zz', 1, hash from eventlog.events where position = 0")
    for found in (await against(survey, text, tmp_path), await stored(survey, tmp_path)):
        assert ["3 streams reach back to it, 2 were signed" in one.message for one in found] == [True]


async def test_who_may_sign(survey: Survey, key: SigningKey, tmp_path: Path) -> None:
    """A file changed anywhere, a signature by a key that is not trusted, and one of something else are found."""
    made = await make(survey, key, NOON)
    assert made is not None
    text = await kept(survey, made)
    assert await against(survey, text, tmp_path) == []
    shorter = "".join(text.splitlines(keepends=True)[:-1])
    assert ["not those that were signed" in one.message for one in await against(survey, shorter, tmp_path)] == [True]
    position = made.statement.position
    earlier = text.replace(f'"position":{position}', f'"position":{position - 1}', 1)
    assert any(
        "its signature is not of what it says" in one.message for one in await against(survey, earlier, tmp_path)
    )
    folder = tmp_path / "others"
    folder.mkdir()
    SigningKey.made(folder / "signing.pem", folder / "keys.json")
    assert ["not among those given" in one.message for one in await against(survey, text, folder)] == [True]


async def test_a_removed_checkpoint(
    log: PostgresLog, survey: Survey, superuser: asyncpg.Connection, key: SigningKey, tmp_path: Path
) -> None:
    """Each names the one before it; nobody but a superuser can change one at all."""
    for player in ("bo", "cai", "du"):
        await banned(log, player, 1)
        assert await make(survey, key, NOON) is not None
    with pytest.raises(asyncpg.IntegrityConstraintViolationError):
        await superuser.execute("set session_replication_role = origin; delete from eventlog.checkpoints")
    await superuser.execute("set session_replication_role = replica")
    await superuser.execute(
        "delete from eventlog.checkpoints where position = (select max(position) - 1 from eventlog.checkpoints)"
    )
    assert ["the one before it was removed" in one.message for one in await stored(survey, tmp_path)] == [True]


async def test_the_last_checkpoint_removed(
    survey: Survey, superuser: asyncpg.Connection, key: SigningKey, tmp_path: Path
) -> None:
    """The newest has none behind it that names it: the file does."""
    made = await make(survey, key, NOON)
    assert made is not None
    text = await kept(survey, made)
    await superuser.execute("delete from eventlog.checkpoints")
    assert ["does not hold it any more" in one.message for one in await against(survey, text, tmp_path)] == [True]


async def test_two_at_once(log: PostgresLog, dsn: str, survey: Survey, key: SigningKey) -> None:
    """Of two checkpoints made at the same time one is stored: no two follow the same."""
    async with open_signing(dsn) as other:
        made = await asyncio.gather(make(survey, key, NOON), make(other, key, NOON), return_exceptions=True)
    assert sum(isinstance(one, Checkpoint) for one in made) == 1
    assert all(one is None or isinstance(one, Checkpoint | asyncpg.UniqueViolationError) for one in made)


def test_the_documented_form() -> None:
    """A checkpoint can be checked by anybody with SHA-256 and Ed25519: pinned, since files that are kept last."""
    root = Root()
    root.add(StreamEnd(StreamId("a"), Version(3), bytes(32)))
    assert root.value == sha256(bytes((0, 0, 0, 1)) + b"a" + bytes((0, 0, 0, 0, 0, 0, 0, 3)) + bytes(32)).digest()
    statement = Statement(Position(7), NOON, 1, bytes(32), bytes(32), key_set.__name__)  # type: ignore[arg-type]
    assert statement.text == (
        b'{"keyId":"key_set","madeAt":"2026-05-04T12:00:00.000000Z","position":7,"previous":"'
        + b"0" * 64
        + b'","root":"'
        + b"0" * 64
        + b'","streams":1}'
    )


@pytest.mark.parametrize(
    "text", ["", "[]\n", '["a",1,"00"]\n', '{"statement":{},"signature":""}\n', '{"signature":"xy"}\n'], ids=repr
)
def test_a_file_that_is_none(text: str) -> None:
    """Whatever else stands in the file is named by its line."""
    with pytest.raises(KeptFileError, match="line 1 "):
        read_first(io.StringIO(text))
    with pytest.raises(KeptFileError, match="line 2 "):
        list(read_ends(io.StringIO('["a",1,"00"]\n')))


def test_keys(tmp_path: Path, key: SigningKey) -> None:
    """A key is its owner's alone, is not written over, and can be read back."""
    path = tmp_path / "signing.pem"
    assert SigningKey.read(path).key_id == key.key_id
    with pytest.raises(SigningKeyError, match="exists already"):
        SigningKey.made(path, tmp_path / "keys.json")
    path.chmod(0o644)
    with pytest.raises(SigningKeyError, match="open to other users"):
        SigningKey.read(path)


def test_the_commands(dsn: str, tmp_path: Path) -> None:
    """Make a key, make a checkpoint, verify against it; cut a tail, verify again."""
    runner, key, keys, file = CliRunner(), tmp_path / "k.pem", tmp_path / "k.json", tmp_path / "kept"

    def run(*arguments: object) -> tuple[int, str]:
        result = runner.invoke(app, [str(argument) for argument in arguments])
        return result.exit_code, result.output

    assert run("checkpoint-key", "--key", key, "--keys", keys)[0] == 0
    database = ("--postgres-dsn", dsn)
    assert run("checkpoint", "--key", key, "--to", file, *database)[1].startswith("made: position")
    assert run("checkpoint", "--key", key, "--to", file, *database)[0] == 2
    code, again = run("checkpoint", "--key", key, "--json", *database)
    assert (code, json.loads(again)["made"], len(json.loads(again)["root"])) == (0, False, 64)
    against = ("verify", "--checkpoints", file, "--keys", keys, *database)
    assert run(*against)[0] == 0
    asyncio.run(cut(dsn))
    code, told = run(*against)
    assert code == 1
    assert "✗ checkpoint: player:an at version 2: events are missing" in told
    assert run("verify", "--checkpoints", file, *database)[0] == 2
    assert run("verify", "--checkpoints", keys, "--keys", keys, *database)[0] == 2


async def cut(dsn: str) -> None:
    """Cut a tail."""
    connection = await asyncpg.connect(dsn)
    await connection.execute("set session_replication_role = replica")
    async with open_log(dsn, readers=1) as log:
        await _cut(connection, log)
    await connection.close()
