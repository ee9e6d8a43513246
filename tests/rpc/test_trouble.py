"""What fails again and again is told when it begins, seldom while it lasts, and when it is over."""

from structlog import get_logger
from structlog.testing import capture_logs

from baohuang.rpc.trouble import AGAIN_SECONDS, Trouble


class Clock:
    """A clock that stands where it is put."""

    now = 1000.0

    def __call__(self) -> float:
        """Read it."""
        return self.now


def test_it_is_told_at_its_beginning_once_a_minute_and_at_its_end() -> None:
    """Twice a second for three minutes: three lines and one for the end; and the same anew the next time."""
    clock = Clock()
    trouble = Trouble(get_logger(), "cannot", "can again", clock=clock)
    with capture_logs() as lines:
        trouble.went_well()
        for _ in range(360):
            trouble.failed("nobody there")
            clock.now += 0.5
        assert trouble.seconds == 180.0
        trouble.went_well()
        trouble.went_well()
        trouble.failed("gone")
    told = [(line["event"], line.get("why"), line.get("for_seconds"), line.get("after_seconds")) for line in lines]
    began = [("cannot", "nobody there", number * AGAIN_SECONDS, None) for number in range(3)]
    assert told == [*began, ("can again", None, None, 180.0), ("cannot", "gone", 0, None)]


def test_it_is_nothing_before_and_afterwards() -> None:
    """Seconds are those of what goes on."""
    clock = Clock()
    trouble = Trouble(get_logger(), "cannot", "can again", clock=clock)
    clock.now += 5
    assert trouble.seconds == 0.0
    trouble.failed("x")
    clock.now += 5
    assert trouble.seconds == 5.0
    trouble.went_well()
    assert trouble.seconds == 0.0
