"""Between the contract's messages and ratings: what comes in is checked here, and nowhere else.

Every wrong field is a MalformedInput that names it by its proto path.
"""

import re
from collections.abc import Sequence
from math import isfinite
from typing import Final

from baohuang.eventlog.chain import instant
from baohuang.gen.rating.v1 import rating_service_pb2 as pb
from baohuang.rpc.auth import caller_id
from baohuang.rpc.errors import MalformedInput
from baohuang.rpc.paging import not_ours, parts_in, size_of, token_of
from baohuang.rules.levels import level_of
from baohuang.rules.state import PlayerId
from baohuang.scoring.events import PostingNumber
from rating_service.boards import Place, PlayerRating, Ranked, RatingChange
from rating_service.seasons import Season, season_named
from rating_service.skills import Skill

_NUMBER: Final = re.compile(r"[0-9]{1,10}", re.ASCII)
PLAYERS_AT_ONCE: Final = 1000
_BEYOND: Final = PostingNumber(2**31 - 1)


def player_in(text: str, field: str = "player") -> PlayerId:
    """Return the player named. Raises MalformedInput."""
    player = caller_id(text)
    if player is None:
        raise MalformedInput.field(field, "1 to 64 of A-Z a-z 0-9 . _ @ : -, the first a letter or digit")
    return PlayerId(player)


def players_in(texts: Sequence[str]) -> Sequence[PlayerId]:
    """Return the players named. Raises MalformedInput."""
    if len(texts) > PLAYERS_AT_ONCE:
        raise MalformedInput.field("players", f"at most {PLAYERS_AT_ONCE}")
    return [player_in(text, f"players[{number}]") for number, text in enumerate(texts)]


def season_in(text: str) -> Season | None:
    """Return the season named, None if none is. Raises MalformedInput."""
    season = season_named(text)
    if text and season is None:
        raise MalformedInput.field("season", "must be a year and a quarter, such as 2026Q4")
    return season


def changes_before(request: pb.ListRatingChangesRequest) -> tuple[PostingNumber, int]:
    """Return the posting to begin before, and the page size. Raises MalformedInput."""
    size, parts = size_of(request), parts_in(request, 1)
    if parts is None:
        return _BEYOND, size
    if not _NUMBER.fullmatch(parts[0]) or int(parts[0]) > _BEYOND:
        raise not_ours()
    return PostingNumber(int(parts[0])), size


def board_after(request: pb.ListLeaderboardRequest) -> tuple[Season | None, Place | None, int]:
    """Return the season of a page's token or else of its request, the place to begin behind, and the page size.

    The token keeps the season, so that a board which is being paged does not change at the turn of a quarter.
    Raises MalformedInput.
    """
    size, parts, asked = size_of(request), parts_in(request, 3), season_in(request.season)
    if parts is None:
        return asked, None, size
    season, player = season_named(parts[0]), caller_id(parts[2])
    if season is None or player is None or asked not in {None, season}:
        raise not_ours()
    return season, Place(_ordinal(parts[1]), PlayerId(player)), size


def rating_message(player: PlayerId, rating: PlayerRating) -> pb.Rating:
    """Return the message of a rating."""
    standing, level = rating.standing, level_of(rating.points)
    return pb.Rating(
        player=player,
        season=standing.season,
        skill=_skill_message(standing.skill),
        hands=standing.hands,
        won=standing.won,
        lost=standing.lost,
        drawn=standing.drawn,
        points=rating.points,
        level=pb.Level(number=level.number, title=level.title),
        as_of_posting=rating.as_of_posting,
    )


def changes_message(changes: Sequence[RatingChange], size: int) -> pb.ListRatingChangesResponse:
    """Return the page of `size` changes out of as many or one more."""
    page = changes[:size]
    token = token_of(str(page[-1].posting)) if len(changes) > size else ""
    return pb.ListRatingChangesResponse(changes=map(_change_message, page), next_page_token=token)


def board_message(season: Season, ranked: Sequence[Ranked], size: int) -> pb.ListLeaderboardResponse:
    """Return the page of `size` places out of as many or one more."""
    page = ranked[:size]
    token = ""
    if len(ranked) > size:
        token = token_of(season, page[-1].standing.skill.ordinal.hex(), page[-1].player)
    return pb.ListLeaderboardResponse(season=season, places=map(_place_message, page), next_page_token=token)


def _change_message(change: RatingChange) -> pb.RatingChange:
    return pb.RatingChange(
        posting=change.posting,
        player=change.player,
        season=change.season,
        table_id=change.table_id,
        hand=change.hand,
        finished_at=instant(change.finished_at),
        result=pb.Result.Value(change.result.value),
        points=change.points,
        before=_skill_message(change.before),
        after=_skill_message(change.after),
    )


def _place_message(ranked: Ranked) -> pb.LeaderboardPlace:
    standing = ranked.standing
    return pb.LeaderboardPlace(
        rank=ranked.rank,
        player=ranked.player,
        skill=_skill_message(standing.skill),
        hands=standing.hands,
        won=standing.won,
    )


def _skill_message(skill: Skill) -> pb.Skill:
    return pb.Skill(mu=skill.mu, sigma=skill.sigma, ordinal=skill.ordinal)


def _ordinal(text: str) -> float:
    try:
        ordinal = float.fromhex(text)
    except (ValueError, OverflowError) as error:
        raise not_ours() from error
    if not isfinite(ordinal):
        raise not_ours()
    return ordinal
