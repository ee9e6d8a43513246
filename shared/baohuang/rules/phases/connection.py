"""What is recorded of a player's line: evidence for whoever asks later, never a reason for anything (FINE-5)."""

from baohuang.rules.decision import Decision
from baohuang.rules.events import ConnectionLost, ConnectionRestored
from baohuang.rules.refusals import Refusal, RefusedError
from baohuang.rules.state import Instant, Phase


def report(decision: Decision, seat: int, since: Instant, *, connected: bool) -> None:
    """Record a loss or a return, at most one of each a seat and turn, so that a flapping line cannot flood the log.

    It is dated `since`, when the line was lost or came back; NEVER, or a moment still to come, means now.
    Raises RefusedError ALREADY_REPORTED for one too many or one that is no news, WRONG_PHASE outside a hand.
    """
    hand = decision.hand
    if hand.phase is Phase.SETTLED:
        raise RefusedError(Refusal.WRONG_PHASE, "FINE-5", "the hand is over")
    line, now = hand.connections[seat], decision.command.at
    moment = min(since, now) if since else now
    last = line.restored_in if connected else line.lost_in
    if connected != bool(line.lost_at) or last == hand.turn_version:
        raise RefusedError(Refusal.ALREADY_REPORTED, "FINE-5", "this is recorded, or one like it in this turn")
    player = hand.players[seat]
    decision.emit(ConnectionRestored(seat, player, moment) if connected else ConnectionLost(seat, player, moment))
