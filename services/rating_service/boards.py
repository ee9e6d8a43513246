"""What is read of ratings: players, what changed them, leaderboards."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from baohuang.rpc.reading import Reader
from baohuang.rules.state import PlayerId
from baohuang.scoring.events import PostingNumber
from rating_service.queries import query
from rating_service.ratings import standing_in_row
from rating_service.seasons import Season
from rating_service.skills import Result, Skill
from rating_service.standings import Standing, standing_in

CONSUMER: Final = "rating"
"""The name under which postings are consumed, and under which it is noted how far that has got."""

_PLAYERS: Final = query("players")
_CURRENT_SEASON: Final = query("current_season")
_LIST_CHANGES: Final = query("list_changes")
_LEADERBOARD: Final = query("leaderboard")


@dataclass(frozen=True, slots=True)
class PlayerRating:
    """A player's standing in a season, all his points, and the last posting that was applied to anybody's."""

    standing: Standing
    points: int
    as_of_posting: PostingNumber


@dataclass(frozen=True, slots=True)
class RatingChange:
    """What one hand changed of one player's skill."""

    posting: PostingNumber
    player: PlayerId
    points: int
    season: Season
    table_id: str
    hand: int
    finished_at: datetime
    result: Result
    before: Skill
    after: Skill


@dataclass(frozen=True, slots=True)
class Place:
    """Where a player stands on a board: behind all with a higher ordinal, among equals by his id."""

    ordinal: float
    player: PlayerId


@dataclass(frozen=True, slots=True)
class Ranked:
    """A place on a leaderboard. Players of the same ordinal have the same rank."""

    rank: int
    player: PlayerId
    standing: Standing


class Boards:
    """Reads ratings. All of it raises Unavailable when the database does not answer."""

    def __init__(self, reader: Reader) -> None:
        self._reader: Final = reader

    async def season_now(self) -> Season:
        """Return the current season, by the database's clock."""
        (row,) = await self._reader.fetch(_CURRENT_SEASON)
        return Season(row["season"])

    async def rating(self, player: PlayerId, season: Season | None) -> PlayerRating:
        """Return a player's rating in a season, None being the current one."""
        (rating,) = await self.ratings((player,), season)
        return rating

    async def ratings(self, players: Sequence[PlayerId], season: Season | None) -> Sequence[PlayerRating]:
        """Return players' ratings in a season, None being the current one, in the players' order."""
        return [_rating(row) for row in await self._reader.fetch(_PLAYERS, players, season, CONSUMER)]

    async def changes(
        self, player: PlayerId, season: Season | None, before: PostingNumber, limit: int
    ) -> Sequence[RatingChange]:
        """Return up to `limit` changes of a player, in a season or ever, newest first, older than a posting."""
        rows = await self._reader.fetch(_LIST_CHANGES, player, before, season, limit)
        return [_change(row) for row in rows]

    async def leaderboard(self, season: Season, after: Place | None, limit: int) -> Sequence[Ranked]:
        """Return up to `limit` players of a season, best first, from behind a place on."""
        place = (None, None) if after is None else (after.ordinal, after.player)
        rows = await self._reader.fetch(_LEADERBOARD, season, *place, limit)
        found = [(PlayerId(row["player"]), standing_in_row(row)) for row in rows]
        return ranked(found, better=rows[0]["better"], before=rows[0]["before"]) if rows else ()


def ranked(found: Sequence[tuple[PlayerId, Standing]], *, better: int, before: int) -> Sequence[Ranked]:
    """Rank players who stand in order one behind the other; `better` of the `before` others are above the first."""
    rows: list[Ranked] = []
    for place, (player, standing) in enumerate(found, before + 1):
        rank = better + 1 if not rows else place
        if rows and rows[-1].standing.skill.ordinal == standing.skill.ordinal:
            rank = rows[-1].rank
        rows.append(Ranked(rank, player, standing))
    return rows


def _rating(row: Any) -> PlayerRating:
    last = standing_in_row(row) if row["season"] else None
    return PlayerRating(standing_in(row["asked"], last), row["points"], row["as_of_posting"])


def _change(row: Any) -> RatingChange:
    return RatingChange(
        row["posting"],
        row["player"],
        row["points"],
        row["season"],
        row["table_id"],
        row["hand"],
        row["happened_at"],
        Result(row["result"]),
        Skill(row["mu_before"], row["sigma_before"]),
        Skill(row["mu_after"], row["sigma_after"]),
    )
