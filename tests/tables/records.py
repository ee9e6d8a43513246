"""What the log has of a table, against what its players were answered."""

from collections.abc import Mapping, Sequence

from baohuang.eventlog import chain
from baohuang.eventlog.port import EventLog, StoredEvent
from tables.clients import Outcome
from tables.games import Game


async def check_table(game: Game, answered: Mapping[str, Outcome]) -> None:
    """Check that every answer is in the log, with that version and hash, once; that nothing else is; and the chain."""
    events = await game.events()
    head = await game.head()
    chain.verify_end(chain.verify(chain.start(head.stream_id), events), head)
    stored = by_request(events)
    assert {request_id: (reply.version, reply.hash) for request_id, reply in answered.items()} == {
        request_id: (mine[-1].version, mine[-1].hash) for request_id, mine in stored.items() if request_id in answered
    }
    assert len(stored) == len(answered) + 1  # the table's opening
    for mine in stored.values():
        assert [event.version for event in mine] == list(range(mine[0].version, mine[0].version + len(mine)))


async def check_positions(log: EventLog) -> None:
    """Check that the log has no holes."""
    events = await log.read_all(limit=100_000)
    assert [event.position for event in events] == list(range(1, len(events) + 1))


def by_request(events: Sequence[StoredEvent]) -> dict[str, list[StoredEvent]]:
    """Return the events of each request."""
    found: dict[str, list[StoredEvent]] = {}
    for event in events:
        found.setdefault(event.request_id, []).append(event)
    return found
