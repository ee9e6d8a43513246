"""`baohuang history`: the events of the log that meet every filter."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any

import msgspec
import typer

from baohuang.eventlog.chain import instant
from baohuang.eventlog.port import StoredEvent, StreamId
from baohuang.history.paging import pages_of_events
from baohuang.history.reader import open_history
from baohuang.history.sought import EventsSought, Order
from baohuang.rules.events import EVENT_TYPES
from baohuang.rules.state import PlayerId
from command_line.audit.asking import PostgresDsn, answered
from command_line.history.asking import PAGE, AsJson, Limit, Since, Table, Until, in_utc, known, up_to
from command_line.history.entries import show
from command_line.saying import say

Tell = Callable[[Sequence[StoredEvent]], None]


def history(
    *,
    table: Table = None,
    player: Annotated[str | None, typer.Option(help="that his commands brought about, or that name him")] = None,
    types: Annotated[list[str] | None, typer.Option("--type", help="of this type; may be given again")] = None,
    rulings: Annotated[bool, typer.Option("--rulings", help="rulings only")] = False,
    since: Since = None,
    until: Until = None,
    newest: Annotated[bool, typer.Option("--newest", help="newest first")] = False,
    limit: Limit = None,
    as_json: AsJson = False,
    postgres_dsn: PostgresDsn,
) -> None:
    """List events by table, player, type and time, without what is hidden in them.

    Exits with 2 if the log cannot be read.
    """
    sought = EventsSought(
        stream_id=None if table is None else StreamId(table),
        player=None if player is None else PlayerId(player),
        types=known(types, EVENT_TYPES.__contains__, "type of event"),
        rulings=rulings,
        since=in_utc(since),
        until=in_utc(until),
    )
    order = Order.NEWEST_FIRST if newest else Order.OLDEST_FIRST
    answered(_list(postgres_dsn, sought, order, limit, _print_json if as_json else _print))


async def _list(dsn: str, sought: EventsSought, order: Order, limit: int | None, tell: Tell) -> int:
    async with open_history(dsn, readers=1) as reader:
        async for page in up_to(limit, pages_of_events(reader, sought, order, min(PAGE, limit or PAGE))):
            tell(page)
    return 0


def _print(events: Sequence[StoredEvent]) -> None:
    for event in events:
        show(event, _line(event))


def _print_json(events: Sequence[StoredEvent]) -> None:
    for event in events:
        say(
            msgspec.json.encode(
                {
                    "position": event.position,
                    "stream": event.stream_id,
                    "version": event.version,
                    "recordedAt": instant(event.recorded_at),
                    "type": event.type,
                    "actor": event.actor,
                    "data": _public(event),
                    "hash": event.hash.hex(),
                }
            ).decode()
        )


def _line(event: StoredEvent) -> str:
    what = msgspec.json.encode(_public(event)).decode()
    return f"#{event.position}  {event.type} by {event.actor}: {what}"


def _public(event: StoredEvent) -> Any:
    data = msgspec.json.decode(event.data)
    if isinstance(data, dict):
        data.pop("hidden", None)
    return data
