"""Moments as requests carry them."""

from datetime import UTC, datetime

from baohuang.client.errors import MalformedError, Refusal
from baohuang.rpc.errors import FieldViolation
from baohuang.rpc.reason import Reason


def instant_text(moment: datetime | None, field: str) -> str:
    """Return a moment as the field of a request holds it (RFC 3339), "" for none.

    Raises MalformedError, which names the field, for one without a time zone: it could be meant in any.
    """
    if moment is None:
        return ""
    if moment.utcoffset() is None:
        raise _malformed(field, "has no time zone, such as datetime.UTC: an aware datetime is wanted")
    try:
        return moment.astimezone(UTC).isoformat()
    except OverflowError as error:
        raise _malformed(field, "is no moment that there is in UTC") from error


def _malformed(field: str, description: str) -> MalformedError:
    violation = FieldViolation(field, description)
    return MalformedError(Refusal(Reason.INVALID_FIELD, f"{field}: {description}", violations=(violation,)))
