"""Whether the record of a table's hand stands, as far as it has come: what is decided from it should follow from it."""

from collections.abc import Sequence

from baohuang.audit.findings import Finding
from baohuang.audit.pausing import Pause, never
from baohuang.audit.stream import StreamAudit
from baohuang.eventlog.port import EventReader, StoredEvent, StreamId, Version
from baohuang.eventlog.reading_back import HAND_STARTED


async def audit_from(log: EventReader, first: StoredEvent) -> StreamAudit:
    """Return an audit that begins with an event. Where the one before it is missing, the audit finds that.

    Raises LogUnavailable.
    """
    before = await log.read_stream(first.stream_id, Version(first.version - 2), 1) if first.version > 1 else ()
    after = before[0] if before and before[0].version == first.version - 1 else None
    return StreamAudit(first.stream_id, after=after)


async def findings_of_last_hand(log: EventReader, stream_id: StreamId, pause: Pause = never) -> Sequence[Finding]:
    """Decide the table's last hand again, to the end of the stream, and return what is wrong with its record.

    Without a hand, all of the stream. Costs the hand. Raises LogUnavailable.
    """
    stored = await log.read_since_last(stream_id, HAND_STARTED)
    if not stored:
        return ()
    audit, found = await audit_from(log, stored[0]), list[Finding]()
    for event in stored:
        found += audit.take(event)
        await pause()
    return (*found, *audit.end_of_command())
