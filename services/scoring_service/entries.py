"""The lines of a posting: who gets points from whom. Double entry, so each posting's lines sum to zero."""

from dataclasses import dataclass
from typing import Final, NewType, assert_never

from baohuang.rules.state import PlayerId
from baohuang.scoring.events import FinePosted, FineReturned, HandScored, Posted, PostingSkipped

AccountName = NewType("AccountName", str)
"""`player:` and a player's id, or `house`: so nobody can take the house's name."""

HOUSE: Final = AccountName("house")
_PLAYER: Final = "player:"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line: what is added to an account. `line` is its place in the posting, for a hand the seat."""

    line: int
    account: AccountName
    points: int


def account_of(player: PlayerId) -> AccountName:
    """Return the name of a player's account."""
    return AccountName(f"{_PLAYER}{player}")


def owner_of(account: AccountName) -> PlayerId | None:
    """Return the player whose account it is, None for the house."""
    return PlayerId(account.removeprefix(_PLAYER)) if account.startswith(_PLAYER) else None


def entries_of(posted: Posted) -> tuple[Entry, ...]:
    """Return the lines of a posting; none for a void hand and for one that was skipped."""
    match posted:
        case HandScored(void=True) | PostingSkipped():
            return ()
        case HandScored(seats=seats):
            return tuple(Entry(score.seat, account_of(score.player), score.points) for score in seats)
        case FinePosted(player=player, points=points) | FineReturned(player=player, points=points):
            return (Entry(0, account_of(player), points), Entry(1, HOUSE, -points))
        case _:
            assert_never(posted)
