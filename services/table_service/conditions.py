"""On which conditions a command is carried out, beside the rules': at which version, how soon after its decision."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from baohuang.rpc.errors import Reason, StaleVersion, Unavailable
from baohuang.rules.state import PlayerId
from table_service.claims import Kept
from table_service.request import Request
from table_service.tables import HeldTable

_STALE_AFTER: Final = timedelta(seconds=1)
"""As short as the shortest `grace_seconds`, and long for an append, which takes milliseconds."""
_TRIES_IN_TIME: Final = 3


def told_beside(held: HeldTable, player: PlayerId, kept: Kept) -> Mapping[str, str]:
    """Return what a refusal tells the player of himself beside its reason.

    At which other table he plays: to himself alone, since it may be a private one. And since which version a trustee
    plays his seat: whoever loses a race with his deadline learns that he did (TRUST-6).
    """
    told: dict[str, str] = {}
    if elsewhere := kept.hands.get(player):
        told["table_id"] = elsewhere
    hand = held.table.hand if held.table else None
    if hand and player in hand.players and (standing := hand.trusteeships[hand.players.index(player)]).active:
        told["trusteeship_version"] = str(standing.version)
    return told


def latest_for(request: Request, tries: int) -> timedelta | None:
    """Return how long after its reading of the clock a decision may be stored, None for as late as it comes.

    A log that stood still must not have deadlines enforced that nobody could keep, nor turns begin in the past
    (TRUST-5). A log that is slow all the time still takes players' moves; a deadline waits for a better moment, and is
    then decided anew. Raises Unavailable.
    """
    if tries < _TRIES_IN_TIME:
        return _STALE_AFTER
    if request.not_before is not None:
        raise Unavailable(Reason.LOG_UNAVAILABLE, "the event log is too slow to say when a deadline was enforced")
    return None


def check_version(held: HeldTable, request: Request) -> None:
    """Raise StaleVersion unless the table is where the caller expects it, as far as he is shown where it is."""
    if request.expected_version is None:
        return
    seen = held.seen_by(request.player).version if held.table else held.version
    if request.expected_version != seen:
        raise StaleVersion(request.expected_version, seen)
