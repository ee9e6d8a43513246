"""Why a command is refused: one exception, its reason a word of the cases' vocabulary, its rule a clause id."""

from enum import Enum


class Refusal(Enum):
    """The reasons, in the order in which they are checked."""

    NO_SUCH_TABLE = "NO_SUCH_TABLE"
    TABLE_EXISTS = "TABLE_EXISTS"
    TABLE_CLOSED = "TABLE_CLOSED"
    NO_SUCH_SEAT = "NO_SUCH_SEAT"
    NOT_SEATED = "NOT_SEATED"
    ALREADY_SEATED = "ALREADY_SEATED"
    SEAT_TAKEN = "SEAT_TAKEN"
    IN_ANOTHER_HAND = "IN_ANOTHER_HAND"
    BANNED = "BANNED"
    HAND_IN_PROGRESS = "HAND_IN_PROGRESS"
    ENTROPY_TOO_LONG = "ENTROPY_TOO_LONG"
    WRONG_PHASE = "WRONG_PHASE"
    NOT_YOUR_TURN = "NOT_YOUR_TURN"
    NOT_ELIGIBLE = "NOT_ELIGIBLE"
    ALREADY_ANSWERED = "ALREADY_ANSWERED"
    CANNOT_CALL = "CANNOT_CALL"
    NOT_YOUR_CARDS = "NOT_YOUR_CARDS"
    NOT_A_SET = "NOT_A_SET"
    SIXES_HELD = "SIXES_HELD"
    DOES_NOT_BEAT = "DOES_NOT_BEAT"
    MUST_LEAD = "MUST_LEAD"
    NOT_DUE = "NOT_DUE"
    ALREADY_REPORTED = "ALREADY_REPORTED"
    ALREADY_TRUSTEE = "ALREADY_TRUSTEE"
    NOT_TRUSTEE = "NOT_TRUSTEE"
    PERMANENT_TRUSTEESHIP = "PERMANENT_TRUSTEESHIP"
    ALREADY_FORFEITED = "ALREADY_FORFEITED"
    ALREADY_BANNED = "ALREADY_BANNED"
    NOT_BANNED = "NOT_BANNED"
    NOT_A_RULING = "NOT_A_RULING"
    NOT_REVERSIBLE = "NOT_REVERSIBLE"
    ALREADY_REVERSED = "ALREADY_REVERSED"


class RefusedError(Exception):
    """The command changes nothing. `rule` is the clause that says so, `player` whom it is about if not who commands."""

    def __init__(self, reason: Refusal, rule: str, message: str, player: str = "") -> None:
        super().__init__(message)
        self.reason = reason
        self.rule = rule
        self.message = message
        self.player = player
