"""What happened, in words that can be sent to players: of an event nothing but what everybody may know. Pure."""

from typing import assert_never

from baohuang.audit.judgement import decided
from baohuang.audit.told import Names, Told, person, seated
from baohuang.audit.words import PHASES
from baohuang.rules import events as ev
from baohuang.rules.state import FineReason, PlayerId, TrusteeshipReason

_Seating = (
    ev.TableOpened | ev.PlayerSat | ev.PlayerStood | ev.ReadinessSet | ev.SeedCommitted | ev.HandStarted
    | ev.HandFinished
)  # fmt: skip
_Line = ev.ConnectionLost | ev.ConnectionRestored | ev.TrusteeshipCancelled
_Dealing = ev.CardsDealt | ev.TributePaid | ev.TributeReturned | ev.RedealOrdered
_Play = ev.CardsPlayed | ev.Passed | ev.SeatWentOut | ev.RoleRevealed
_Crown = ev.CrownOffered | ev.CrownYielded | ev.EmperorEnthroned | ev.SeizePublished
_Roles = (
    ev.PhaseBegan | ev.Answered | ev.CardCalled | ev.OpenSoloDeclared | ev.DeclarationsPublished | ev.KicksPublished
)  # fmt: skip


def happened(event: ev.Event, names: Names) -> Told:  # noqa: PLR0911 - one line a kind
    """Say what happened."""
    if isinstance(event, _Line):
        return _of_a_line(event)
    if isinstance(event, _Play):
        return _of_play(event, names)
    if isinstance(event, _Dealing):
        return _of_the_deal(event, names)
    if isinstance(event, _Crown):
        return _of_the_crown(event, names)
    if isinstance(event, _Roles):
        return _of_roles(event, names)
    if isinstance(event, _Seating):
        return _of_seating(event)
    told = decided(event)
    return Told(f"ruling: {told.english}", f"裁定：{told.chinese}")


def did(event: ev.Event, names: Names) -> Told:
    """Say what a player did, by the first event that his command brought about: he acts, he does not rule."""
    match event:
        case ev.PlayerFined(seat=seat, player=who, reason=FineReason.FORFEITED):
            return _who_did(seated(who, seat), "forfeited the seat", "强行退出")
        case ev.TrusteeshipEntered(seat=seat, player=who, reason=TrusteeshipReason.REQUESTED):
            return _who_did(seated(who, seat), "asked for trusteeship", "申请托管")
        case ev.TrusteeshipEntered(seat=seat, player=who, reason=TrusteeshipReason.LEFT):
            return _who_did(seated(who, seat), "left the table", "离开牌桌")
        case ev.HandStarted(hand=hand):
            return Told(f"got ready, upon which hand {hand} began", f"准备，随即第 {hand} 局开始")
        case _:
            return happened(event, names)


def _of_a_line(event: _Line) -> Told:
    who = seated(event.player, event.seat)
    match event:
        case ev.ConnectionLost():
            return Told(f"the line of {who.english} was lost", f"{who.chinese}的连接断开")
        case ev.ConnectionRestored():
            return _who_did(who, "was back on the line", "的连接恢复")
        case ev.TrusteeshipCancelled():
            return _who_did(who, "took the seat back from the trustee", "取消托管")
        case _:
            assert_never(event)


def _of_play(event: _Play, names: Names) -> Told:
    who = names.of(event.seat)
    match event:
        case ev.CardsPlayed(cards=cards, automatic=automatic):
            english = f"played {len(cards)} card{'s' if len(cards) > 1 else ''}"
            return _who_did(_or_trustee(who, automatic), english, f"出了 {len(cards)} 张牌")
        case ev.Passed(automatic=automatic):
            return _who_did(_or_trustee(who, automatic), "passed", "过牌")
        case ev.SeatWentOut():
            return _who_did(who, "had no card and was out", "手中无牌，出局")
        case ev.RoleRevealed(solo=True):
            return _who_did(who, "showed a hidden solo", "显出暗独")
        case ev.RoleRevealed():
            return _who_did(who, "showed to be the guard", "显出侍卫身份")
        case _:
            assert_never(event)


