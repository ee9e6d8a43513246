"""Instants that the SDK sends, and those that it cannot."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from baohuang.client import (
    DevelopmentIdentity,
    EventsSought,
    HistoryClient,
    MalformedError,
    RulingsSought,
    connect_history,
)
from baohuang.eventlog.port import StreamId
from baohuang.rules.state import PlayerId, TableId
from history_service.serving import Caller
from tables.games import seated
from tables.replicas import Replica

UNAWARE = datetime(2026, 5, 4, 12)  # noqa: DTZ001 (what is to be refused)
AT_NO_TIME_OF_UTC = datetime.max.replace(tzinfo=timezone(timedelta(hours=-5)))


async def refused(client: HistoryClient, table: str, moment: datetime) -> list[tuple[str, str]]:
    """Ask with a moment in every way there is, and give which field was refused, and why."""
    stream_id = StreamId(table)
    found = []
    for reading in (
        client.events(EventsSought(stream_id, since=moment)),
        client.events(EventsSought(stream_id, until=moment)),
        client.stream(EventsSought(stream_id, since=moment)),
        client.rulings(RulingsSought(stream_id, since=moment)),
        client.rulings(RulingsSought(stream_id, until=moment)),
    ):
        with pytest.raises(MalformedError) as caught:
            await anext(reading)
        found += [(one.field, one.description) for one in caught.value.violations]
    with pytest.raises(MalformedError) as caught:
        await client.table_at(TableId(table), moment)
    return found + [(one.field, one.description) for one in caught.value.violations]


async def test_an_instant_without_a_time_zone_is_refused_by_the_client(service: Replica, spectator: Caller) -> None:
    """Every field is named, and that it is the time zone that is missing; so is what UTC cannot tell."""
    table = (await seated(service)).table_id
    async with connect_history(spectator.address, DevelopmentIdentity(PlayerId("spectator"))) as client:
        for moment, why in ((UNAWARE, "time zone"), (AT_NO_TIME_OF_UTC, "no moment")):
            found = await refused(client, table, moment)
            assert [field for field, _ in found] == [
                "filter.since",
                "filter.until",
                "filter.since",
                "since",
                "until",
                "instant",
            ]
            assert all(why in description for _, description in found)


async def test_any_time_zone_will_do(service: Replica, spectator: Caller) -> None:
    """Seconds in the offset included, which RFC 3339 does not have."""
    table = (await seated(service)).table_id
    async with connect_history(spectator.address, DevelopmentIdentity(PlayerId("spectator"))) as client:
        now = datetime.now(UTC) + timedelta(minutes=5)
        wanted = await client.table_at(TableId(table), now)
        for offset in (timedelta(hours=8), timedelta(hours=5, minutes=53, seconds=28)):
            at = now.astimezone(timezone(offset))
            assert await client.table_at(TableId(table), at) == wanted
            assert [one async for one in client.events(EventsSought(StreamId(table), until=at))]
