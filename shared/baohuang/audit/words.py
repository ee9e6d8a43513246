"""Words for what the rules have names for: phases and reasons, as the players' glossary calls them."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from baohuang.audit.told import Told
from baohuang.rules.state import ClosingReason, FineReason, Phase, TrusteeshipReason, UnseatingReason

PHASES: Final[Mapping[Phase, Told]] = MappingProxyType(
    {
        Phase.TRIBUTE: Told("tribute", "进贡"),
        Phase.CROWN: Told("crowning", "登基"),
        Phase.SEIZE: Told("seizing", "抢独"),
        Phase.CALL: Told("the call", "叫保"),
        Phase.DECLARE: Told("declaring", "明保与造反"),
        Phase.KICK: Told("kicking", "踢"),
        Phase.PLAY: Told("play", "出牌"),
        Phase.SETTLED: Told("settlement", "结算"),
        Phase.REDEAL: Told("the redeal", "重新发牌"),
    }
)
TRUSTEESHIPS: Final[Mapping[TrusteeshipReason, Told]] = MappingProxyType(
    {
        TrusteeshipReason.TIMEOUT: Told("the time had run out", "时间用完"),
        TrusteeshipReason.REQUESTED: Told("the player had asked for it", "玩家自己申请"),
        TrusteeshipReason.LEFT: Told("the player had left the table", "玩家离开牌桌"),
        TrusteeshipReason.FORFEITED: Told("the player had forfeited the seat", "玩家强行退出"),
        TrusteeshipReason.KICKED: Told("an operator had removed the player", "玩家被管理员移出"),
    }
)
FINES: Final[Mapping[FineReason, Told]] = MappingProxyType(
    {
        FineReason.FORFEITED: Told("for forfeiting the seat", "强行退出"),
        FineReason.KICKED: Told("being removed by an operator", "被管理员移出"),
    }
)
UNSEATINGS: Final[Mapping[UnseatingReason, Told]] = MappingProxyType(
    {
        UnseatingReason.NOT_READY: Told("not being ready in time", "未及时准备"),
        UnseatingReason.WAITED_TOO_LONG: Told("having waited too long for a hand to begin", "准备后等待开局过久"),
        UnseatingReason.IN_ANOTHER_HAND: Told("being in a hand at another table", "正在另一桌打牌"),
        UnseatingReason.BANNED: Told("being banned", "已被禁止参加牌局"),
    }
)
CLOSINGS: Final[Mapping[ClosingReason, Told]] = MappingProxyType(
    {
        ClosingReason.ABANDONED: Told("as nobody sat at it any more", "因无人就座而关闭"),
        ClosingReason.BY_OPERATOR: Told("by an operator", "由管理员关闭"),
    }
)
