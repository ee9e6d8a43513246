"""Ratings in a database of the test's own."""

from collections.abc import AsyncIterator

import pytest

from rating.following import Ratings
from rating_service.wiring import open_ratings


@pytest.fixture
async def ratings(own_database_dsn: str) -> AsyncIterator[Ratings]:
    """Give ratings before the first posting."""
    async with await open_ratings(own_database_dsn) as pool:
        yield Ratings(pool)
