"""`baohuang export`: the record of a finished hand, out of the log."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from baohuang.eventlog.json_codec import CodecError
from baohuang.eventlog.postgres.log import open_reader
from baohuang.handrecord import HandRecord, NoSuchHand, StillPlayed, hand_of, public, write_record
from baohuang.rules.state import TableId
from command_line.audit.asking import DIFFERENT, PostgresDsn, answered, cannot_tell
from command_line.saying import complain


def export(
    table: Annotated[str, typer.Argument(help="the table's id")],
    *,
    hand: Annotated[int | None, typer.Option(min=1, help="the hand's number; by default the last finished one")] = None,
    for_public: Annotated[bool, typer.Option("--public", help="only what everybody was shown")] = False,
    output: Annotated[Path | None, typer.Option(help="a new file; by default standard output")] = None,
    postgres_dsn: PostgresDsn,
) -> None:
    """Write the record of a finished hand (docs/hand-record.md) to standard output, or to a new file.

    Exits with 1 if there is no such hand or it is still being played, 2 if that cannot be told.
    """
    if output is not None and output.exists():
        raise typer.BadParameter(f"{output} exists already", param_hint="--output")
    answered(_export(postgres_dsn, TableId(table), hand, output, for_public=for_public))


async def _export(dsn: str, table_id: TableId, number: int | None, output: Path | None, *, for_public: bool) -> int:
    try:
        record = await record_in_log(dsn, table_id, number)
    except (NoSuchHand, StillPlayed) as error:
        complain(f"not exported: {error}")
        return DIFFERENT
    except CodecError as error:
        cannot_tell(error)
    document = write_record(public(record) if for_public else record)
    if output is None:
        sys.stdout.buffer.write(document)
        return 0
    with output.open("xb") as file:
        file.write(document)
    return 0


async def record_in_log(dsn: str, table_id: TableId, number: int | None) -> HandRecord:
    """Return the full record of a table's hand. Raises as `hand_of` does, and OSError if there is no database."""
    async with open_reader(dsn, readers=1) as log:
        return await hand_of(log, table_id, number)
