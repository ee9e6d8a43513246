"""Events and rulings on a screen: two lines each, and none is cut or broken, however wide it is."""

from baohuang.eventlog.chain import instant
from baohuang.eventlog.port import StoredEvent
from command_line.saying import say


def show(event: StoredEvent, told: str) -> None:
    """Print where and when an event was recorded, in a form to be copied; and below it what is told of it."""
    say(f"{instant(event.recorded_at)}  {event.stream_id} @ {event.version}")
    say(f"    {told}")
