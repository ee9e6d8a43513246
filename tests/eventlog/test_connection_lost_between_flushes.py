"""The connection for appends breaks while no flush is under way: the pool takes it back, and the next flush goes on."""

import asyncpg

from baohuang.eventlog.port import Appended
from baohuang.eventlog.postgres.connections import Limits, open_writer
from baohuang.eventlog.postgres.group_commit import log_commits
from baohuang.eventlog.postgres.log import PostgresLog
from eventlog.commands import accepted, after, command, new_stream
from eventlog.flushing import flusher_over
from eventually import eventually


async def test_a_connection_lost_between_flushes(own_database_dsn: str) -> None:
    """Its server process ends, as by a crash of another one, and the pool learns of it: the next append is carried out.

    So are those after it: the loop that flushes goes on.
    """
    stream_id, limits = new_stream(), Limits()
    async with (
        await open_writer(own_database_dsn, limits) as pool,
        flusher_over(pool) as flusher,
        log_commits(flusher) as commits,
    ):
        log = PostgresLog(commits, pool)
        end = await accepted(log, command(stream_id))
        kept, process = flusher._connection, flusher._connection.get_server_pid()
        admin = await asyncpg.connect(own_database_dsn)
        await admin.execute("select pg_terminate_backend($1)", process)
        await admin.close()

        async def taken_back() -> bool:
            return kept._con is None

        await eventually(taken_back)
        wanted = after(stream_id, end)
        outcome = await log.append(wanted)
        assert isinstance(outcome, Appended)
        assert isinstance(await log.append(after(stream_id, outcome)), Appended)
