"""Writing ratings: what postings of the ledger change, applied in the ledger's order, each posting once.

The consumer sees to order and redelivery (`baohuang.stream.applying`): one number after the other, and a posting that
cannot be applied holds up the later ones until it can, or until an operator skips it, since ratings depend on order.

Postings that come together are computed one after the other in memory, and written together.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, assert_never

from baohuang.database.pool import Connection
from baohuang.rules.state import Instant, PlayerId
from baohuang.scoring.events import FinePosted, FineReturned, HandScored, Posted, PostingSkipped
from baohuang.scoring.messages import posted_in
from baohuang.stream.port import Message
from rating_service.queries import query
from rating_service.seasons import Season
from rating_service.skills import Skill
from rating_service.standings import Change, Standing, changes_by, season_of_hand

_LAST_STANDINGS: Final = query("last_standings")
_ADD_POINTS: Final = query("add_points")
_INSERT_CHANGES: Final = query("insert_changes")
_PUT_STANDINGS: Final = query("put_standings")
_NOT_RATED: Final = (None,) * 7

Row = tuple[object, ...]


@dataclass(slots=True)
class _Written:
    """What postings change, gathered to be written together: rows of `changes`, and the last of each standing."""

    changes: list[Row] = field(default_factory=list)
    points: dict[PlayerId, int] = field(default_factory=dict)
    standings: dict[tuple[PlayerId, Season], Standing] = field(default_factory=dict)

    def add(self, player: PlayerId, points: int, row: Row) -> None:
        """Gather what one posting changes of one player."""
        self.points[player] = self.points.get(player, 0) + points
        self.changes.append((player, points, *row))


async def rate(connection: Connection, messages: Sequence[Message]) -> None:
    """Apply postings, which come in the ledger's order: an `Apply` of the consumer's. Raises Unprocessable."""
    for together in _by_season(map(posted_in, messages)):
        await _apply(connection, together)


def standing_in_row(row: Any) -> Standing:
    """Return the standing that a row of `standings` holds."""
    skill = Skill(row["mu"], row["sigma"])
    return Standing(row["season"], skill, row["won"], row["lost"], row["drawn"])


def _by_season(postings: Iterable[Posted]) -> Iterable[Sequence[Posted]]:
    """Divide postings where the season of their hands changes; those without a season go with the others."""
    together: list[Posted] = []
    season: Season | None = None
    for posted in postings:
        if isinstance(posted, HandScored) and season_of_hand(posted) != season:
            if season is not None:
                yield together
                together = []
            season = season_of_hand(posted)
        together.append(posted)
    yield together


async def _apply(connection: Connection, together: Sequence[Posted]) -> None:
    """Apply postings, the hands of which are all of one season."""
    written = _Written()
    last = await _last_standings(connection, [posted for posted in together if isinstance(posted, HandScored)])
    for posted in together:
        match posted:
            case HandScored() as score:
                _gather_hand(written, score, last)
            case FinePosted() as fine:
                _gather_fine(written, fine, fine.fined_at)
            case FineReturned() as returned:
                _gather_fine(written, returned, returned.returned_at)
            case PostingSkipped():
                pass
            case other:
                assert_never(other)
    await _write(connection, written)


async def _last_standings(connection: Connection, hands: Sequence[HandScored]) -> dict[PlayerId, Standing]:
    """Return the last standing, in the season of these hands or before it, of each of their players who has one."""
    if not hands:
        return {}
    players = sorted({seat.player for hand in hands for seat in hand.seats})
    rows: Sequence[Any] = await connection.fetch(_LAST_STANDINGS, players, season_of_hand(hands[0]))
    return {row["player"]: standing_in_row(row) for row in rows}


def _gather_hand(written: _Written, score: HandScored, last: dict[PlayerId, Standing]) -> None:
    for change in changes_by(score, last):
        written.add(change.player, change.points, _change_row(score, change))
        written.standings[change.player, change.after.season] = last[change.player] = change.after


def _gather_fine(written: _Written, fine: FinePosted | FineReturned, at: Instant) -> None:
    """LVL-1: fines, and what returns of them, change points and level, and rate nobody."""
    written.add(fine.player, fine.points, (fine.posting, fine.table_id, datetime.fromisoformat(at), *_NOT_RATED))


async def _write(connection: Connection, written: _Written) -> None:
    if not written.changes:
        return
    rows: Sequence[Any] = await connection.fetch(_ADD_POINTS, list(written.points), list(written.points.values()))
    before = {row["player"]: row["points"] - written.points[row["player"]] for row in rows}
    await connection.execute(_INSERT_CHANGES, *_columns(_with_totals(written.changes, before)))
    if standings := [_standing_row(player, standing) for (player, _), standing in written.standings.items()]:
        await connection.execute(_PUT_STANDINGS, *_columns(standings))


def _columns(rows: Iterable[Row]) -> Iterable[Row]:
    return zip(*rows, strict=True)


def _with_totals(changes: Sequence[Row], before: Mapping[PlayerId, int]) -> Iterable[Row]:
    """Give each change behind the player's points after it."""
    totals: dict[Any, Any] = dict(before)
    for change in changes:
        player, points, *_ = change
        totals[player] += points
        yield (totals[player], *change)


def _change_row(score: HandScored, change: Change) -> Row:
    before, after = change.before, change.after.skill
    return (
        score.posting,
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


def _standing_row(player: PlayerId, standing: Standing) -> Row:
    skill = standing.skill
    return (
        player,
        standing.season,
        skill.mu,
        skill.sigma,
        skill.ordinal,
        standing.won,
        standing.lost,
        standing.drawn,
    )
