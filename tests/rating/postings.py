"""Postings of a ledger for tests, and the messages that carry them."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from baohuang.eventlog.chain import instant
from baohuang.rules.state import Instant, TableId
from baohuang.scoring.events import CODEC, HandScored, Posted, PostingNumber
from baohuang.scoring.messages import message_of
from baohuang.stream.port import Message
from scoring.hands import some_hands
from scoring.recording import START
from scoring_service.scores import posted
from scoring_service.settling import Settles, Settling

TABLE = TableId("01234567-89ab-7def-8123-456789012340")


def posting(number: int, event: Settles, at: datetime = START) -> Posted:
    """Return what the ledger has of an event, as a table's hand of the posting's own number."""
    return posted(PostingNumber(number), Settling(TABLE, number, Instant(instant(at)), event))


def some_postings(count: int, seed: int = 1, step: timedelta = timedelta(hours=1)) -> Sequence[Posted]:
    """Return hands of changing players, some void, with fines between them, so much time apart."""
    events = list(some_hands(count, seed))
    return [posting(number, event, START + number * step) for number, event in enumerate(events, 1)]


def message(posted: Posted) -> Message:
    """Return the message that carries a posting."""
    return message_of(posted.posting, posted.table_id, *CODEC.encode(posted))


def hands_of(postings: Sequence[Posted]) -> Sequence[HandScored]:
    """Return the hands that were scored and are not void."""
    return [one for one in postings if isinstance(one, HandScored) and not one.void]
