"""What sends flushes, over a pool of a test's own."""

from baohuang.eventlog.postgres.connections import Limits, Pool
from baohuang.eventlog.postgres.flush import Flusher
from baohuang.eventlog.postgres.unanswered import asked_over


def flusher_over(pool: Pool) -> Flusher:
    """Return a flusher, to be entered."""
    return Flusher(pool, asked_over(pool), Limits().answer_seconds)
