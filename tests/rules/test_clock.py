"""Instants, and what is later than them."""

from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from baohuang.rules.clock import later
from baohuang.rules.state import Instant


@given(moment=st.datetimes(datetime(2020, 1, 1), datetime(2099, 1, 1)), seconds=st.integers(0, 300))  # noqa: DTZ001 - UTC
def test_later_is_that_many_seconds_later(moment: datetime, seconds: int) -> None:
    """Whatever the microseconds and whatever turns over, the form stays the same, so instants compare as texts."""
    text = Instant(moment.isoformat(timespec="microseconds") + "Z")
    shifted = (moment + timedelta(seconds=seconds)).isoformat(timespec="microseconds") + "Z"
    assert later(text, seconds) == shifted
    assert (later(text, seconds) > text) == (seconds > 0)
