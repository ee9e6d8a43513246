"""What a terminal would obey: refused in operators' reasons, and written out where a log from before holds it."""

import ast
import asyncio
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from google.protobuf.message import Message
from typer.testing import CliRunner

from audit.honest import Play, written
from baohuang.eventlog.memory import MemoryLog
from baohuang.eventlog.port import StreamId
from baohuang.eventlog.postgres.log import PostgresLog, open_log
from baohuang.gen.history.v1 import history_service_pb2
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.rules import commands as cmd
from baohuang.rules import events as ev
from baohuang.rules.evolve import evolve
from baohuang.rules.state import PlayerId, TableId
from command_line.demo.telling import tell
from command_line.main import app
from databases import Server
from tables.changes import fine, operator
from tables.clients import fresh
from tables.games import started
from tables.replicas import replica

TABLE = StreamId("01234567-89ab-7def-8123-456789012340")
NOTE = "two\nlines \x1b[31mred \x9b1m \u202eback"
WRITTEN_OUT = r"two\u000alines \u001b[31mred \u009b1m \u202eback"


@pytest.fixture(scope="module")
def played_database(postgres_server: Server, template_database: str) -> Iterator[str]:
    """Give the name of a database with a table closed for a reason that a terminal would obey."""
    with postgres_server.database(template_database) as name:
        asyncio.run(close(postgres_server.dsn_of(name)))
        yield name


async def close(dsn: str) -> None:
    """Open a table, and close it for that reason, as older services let an operator."""
    async with open_log(dsn) as log:
        play = Play(TableId(TABLE), "homy-standard", 1)
        opened = next(play.commands(1))
        await written(log, play.table_id, [opened, play._do(PlayerId("olga"), cmd.CloseTable(NOTE))])


@pytest.mark.parametrize("json", [(), ("--json",)], ids=["in words", "json"])
@pytest.mark.parametrize("command", ["rulings", "history", "explain"])
async def test_what_an_old_log_holds_is_written_out(
    log: PostgresLog, dsn: str, command: str, json: tuple[str, ...]
) -> None:
    """Nothing of it comes to the terminal raw, and nothing is left out."""
    (closed,) = [one.version for one in await log.read_stream(TABLE, limit=100) if one.type == "TableClosed"]
    place = (TABLE, str(closed)) if command == "explain" else ("--table", TABLE)
    done = await asyncio.to_thread(CliRunner().invoke, app, [command, *place, *json, "--postgres-dsn", dsn])
    assert all(line.isprintable() for line in done.output.splitlines()), done.output
    assert ("\\u001b[31mred" in done.output, "\\u009b1m" in done.output, "lines" in done.output) == (True, True, True)


def test_a_ruling_in_words_is_written_out() -> None:
    """So on the screens of players and of the demo."""
    play = Play(TableId(TABLE), "homy-standard", 1)
    _, (first, *_) = next(play.commands(1))
    table = evolve(None, first)
    _, (*_, closed) = play._do(PlayerId("olga"), cmd.CloseTable(NOTE))
    assert isinstance(closed, ev.TableClosed)
    assert tell(closed, table).endswith(WRITTEN_OUT)


def test_commands_print_in_one_way() -> None:
    """No command prints a line that was not written out."""
    for path in Path("services/command_line").rglob("*.py"):
        calls = (one.func for one in ast.walk(ast.parse(path.read_text())) if isinstance(one, ast.Call))
        printing = any(isinstance(func, ast.Name) and func.id == "print" for func in calls)
        assert printing == (path.name == "saying.py"), path


@pytest.mark.parametrize("obeyed", ["\n", "\x1b[31m", "\x7f", "\x9b31m", "\u2028", "\u202e"])
async def test_operators_reasons_are_one_plain_line(obeyed: str) -> None:
    """INVALID_ARGUMENT with the field, for every command that has a reason; nothing is stored."""
    async with replica(MemoryLog()) as service:
        game, judge = await started(service), operator(service)
        fined = await fine(game)
        before, reason = await game.head(), f"two{obeyed}words"
        table_id = game.table_id
        requests: tuple[Message, ...] = (
            pb.CloseTableRequest(request_id=fresh(), table_id=table_id, reason=reason),
            pb.VoidHandRequest(request_id=fresh(), table_id=table_id, reason=reason),
            pb.SetBanRequest(request_id=fresh(), player="bo", banned=True, reason=reason),
            history_service_pb2.ReverseRulingRequest(
                request_id=fresh(), table_id=table_id, version=fined, reason=reason
            ),
        )
        for request in requests:
            refused = await judge.refused(request)
            assert (refused.code, refused.fields) == (grpc.StatusCode.INVALID_ARGUMENT, ("reason",))
        assert await game.head() == before
