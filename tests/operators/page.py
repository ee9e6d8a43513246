"""The worked queries of docs/operations.md, which is where they are written, and what they give.

`python -m operators.page`, with `tests` on the path, asks them of a week's log and writes the answers into the page.
"""

import asyncio
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import asyncpg

from baohuang.embedded.postgres import EmbeddedPostgres
from baohuang.eventlog.postgres.log import open_log
from baohuang.eventlog.postgres.migrations import migrate
from operators.nights import record_week

PATH: Final = Path(__file__).parents[2] / "docs" / "operations.md"
_MADE: Final = re.compile(r"(<!-- made: queries -->\n)(.*?)(<!-- end -->)", re.DOTALL)
_QUERY: Final = re.compile(r"\*\*(.+?)\*\*\n\n```sql\n(.+?)```\n\n```\n(.+?)```\n", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Query:
    """A query of the page, its title, and what the page says that it gives."""

    title: str
    text: str
    output: str


def queries() -> list[Query]:
    """Return the page's queries, in order."""
    found = _MADE.search(PATH.read_text(encoding="utf-8"))
    assert found is not None
    return [Query(*parts) for parts in _QUERY.findall(found[2])]


def commands(title: str) -> str:
    """Return the commands of the page that are marked so, to be given to a shell."""
    (block,) = re.findall(rf"<!-- run: {re.escape(title)} -->\n```\n(.+?)```\n", PATH.read_text("utf-8"), re.DOTALL)
    return str(block)


async def answered(connection: asyncpg.Connection, text: str) -> str:
    """Return what a query gives, as a table of text."""
    statement = await connection.prepare(text)
    heads = [attribute.name for attribute in statement.get_attributes()]
    return "".join(_lines(heads, [[_shown(value) for value in row] for row in await statement.fetch()]))


def _lines(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    columns = [[head, *(row[place] for row in rows)] for place, head in enumerate(heads)]
    widths = [max(map(len, column)) for column in columns]
    for row in (heads, ["-" * width for width in widths], *rows):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield ("  ".join(cells)).rstrip() + "\n"
    yield f"({len(rows)} rows)\n"


def _shown(value: Any) -> str:
    match value:
        case None:
            return ""
        case datetime():
            return value.strftime("%m-%d %H:%M:%S.") + f"{value.microsecond // 1000:03}"
        case _:
            return str(value)


async def _rewritten(page: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        server = EmbeddedPostgres(Path(folder))
        dsn = await server.start()
        try:
            await asyncio.to_thread(migrate, dsn)
            async with open_log(dsn) as log:
                await record_week(log)
            connection = await asyncpg.connect(dsn)
            parts = [
                f"**{query.title}**\n\n```sql\n{query.text}```\n\n```\n{await answered(connection, query.text)}```\n"
                for query in queries()
            ]
            await connection.close()
        finally:
            await server.destroy()
    return _MADE.sub(lambda found: found[1] + "\n".join(parts) + found[3], page)


def main() -> None:
    """Ask, and rewrite the page."""
    page = asyncio.run(_rewritten(PATH.read_text(encoding="utf-8")))
    PATH.write_text(page, encoding="utf-8")
    sys.stdout.write(f"{PATH.name}: {len(queries())} queries asked\n")


if __name__ == "__main__":
    main()
