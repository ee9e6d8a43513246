# ruff: noqa: ASYNC240 - a test's few looks at small files
import json
import os
import shutil
import signal
import socket
from pathlib import Path

import asyncpg

from up.running import ALONE, SERVICES, as_ordinary_user, dsn_of, eventually, processes, up

SERVERS = ("postgres", "nats", *SERVICES)


async def test_it_serves_until_ctrl_c_and_leaves_no_process(folder: Path) -> None:
    """Start, all SERVING, Ctrl-C: how to get a token, exit code 0, no process left, an orderly database, JSON logs."""
    data = folder / "data"
    async with up(data) as started:
        await started.ready()
        for service in SERVICES:
            assert await started.serving(service)
            assert f"{service:<12}{started.address_of(service)}" in started.printed
        assert len(processes(data)) > len(SERVERS)
        assert await started.interrupt() == 0
    assert f"baohuang token --player NAME --data {data}" in started.printed
    assert "stopped" in started.printed
    assert processes(data) == {}
    assert "database system is shut down" in (data / "postgres/postgres.log").read_text()
    for service in SERVICES:
        lines = (data / service / "log").read_text().splitlines()
        lines.remove(f"listening on {started.address_of(service)}")
        assert {"serving", "draining"} <= {json.loads(line)["event"] for line in lines}


async def test_started_again_it_finds_everything(data: Path) -> None:
    """SIGTERM ends it as well; the second start has the same addresses, the same rows and a migrated event log."""
    async with up(data) as first:
        await first.ready()
        connection = await asyncpg.connect(dsn_of(first))
        await connection.execute("CREATE TABLE kept AS SELECT 42 AS n")
        await connection.close()
        addresses = [first.address_of(service) for service in SERVICES]
        assert await first.interrupt(signal.SIGTERM) == 0
    async with up(data) as second:
        await second.ready()
        connection = await asyncpg.connect(dsn_of(second))
        assert await connection.fetchval("SELECT n FROM kept") == 42
        assert await connection.fetchval("SELECT to_regclass('eventlog.events') IS NOT NULL")
        await connection.close()
        assert await second.serving()
        assert [second.address_of(service) for service in SERVICES] == addresses


async def test_after_a_kill_the_next_start_works_at_once(data: Path) -> None:
    """Kill -9 of `up`: its servers may still run or be ending when the next one comes; that one serves."""
    async with up(data, *ALONE) as killed:
        await killed.ready()
        killed.process.kill()
        await killed.process.wait()
        async with up(data, *ALONE) as again:
            await again.ready()
            assert await again.serving()
            assert await again.interrupt() == 0
    await eventually(lambda: processes(data) == {})


async def test_a_second_one_on_the_same_folder_is_told_whose_it_is(data: Path) -> None:
    """The second exits with 1, naming the first's process and the folder; the first serves on."""
    async with up(data, *ALONE) as first:
        await first.ready()
        async with up(data, *ALONE) as second:
            assert await second.end() == 1
        assert f"{data} is in use by process {first.process.pid}" in second.printed
        assert await first.serving()


async def test_known_cards_take_unknown_callers(data: Path) -> None:
    """--dev-seed without --insecure-dev is refused at once, and says so; nothing is started."""
    async with up(data, "--dev-seed", "7") as refused:
        assert await refused.end() == 2
    assert "--insecure-dev" in refused.printed
    assert not (data / "table").exists()


