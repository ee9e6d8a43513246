"""The game's events ↔ what is stored of them; see `baohuang.eventlog.json_codec`, whose errors are raised."""

from typing import Final

from baohuang.eventlog.json_codec import Codec
from baohuang.rules.events import EVENT_TYPES, Event

_EVENTS: Final = Codec[Event](EVENT_TYPES)
encode: Final = _EVENTS.encode
"""Write one of the game's events; see `Codec.encode`."""
decode: Final = _EVENTS.decode
"""Read one of the game's events; see `Codec.decode`."""
json_form: Final = _EVENTS.json_form
"""Describe the JSON of one of the game's types of events; see `Codec.json_form`."""
