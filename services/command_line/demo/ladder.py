"""What is printed of the way to the table and of what came of the hand: tickets, seats, points, ratings, the ladder."""

from collections.abc import Sequence
from typing import Final

from rich import box
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from baohuang.client import HandScored, Matched, RatingChange, Result, Ticket
from baohuang.scoring.events import Role
from command_line.demo.aftermath import Aftermath
from command_line.demo.headings import print_heading
from command_line.demo.queueing import Queued, Seated
from command_line.demo.words import EMPEROR, GUARD, PLACES, REBEL

_ROLES: Final = {Role.EMPEROR: EMPEROR, Role.GUARD: GUARD, Role.REBEL: REBEL}
_RESULTS: Final = {Result.WON: "won 胜", Result.LOST: "lost 负", Result.DRAWN: "drawn 平"}
_ID: Final = 8
"""How much of an id is shown."""


def print_tickets(console: Console, queued: Queued) -> None:
    """Print who queued and how."""
    leader, friend, *alone = queued.tickets
    print_heading(console, "tickets 排队", "matchmaking: each player queues himself, friends by a code")
    _print_ticket(console, leader, f"leads a party of {leader.party.size}, and hands out its code")
    _print_ticket(console, friend, f"joins {leader.player} with the code")
    for ticket in alone:
        _print_ticket(console, ticket, "alone")
    console.print(Text(f"  {queued.players_waiting} waited in the queue when the fifth came"))


def print_match(console: Console, seated: Seated) -> None:
    """Print who sits where."""
    matched = seated.matched
    print_heading(console, "match 配桌", f"{_short(matched.match_id)} after {_seconds(seated.seconds)}")
    console.print(Text(f"  table {matched.table_id}: {_seats(matched)}"), soft_wrap=True)


def print_score(console: Console, after: Aftermath) -> None:
    """Print each seat's points, how they came about, and its player's account."""
    score = after.score
    told = f"scoring: posting {score.posting} of the ledger, {_seconds(after.score_seconds)} after the hand"
    print_heading(console, "score 结算", told)
    grid = _grid(("seat", "player", "role", "place"), ("base", "points", "account"))
    for seat, account in zip(score.seats, after.accounts, strict=True):
        place = "–" if seat.place is None else f"{seat.place} {PLACES[seat.place - 1]}"
        role = "–" if seat.role is None else _ROLES[seat.role]
        numbers = (_signed(seat.base_points), _signed(seat.points), _signed(account.balance))
        grid.add_row(str(seat.seat), seat.player, role, place, *numbers, style="bold" if seat.points > 0 else "")
    console.print(grid)
    console.print(Text(f"  {_derivation(score)}"), soft_wrap=True)


def print_ratings(console: Console, after: Aftermath) -> None:
    """Print what the hand changed of each player's rating, and his level."""
    told = f"rating: Plackett-Luce, the crown against the rebels, {_seconds(after.rating_seconds)} after the hand"
    print_heading(console, "ratings 等级分", told)
    grid = _grid(("player", "hand"), ("skill before", "skill after", "level"))
    for change, rating in zip(after.changes, after.ratings, strict=True):
        level = f"{rating.level.number} {rating.level.title}"
        grid.add_row(change.player, _RESULTS[change.result], *_skills(change), level)
    console.print(grid)


def print_leaderboard(console: Console, after: Aftermath) -> None:
    """Print the ladder of the season."""
    print_heading(console, "leaderboard 排行榜", f"season {after.ratings[0].season}, by μ − 3σ")
    grid = _grid(("rank", "player"), ("rating", "hands", "won"))
    for place in after.places:
        numbers = (f"{place.skill.ordinal:.2f}", str(place.hands), str(place.won))
        grid.add_row(str(place.rank), place.player, *numbers, style="bold" if place.rank == 1 else "")
    console.print(grid)


def _print_ticket(console: Console, ticket: Ticket, how: str) -> None:
    console.print(Text(f"  {_short(ticket.ticket_id)}  {ticket.player:<6}{how}"), soft_wrap=True)


def _seats(matched: Matched) -> str:
    return " · ".join(f"{seat} {player}" for seat, player in enumerate(matched.players))


def _derivation(score: HandScored) -> str:
    """Return what gave the points."""
    if score.void:
        return "void: no points"
    doubled = "".join(f", ×{one.factor} {one.rule} {one.reason}" for one in score.doublings)
    return f"base points by {score.rule}{doubled or ', nothing doubled them'}"


def _skills(change: RatingChange) -> Sequence[str]:
    return [f"{skill.mu:.2f} ± {skill.sigma:.2f}" for skill in (change.before, change.after)]


def _grid(left: Sequence[str], right: Sequence[str]) -> Grid:
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=True)
    for heading in left:
        grid.add_column(heading)
    for heading in right:
        grid.add_column(heading, justify="right")
    return grid


def _short(text: str) -> str:
    return text[:_ID]


def _seconds(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms"


def _signed(points: int) -> str:
    return f"{points:+d}" if points else "0"
