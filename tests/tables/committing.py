"""A table service that commits and never answers: `python -m tables.committing`, to be killed between the two."""

import asyncio
import sys

import uvloop

from baohuang.eventlog.port import Append, Outcome
from baohuang.eventlog.postgres.log import open_log
from baohuang.rpc.server import RpcServer
from table_service.seeds import DevelopmentSeeds
from table_service.settings import TableSettings
from table_service.wiring import SERVICES, serving
from tables.logs import FrontLog


class NeverAnswers(FrontLog):
    """Appends, and keeps the outcome to itself."""

    async def append(self, command: Append) -> Outcome:
        """Append, and wait for ever."""
        await self.behind.append(command)
        return await asyncio.get_running_loop().create_future()  # type: ignore[no-any-return] # nothing comes of it


async def main(settings: TableSettings) -> None:
    """Serve until killed."""
    server = RpcServer(settings, settings.table_listen)
    async with (
        open_log(settings.postgres_dsn.get_secret_value()) as log,
        serving(server, NeverAnswers(log), DevelopmentSeeds(7)),
    ):
        port = await server.start(*SERVICES)
        sys.stdout.write(f"listening on 127.0.0.1:{port}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(main(TableSettings()))  # type: ignore[call-arg] # from the environment
