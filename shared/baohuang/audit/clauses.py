"""The clauses that rulings cite, in the words of `docs/rules.md` and in Chinese; and what of them one is sent."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from baohuang.rules import events as ev


@dataclass(frozen=True, slots=True)
class Clause:
    """What a clause of the rules says. The English text is the normative one."""

    english: str
    chinese: str


CLAUSES: Final[Mapping[str, Clause]] = MappingProxyType(
    {
        "TRUST-1": Clause(
            "A seat enters trusteeship when its time runs out (`TIMEOUT`), when its player asks (`REQUESTED`), "
            "or when its player leaves the table during a hand (`LEFT`).",
            "座位在以下情况进入托管：时间用完、玩家自己申请、玩家在一局中离开牌桌。",
        ),
        "TRUST-3": Clause(
            "The player may cancel at any time and keeps every card still in hand; but the **fourth** entry in "
            "one hand is permanent for that hand [超过三次].",
            "玩家可随时取消托管，手中剩余的牌全部保留；但同一局中第四次进入托管后，托管持续到该局结束（超过三次）。",
        ),
        "TRUST-4": Clause(
            "When the hand ends: if any seat is in trusteeship the table is dissolved; if all five are, the "
            "hand is void and not scored.",
            "一局结束时：只要有座位处于托管，牌桌即解散；五个座位全部托管时，该局作废，不计分。",
        ),
        "TRUST-5": Clause(
            "The service's own delay is never the player's fault: a deadline that is overdue by more than "
            "`grace_seconds` (default 3) when its expiry is decided is not enforced; the turn is extended by a "
            "full turn's time, and the extension is recorded with the clock readings. So the log alone shows "
            "why. One turn is extended as often as that happens [choice].",
            "服务自身的延迟不算玩家的过错：裁定超时的时候，若期限已过去超过宽限时间（默认 3 秒），则不执行该"
            "期限；本轮延长一整轮的时间，延长连同时钟读数一起记录，因此仅凭记录即可看出原因。同一轮可多次"
            "延长。",
        ),
        "FINE-2": Clause(
            "`ForfeitSeat` (强行退出) and an operator's `KickPlayer`: the player is fined at once, the seat is "
            "played under permanent trusteeship to the end of the hand, other seats are unaffected.",
            "强行退出和管理员移出玩家：该玩家立即被罚分，座位由永久托管打到该局结束，其他座位不受影响。",
        ),
        "FINE-3": Clause(
            "−20 before the roles are settled (before the first moment at which emperor and guard are both "
            "determined: the crown accepted in sword-card rulesets with no seize to come, the seize won or, "
            "with a sword card, refused by all; the call made, or open solo declared instead), −40 from then "
            "to the end of the hand. Outside a hand: no fine.",
            "身份确定之前罚 20 分（身份确定，是指皇帝和侍卫都已确定的最初时刻：有侍卫牌且没有抢独的规则中为登基"
            "；抢独成功，或有侍卫牌的规则中无人抢独；叫保完成，或改为明独）；从此直到该局结束罚 40 分；一局之外"
            "不罚分。",
        ),
        "FINE-6": Clause(
            "A player has a seat in at most one unfinished hand; to sit elsewhere he finishes or forfeits.",
            "一名玩家同时只能在一局未结束的牌中就座；要在别处就座，须先打完或强行退出。",
        ),
        "RULE-1": Clause(
            "Every ruling (trusteeship entered, refused, permanent; extension; fine; void; dissolution) is an "
            "event of its own, carrying the clause id, its reason, the clock readings and the versions of the "
            "events it rests on, so that it can be re-derived from the log alone. An operator may reverse a "
            "fine or a void with a compensating event naming the ruling; nothing is ever edited.",
            "每项裁定（进入托管、拒绝、永久托管、延长、罚分、作废、解散）都是一个独立的事件，写明条款编号、理由"
            "、时钟读数和所依据的事件版本，因此仅凭记录即可重新推出。管理员可用一个写明该裁定的补偿事件撤销罚分"
            "或作废；任何记录都不修改。",
        ),
        "TABLE-1": Clause(
            "A table is opened with a ruleset and options; players sit where they like, stand up, get ready "
            "(开始); five ready players start a hand; after a hand all must be ready again. A sitter who is "
            "not ready in time may be unseated. Anyone may watch (public view), optionally delayed by "
            "`spectator_delay` plays.",
            "牌桌按规则和选项开设；玩家自由就座、起身、准备（开始）；五人都准备好即开始一局；一局之后须全部重新"
            "准备。就座后未及时准备的玩家可以被请离座位。任何人都可以旁观（公开视角），可设定延迟若干手"
            "牌。",
        ),
    }
)

_UNKNOWN: Final = Clause("(no text of this clause is kept here)", "（此处未收录该条款的文本）")
_RULING: Final = Clause(
    "Every ruling (trusteeship entered, refused, permanent; extension; fine; void; dissolution) is an event of its "
    "own, carrying the clause id, its reason, the clock readings and the versions of the events it rests on, so that "
    "it can be re-derived from the log alone.",
    "每项裁定（进入托管、拒绝、永久托管、延长、罚分、作废、解散）都是一个独立的事件，写明条款编号、理由、时钟读数和"
    "所依据的事件版本，因此仅凭记录即可重新推出。",
)
_REVERSAL: Final = Clause(
    "An operator may reverse a fine or a void with a compensating event naming the ruling; nothing is ever edited.",
    "管理员可用一个写明该裁定的补偿事件撤销罚分或作废；任何记录都不修改。",
)
_FOURTH: Final = Clause(
    "the **fourth** entry in one hand is permanent for that hand",
    "同一局中第四次进入托管后，托管持续到该局结束（超过三次）。",
)
_NOT_READY: Final = Clause(
    "A sitter who is not ready in time may be unseated.", "就座后未及时准备的玩家可以被请离座位。"
)
SENTENCES: Final[Mapping[str, tuple[Clause, ...]]] = MappingProxyType(
    {"RULE-1": (_RULING, _REVERSAL), "TRUST-3": (_FOURTH,), "TABLE-1": (_NOT_READY,)}
)
"""Of the longer clauses, what is quoted alone."""
_PLAIN: Final = (
    (" (`TIMEOUT`)", ""),
    (" (`REQUESTED`)", ""),
    (" (`LEFT`)", ""),
    ("`ForfeitSeat`", "[forfeiting the seat]"),
    ("an operator's `KickPlayer`", "[being removed by an operator]"),
    ("`grace_seconds`", "[the grace]"),
    ("`spectator_delay` plays", "[some] plays"),
    (" [choice]", ""),
    (" [超过三次]", ""),
    ("**", ""),
)
"""What is put in the place of code names and marks, in brackets as one does in a quotation."""


def clause_of(ruling: ev.Event) -> Clause:
    """Return what a player is sent of the clause a ruling was made by: what matters of it, without code names."""
    clause = _quoted(ruling)
    english = clause.english
    for code, plain in _PLAIN:
        english = english.replace(code, plain)
    return Clause(english, clause.chinese)


def _quoted(ruling: Any) -> Clause:
    match ruling:
        case ev.FineReversed() | ev.VoidReversed():
            return _REVERSAL
        case ev.TrusteeshipMadePermanent(rule="TRUST-3"):
            return _FOURTH
        case ev.PlayerUnseated(rule="TABLE-1"):
            return _NOT_READY
        case _:
            return _RULING if ruling.rule == "RULE-1" else CLAUSES.get(ruling.rule, _UNKNOWN)
