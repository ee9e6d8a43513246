"""How much a number in a setting may be: no more than what is made of it can hold, and than anybody means.

Who writes more has mistaken the unit, or left out a point; it would be an overflow somewhere, or never be over.
"""

from typing import Annotated, Final

from pydantic import Field

DAY_SECONDS: Final = 86_400.0
MOST: Final = 1_000_000_000
"""As a count, and as bytes of a message: both are an int32 in grpc."""

Seconds = Annotated[float, Field(ge=0.001, le=DAY_SECONDS)]
"""A time: a millisecond, which is what timers go by, to a day."""
Pause = Annotated[float, Field(ge=0, le=60.0)]
"""A time that somebody else waits for, or none."""
Count = Annotated[int, Field(gt=0, le=MOST)]
Days = Annotated[float, Field(gt=0, le=36_500.0)]
"""Up to a hundred years."""
Milliseconds = Annotated[int, Field(gt=0, le=86_400_000)]
