from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from baohuang.embedded.errors import DataFolderInUse
from command_line.backend import LocalBackend, MigrationError
from command_line.surroundings import BackendOptions
from up.running import processes


@pytest.fixture
async def backend(data: Path) -> AsyncIterator[LocalBackend]:
    """Give a running backend."""
    async with LocalBackend(BackendOptions(data)) as running:
        yield running


async def status(address: str) -> str:
    """Give what the health of a server says, or the status of the call that failed."""
    async with grpc.aio.insecure_channel(address) as channel:
        try:
            reply = await health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=5)
        except grpc.aio.AioRpcError as error:
            return str(error.code().name)
        return str(health_pb2.HealthCheckResponse.ServingStatus.Name(reply.status))


async def test_a_killed_table_service_is_started_again_in_place(backend: LocalBackend) -> None:
    """Crash and restart, as tests and demonstrations do it: the same address, another process."""
    address, pid = backend.table.address, backend.table.child.pid
    await backend.table.kill()
    assert await status(address) == "UNAVAILABLE"
    assert backend.table.child.exit_code == -9
    await backend.table.start()
    assert (await status(address), backend.table.address) == ("SERVING", address)
    assert backend.table.child.pid != pid


async def test_a_death_is_told_with_name_code_and_log(backend: LocalBackend) -> None:
    """`first_death` waits for the first process to end and says which it was."""
    await backend.table.kill()
    death = await backend.first_death()
    assert (death.name, death.exit_code) == ("table", -9)
    assert f"listening on {backend.table.address}" in death.log_tail


async def test_nothing_runs_after_a_start_that_failed(folder: Path) -> None:
    """The last step fails, a database that is not there: what was started before it is stopped, the folder free."""
    data = folder / "data"
    nowhere = BackendOptions(data, postgres_dsn="postgresql://nobody:x@127.0.0.1:1/none")
    for _ in range(2):
        with pytest.raises(MigrationError):
            async with LocalBackend(nowhere):
                pass
        assert processes(data) == {}


async def test_two_in_one_process_do_not_share_a_folder(backend: LocalBackend, data: Path) -> None:
    """One owner a folder holds within a process as well."""
    with pytest.raises(DataFolderInUse):
        async with LocalBackend(BackendOptions(data)):
            pass
    assert await status(backend.table.address) == "SERVING"


async def test_servers_of_your_own_are_used(own_database_dsn: str, backend: LocalBackend, folder: Path) -> None:
    """With a DSN and a NATS URL given, no embedded server is started and the DSN's database is migrated."""
    other = BackendOptions(folder / "other", own_database_dsn, backend.nats_url)
    async with LocalBackend(other) as second:
        assert await status(second.table.address) == "SERVING"
        assert [line for line in processes(folder / "other").values() if "table_service" not in line] == []
    assert sorted(entry.name for entry in (folder / "other").iterdir()) == ["keys", "lock", "table"]
