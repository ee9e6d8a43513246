"""Writing ratings: what a posting of the ledger changes, applied in the ledger's order, each posting once.

The consumer sees to order and redelivery (`baohuang.stream.applying`): one number after the other, and a posting that
cannot be applied holds up the later ones until it can, or until an operator skips it, since ratings depend on order.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, assert_never

from baohuang.database.pool import Connection
from baohuang.rules.state import PlayerId
from baohuang.scoring.events import FinePosted, HandScored, PostingNumber, PostingSkipped
from baohuang.scoring.messages import posted_in
from baohuang.stream.port import Message
from rating_service.queries import query
from rating_service.seasons import Season
from rating_service.skills import Skill
from rating_service.standings import Change, Standing, changes_by, season_of_hand

_LAST_STANDINGS: Final = query("last_standings")
_ADD_POINTS: Final = query("add_points")
_INSERT_CHANGE: Final = query("insert_change")
_PUT_STANDING: Final = query("put_standing")
_NOT_RATED: Final = (None,) * 7


async def rate(connection: Connection, messages: Sequence[Message]) -> None:
    """Apply postings, which come in the ledger's order: an `Apply` of the consumer's. Raises Unprocessable."""
    for message in messages:
        match posted_in(message):
            case HandScored() as score:
                await _apply_hand(connection, score)
            case FinePosted() as fine:
                await _apply_fine(connection, fine)
            case PostingSkipped():
                pass
            case other:
                assert_never(other)


async def last_standings(
    connection: Connection, players: Sequence[PlayerId], season: Season
) -> Mapping[PlayerId, Standing]:
    """Return the last standing in a season or before it of each of the players who has one."""
    rows: Sequence[Any] = await connection.fetch(_LAST_STANDINGS, players, season)
    return {row["player"]: standing_in_row(row) for row in rows}


def standing_in_row(row: Any) -> Standing:
    """Return the standing that a row of `standings` holds."""
    skill = Skill(row["mu"], row["sigma"])
    return Standing(row["season"], skill, row["won"], row["lost"], row["drawn"])


async def _apply_hand(connection: Connection, score: HandScored) -> None:
    players = [seat.player for seat in score.seats]
    changes = changes_by(score, await last_standings(connection, players, season_of_hand(score)))
    if not changes:
        return
    totals = await _add_points(connection, {change.player: change.points for change in changes})
    await connection.executemany(_INSERT_CHANGE, [_change_row(score, change, totals) for change in changes])
    await connection.executemany(_PUT_STANDING, [_standing_row(change) for change in changes])


async def _apply_fine(connection: Connection, fine: FinePosted) -> None:
    totals = await _add_points(connection, {fine.player: fine.points})
    await connection.execute(
        _INSERT_CHANGE,
        *_head(fine.posting, fine.player, fine.points, totals),
        fine.table_id,
        datetime.fromisoformat(fine.fined_at),
        *_NOT_RATED,
    )


async def _add_points(connection: Connection, points: Mapping[PlayerId, int]) -> Mapping[PlayerId, int]:
    """Add to the players' points and return their sums."""
    rows: Sequence[Any] = await connection.fetch(_ADD_POINTS, list(points), list(points.values()))
    return {row["player"]: row["points"] for row in rows}


def _head(posting: PostingNumber, player: PlayerId, points: int, totals: Mapping[PlayerId, int]) -> tuple[object, ...]:
    return (posting, player, points, totals[player])


def _change_row(score: HandScored, change: Change, totals: Mapping[PlayerId, int]) -> tuple[object, ...]:
    before, after = change.before, change.after.skill
    return (
        *_head(score.posting, change.player, change.points, totals),
        score.table_id,
        datetime.fromisoformat(score.finished_at),
        change.after.season,
        score.hand,
        change.result.value,
        before.mu,
        before.sigma,
        after.mu,
        after.sigma,
    )


def _standing_row(change: Change) -> tuple[object, ...]:
    standing = change.after
    skill = standing.skill
    return (
        change.player,
        standing.season,
        skill.mu,
        skill.sigma,
        skill.ordinal,
        standing.won,
        standing.lost,
        standing.drawn,
    )
