"""The list of rulings by player that history is asked by, held against the log: it is an index, and has no hashes."""

from collections.abc import AsyncIterator
from typing import Final

from baohuang.audit.findings import Check, Finding
from baohuang.audit.survey import Survey
from baohuang.eventlog.port import NO_VERSION, Position, StreamId

_TOLD: Final = 20
"""Missing lines that are named of each range of positions."""


async def not_listed(survey: Survey, after: Position, to: Position) -> AsyncIterator[Finding]:
    """Tell which rulings after a position up to another are not listed for somebody they are about."""
    for stream_id, version, player in await survey.rulings_not_listed(after, to, _TOLD):
        message = f"the ruling is about {player}, and is not in the list of rulings about him"
        yield Finding(Check.LIST, stream_id, version, message)


async def wrongly_listed(survey: Survey) -> AsyncIterator[Finding]:
    """Tell which lines of the list are of no ruling about that player."""
    async for player, position, place in survey.wrongly_listed():
        stream_id, version = place or (StreamId(""), NO_VERSION)
        message = (
            f"what stands at position {position} is no ruling of several players with {player}, and is listed as one"
        )
        yield Finding(Check.LIST, stream_id, version, message)
