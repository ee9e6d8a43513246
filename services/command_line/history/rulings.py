"""`baohuang rulings`: the rulings of the log that meet every filter."""

from collections.abc import Sequence
from typing import Annotated, Any, Final

import msgspec
import typer

from baohuang.audit.judgement import decided
from baohuang.audit.told import Told
from baohuang.eventlog.chain import instant
from baohuang.eventlog.codec import decode
from baohuang.eventlog.json_codec import CodecError
from baohuang.eventlog.port import StoredEvent, StreamId
from baohuang.history.paging import pages_of_rulings
from baohuang.history.reader import open_history
from baohuang.history.sought import RulingsSought, StoredRuling
from baohuang.rules.events import names_ruling
from baohuang.rules.state import PlayerId
from command_line.audit.asking import PostgresDsn, answered
from command_line.audit.explain import Language
from command_line.history.asking import PAGE, AsJson, Limit, Since, Table, Until, in_utc, known, up_to
from command_line.history.entries import show
from command_line.saying import say

_UNREADABLE: Final = Told("(what is stored is no ruling that this release can read)", "（此版本无法读取所存的裁定）")


def rulings(
    *,
    table: Table = None,
    player: Annotated[str | None, typer.Option(help="about this player, alone or with others")] = None,
    kinds: Annotated[
        list[str] | None, typer.Option("--type", help="of this kind, such as PlayerFined; may be given again")
    ] = None,
    clause: Annotated[str | None, typer.Option(help="by this clause of the rules, such as TRUST-1")] = None,
    since: Since = None,
    until: Until = None,
    limit: Limit = None,
    language: Annotated[Language, typer.Option("--language", help="English or Chinese")] = Language.ENGLISH,
    as_json: AsJson = False,
    postgres_dsn: PostgresDsn,
) -> None:
    """List rulings by table, player, kind, clause and time, newest first; `baohuang explain` tells why.

    Exits with 2 if the log cannot be read.
    """
    sought = RulingsSought(
        stream_id=None if table is None else StreamId(table),
        player=None if player is None else PlayerId(player),
        kinds=known(kinds, names_ruling, "kind of ruling"),
        clause=clause,
        since=in_utc(since),
        until=in_utc(until),
    )
    answered(_list(postgres_dsn, sought, limit, None if as_json else language))


async def _list(dsn: str, sought: RulingsSought, limit: int | None, language: Language | None) -> int:
    async with open_history(dsn, readers=1) as reader:
        async for page in up_to(limit, pages_of_rulings(reader, sought, min(PAGE, limit or PAGE))):
            if language is None:
                _print_json(page)
            else:
                for ruling in page:
                    show(ruling.event, _line(ruling, language))
    return 0


def _print_json(page: Sequence[StoredRuling]) -> None:
    for ruling in page:
        event, data = ruling.event, _data(ruling.event)
        say(
            msgspec.json.encode(
                {
                    "position": event.position,
                    "stream": event.stream_id,
                    "version": event.version,
                    "recordedAt": instant(event.recorded_at),
                    "kind": event.type,
                    "clause": data.get("rule", ""),
                    "players": ruling.players,
                    "decided": _told(event),
                    "decidedAt": data.get("decidedAt", ""),
                    "reversedBy": ruling.reversed_by,
                }
            ).decode()
        )


def _line(ruling: StoredRuling, language: Language) -> str:
    """Say whom a ruling is about and what was decided, by which clause; and whether it still stands."""
    chinese, told = language is Language.CHINESE, _told(ruling.event)
    words = [_data(ruling.event).get("rule", ""), ", ".join(ruling.players), told.chinese if chinese else told.english]
    if ruling.reversed_by is not None:
        words.append(f"已由版本 {ruling.reversed_by} 撤销" if chinese else f"taken back @ {ruling.reversed_by}")
    return "  ".join(filter(None, words))


def _told(event: StoredEvent) -> Told:
    try:
        return decided(decode(event.type, event.data))
    except CodecError:
        return _UNREADABLE


def _data(event: StoredEvent) -> dict[str, Any]:
    data = msgspec.json.decode(event.data)
    return data if isinstance(data, dict) else {}
