"""Ratings that follow a ledger without NATS between them, and the same computed anew without a database."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from baohuang.database.pool import Pool
from baohuang.rules.state import PlayerId
from baohuang.scoring.events import FinePosted, FineReturned, HandScored, Posted
from baohuang.stream.applying import Apply, Applying
from rating.postings import message
from rating_service.ratings import rate
from rating_service.seasons import Season
from rating_service.skills import Skill
from rating_service.standings import Standing, changes_by
from rating_service.wiring import SUBSCRIPTION


@dataclass(frozen=True, slots=True)
class Ratings:
    """The ratings of a database."""

    pool: Pool

    def replica(self, apply: Apply = rate) -> Applying:
        """Return another replica's consumer."""
        return Applying(self.pool, SUBSCRIPTION, apply)

    async def follow(self, postings: Sequence[Posted]) -> None:
        """Apply postings, in order."""
        await self.replica().take([message(posted) for posted in postings])

    async def standings(self) -> dict[tuple[PlayerId, Season], Standing]:
        """Return all standings."""
        rows = await self.fetch("select * from standings")
        return {
            (row["player"], row["season"]): Standing(
                row["season"], Skill(row["mu"], row["sigma"]), row["won"], row["lost"], row["drawn"]
            )
            for row in rows
        }

    async def points(self) -> dict[PlayerId, int]:
        """Return all points."""
        return {row["player"]: row["points"] for row in await self.fetch("select player, points from players")}

    async def fetch(self, text: str, *arguments: object) -> Sequence[Any]:
        """Ask the ratings' tables."""
        rows: Sequence[Any] = await self.pool.fetch(text, *arguments)
        return rows


def standings_after(postings: Sequence[Posted]) -> dict[tuple[PlayerId, Season], Standing]:
    """Compute all standings from the first posting on."""
    last: dict[PlayerId, Standing] = {}
    standings: dict[tuple[PlayerId, Season], Standing] = {}
    for posted in postings:
        if isinstance(posted, HandScored):
            for change in changes_by(posted, last):
                last[change.player] = standings[change.player, change.after.season] = change.after
    return standings


def points_after(postings: Sequence[Posted]) -> dict[PlayerId, int]:
    """Add up all points, fines included."""
    points: dict[PlayerId, int] = {}
    for posted in postings:
        if isinstance(posted, FinePosted | FineReturned):
            points[posted.player] = points.get(posted.player, 0) + posted.points
        elif isinstance(posted, HandScored) and not posted.void:
            for seat in posted.seats:
                points[seat.player] = points.get(seat.player, 0) + seat.points
    return points