async def test_a_taken_port_is_named(data: Path) -> None:
    """The port asked for is another program's: exit code 1, the address in the message, nothing left running."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        async with up(data, *ALONE, "--port", address.rpartition(":")[2]) as started:
            assert await started.end() == 1
    assert f"cannot listen on {address}" in started.printed
    assert "Traceback" not in started.printed
    assert processes(data) == {}


async def test_a_child_that_dies_is_started_again(data: Path) -> None:
    """Killed one after another behind its back: told by name and exit code, up again in place, all serves; Ctrl-C."""
    async with up(data) as started:
        await started.ready()
        for victim in SERVERS:
            pid = _pid(data, victim)
            os.kill(pid, signal.SIGKILL)
            await started.says(f"{victim} is up again")
            assert f"{victim} ended with exit code -9" in started.printed
            assert _pid(data, victim) != pid
        for service in SERVICES:
            assert f"{service:<12}{started.address_of(service)}" in started.printed
            assert await started.serving(service)
        await started.opens_a_table()
        assert await started.interrupt() == 0
    assert processes(data) == {}


async def test_a_service_not_to_run_has_to_be_one(data: Path) -> None:
    """--without takes names of services, and tells them."""
    async with up(data, "--without", "tables") as refused:
        assert await refused.end() == 2
    assert "'tables' is not one of scoring, rating, matchmaking, bots" in refused.printed


async def test_keys_of_yours_take_a_token_of_yours(data: Path) -> None:
    """--jwks without --service-token is refused at once, and says so: matchmaking could open no table."""
    async with up(data, "--jwks", "keys.json") as refused:
        assert await refused.end() == 2
    assert "--service-token" in refused.printed
    assert not (data / "table").exists()


async def test_ctrl_c_while_a_server_is_started_again(data: Path) -> None:
    """PostgreSQL is killed, and Ctrl-C comes before it is back: all is stopped in order, exit code 0."""
    async with up(data, *ALONE) as started:
        await started.ready()
        os.kill(_pid(data, "postgres"), signal.SIGKILL)
        await started.says("postgres ended")
        assert await started.interrupt() == 0
    assert "postgres is up again" not in started.printed
    assert processes(data) == {}


async def test_ctrl_c_during_the_first_start_is_no_trouble(folder: Path) -> None:
    """Interrupted while the cluster is made: exit code 0, nothing runs, and the next start works."""
    data = folder / "data"
    async with up(data, *ALONE) as interrupted:
        await eventually((data / "postgres/initdb.log").exists)
        assert await interrupted.interrupt() == 0
    assert processes(data) == {}
    async with up(data, *ALONE) as started:
        await started.ready()
        assert await started.serving()


async def test_an_ordinary_user_needs_nothing_special(anybodys_folder: Path) -> None:
    """All of it runs as an ordinary user: every process is his and none is root's."""
    data = anybodys_folder / "data"
    async with up(data, prefix=as_ordinary_user(), cwd=anybodys_folder) as started:
        await started.ready()
        assert await started.serving()
        owners = {Path(f"/proc/{pid}").stat().st_uid for pid in processes(data)}
        assert await started.interrupt() == 0
    assert len(owners) == 1
    assert 0 not in owners


async def test_a_folder_of_another_user_is_named(anybodys_folder: Path) -> None:
    """An ordinary user on a folder he may not write to: exit code 1 and the path, no traceback."""
    closed = anybodys_folder / "closed"
    closed.mkdir(mode=0o555)
    async with up(closed / "data", prefix=as_ordinary_user(), cwd=anybodys_folder) as started:
        assert await started.end() == 1
    assert f"Permission denied: '{closed}/data'" in started.printed
    assert "Traceback" not in started.printed


async def test_a_checkout_closed_to_others_works(folder: Path) -> None:
    """The data folder lies where only we may go, as under /root: it serves, and comes back after a stop."""
    folder.chmod(0o700)
    data = folder / "data"
    outside = []
    for _ in range(2):
        async with up(data, *ALONE) as started:
            await started.ready()
            assert await started.serving()
            outside.append((data / "postgres").resolve())
            assert await started.interrupt() == 0
    assert outside[0] == outside[1]
    _remove_stand_in(data, outside[0])


def _pid(data: Path, server: str) -> int:
    files = {"postgres": "postgres/data/postmaster.pid", "nats": "nats/nats.pid"}
    return int((data / files.get(server, f"{server}/pid")).read_text().split()[0])


def _remove_stand_in(data: Path, home: Path) -> None:
    """Remove what a server could not keep under the data folder, if there is such a thing."""
    if home.parent != data.resolve():
        shutil.rmtree(home.parent)
