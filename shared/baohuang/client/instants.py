"""Moments as requests carry them."""

from datetime import UTC, datetime

from baohuang.client.requests import malformed


def instant_text(moment: datetime | None, field: str) -> str:
    """Return a moment as the field of a request holds it (RFC 3339), "" for none.

    Raises MalformedError, which names the field, for one without a time zone: it could be meant in any.
    """
    if moment is None:
        return ""
    if moment.utcoffset() is None:
        raise malformed(field, "has no time zone, such as datetime.UTC: an aware datetime is wanted")
    try:
        return moment.astimezone(UTC).isoformat()
    except OverflowError as error:
        raise malformed(field, "is no moment that there is in UTC") from error