def _of_the_deal(event: _Dealing, names: Names) -> Told:
    match event:
        case ev.CardsDealt():
            return Told("the cards were dealt", "发牌")
        case ev.TributePaid():
            return Told("the tribute was paid", "进贡完成")
        case ev.TributeReturned(seat=seat, automatic=automatic):
            return _who_did(_or_trustee(names.of(seat), automatic), "returned tribute", "还贡")
        case ev.RedealOrdered():
            return Told("nobody took the crown, and the cards were to be dealt anew", "无人登基，重新发牌")
        case _:
            assert_never(event)


def _of_the_crown(event: _Crown, names: Names) -> Told:
    match event:
        case ev.CrownOffered(seat=seat):
            return _who_did(names.of(seat), "held the crown card and was asked first", "手持皇牌，最先表态")
        case ev.CrownYielded(seat=seat, automatic=automatic):
            return _who_did(_or_trustee(names.of(seat), automatic), "yielded the crown", "让位")
        case ev.EmperorEnthroned(seat=seat, automatic=automatic, open_solo=True):
            return _who_did(_or_trustee(names.of(seat), automatic), "took the crown by open solo", "以明独登基")
        case ev.EmperorEnthroned(seat=seat, automatic=automatic):
            return _who_did(_or_trustee(names.of(seat), automatic), "took the crown", "登基")
        case ev.SeizePublished(winner=winner):
            nobody = Told("nobody seized the crown", "无人抢独")
            return nobody if winner is None else _who_did(names.of(winner), "seized the crown", "抢独成功")
        case _:
            assert_never(event)


def _of_roles(event: _Roles, names: Names) -> Told:
    match event:
        case ev.PhaseBegan(phase=phase):
            return Told(f"{PHASES[phase].english} began", f"{PHASES[phase].chinese}阶段开始")
        case ev.Answered(seat=seat, automatic=automatic):
            return _who_did(_or_trustee(names.of(seat), automatic), "answered", "已作答")
        case ev.CardCalled(seat=seat, automatic=automatic):
            return _who_did(_or_trustee(names.of(seat), automatic), "called a card", "叫保")
        case ev.OpenSoloDeclared(seat=seat):
            return _who_did(names.of(seat), "declared open solo", "宣布明独")
        case ev.DeclarationsPublished():
            return Told("the declarations were published", "公布明保与造反的结果")
        case ev.KicksPublished():
            return Told("the kicks were published", "公布踢的结果")
        case _:
            assert_never(event)


def _of_seating(event: _Seating) -> Told:  # noqa: PLR0911 - one line an event
    match event:
        case ev.TableOpened(opened_by=opener):
            who = person(opener)
            return Told(f"{who.english} opened the table", f"{who.chinese} 开桌")
        case ev.PlayerSat(seat=seat, player=player):
            return _seated_did(player, seat, "sat down", "就座")
        case ev.PlayerStood(seat=seat, player=player):
            return _seated_did(player, seat, "stood up", "起身")
        case ev.ReadinessSet(seat=seat, player=player, ready=True):
            return _seated_did(player, seat, "got ready", "准备")
        case ev.ReadinessSet(seat=seat, player=player):
            return _seated_did(player, seat, "was not ready any more", "取消准备")
        case ev.SeedCommitted():
            return Told("the service bound itself to the seed of the deal", "服务公布发牌种子的承诺值")
        case ev.HandStarted(hand=hand):
            return Told(f"hand {hand} began", f"第 {hand} 局开始")
        case ev.HandFinished(hand=hand):
            return Told(f"hand {hand} was over", f"第 {hand} 局结束")
        case _:
            assert_never(event)


def _seated_did(player: PlayerId, seat: int, english: str, chinese: str) -> Told:
    return _who_did(seated(player, seat), english, chinese)


def _who_did(who: Told, english: str, chinese: str) -> Told:
    return Told(f"{who.english} {english}", f"{who.chinese}{chinese}")


def _or_trustee(who: Told, automatic: bool) -> Told:  # noqa: FBT001 - the event's own field
    return Told(f"the trustee of {who.english}", f"{who.chinese}的托管") if automatic else who
