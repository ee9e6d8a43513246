"""Every event in words: one short line each, of what the event shows and of nothing else.

`table` is the table after the event, for names and roles.
"""

from typing import assert_never

from baohuang.rpc.plain_text import plain
from baohuang.rules import events as ev
from baohuang.rules.settlement import Solo
from baohuang.rules.state import Answer, Phase, Table
from command_line.demo.telling_rulings import tell_ruling, tell_standing
from command_line.demo.words import PLACES, called, faces, listed, names, player_at

_PHASES = {
    Phase.TRIBUTE: "tribute 进贡",
    Phase.CROWN: "the crown 登基",
    Phase.SEIZE: "who seizes the crown? 抢独",
    Phase.CALL: "the call 叫保",
    Phase.DECLARE: "declarations 明保/造反",
    Phase.KICK: "who kicks? 踢",
    Phase.PLAY: "play 出牌",
    Phase.SETTLED: "settled",
    Phase.REDEAL: "a redeal",
}
_SAID = {
    Answer.HIDDEN: "",
    Answer.NONE: "nothing",
    Answer.SEIZE: "seize 抢独",
    Answer.OPEN_GUARD: "open guard 明保",
    Answer.OPEN_SOLO: "open solo 明独",
    Answer.REVOLT: "revolt 造反",
    Answer.SURRENDER: "surrender 投降",
    Answer.KICK: "kick 踢",
}


def tell(event: ev.Event, table: Table) -> str:
    """Return the event in words, what a terminal would obey written out: an operator's reason may hold it."""
    return plain(_told(event, table))


def _told(event: ev.Event, table: Table) -> str:
    match event:
        case ev.CardsPlayed() | ev.Passed() | ev.SeatWentOut() | ev.RoleRevealed():
            return _tell_play(event, table)
        case (
            ev.TableOpened() | ev.PlayerSat() | ev.PlayerStood() | ev.ReadinessSet() | ev.HandStarted()
            | ev.HandFinished()
        ):  # fmt: skip
            return _tell_table(event, table)
        case (
            ev.PlayerUnseated() | ev.TableDissolved() | ev.TableClosed() | ev.PlayerBanned() | ev.PlayerReinstated()
            | ev.PlayerFined() | ev.HandVoided() | ev.FineReversed() | ev.VoidReversed()
        ):  # fmt: skip
            return tell_ruling(event)
        case ev.SeedCommitted() | ev.CardsDealt() | ev.TributePaid() | ev.TributeReturned() | ev.RedealOrdered():
            return _tell_deal(event, table)
        case (
            ev.TrusteeshipEntered() | ev.TrusteeshipMadePermanent() | ev.TrusteeshipCancelled() | ev.TurnExtended()
            | ev.ConnectionLost() | ev.ConnectionRestored()
        ):  # fmt: skip
            return tell_standing(event, table)
        case _:
            return _tell_roles(event, table)


def _tell_play(event: ev.CardsPlayed | ev.Passed | ev.SeatWentOut | ev.RoleRevealed, table: Table) -> str:
    who = called(table, event.seat)
    match event:
        case ev.CardsPlayed():
            out = f" and is out, {PLACES[event.place - 1]} (place {event.place})" if event.place else ""
            return f"{who} plays {faces(event.cards)}{out}"
        case ev.Passed():
            over = f"; {called(table, event.turn)} leads" if event.trick_over else ""
            return f"{who} passes{over}"
        case ev.SeatWentOut():
            return f"{who} has no card and is out"
        case ev.RoleRevealed():
            return f"{who} shows: hidden solo 暗独" if event.solo else f"{who} shows: the guard 侍卫"
        case _:
            assert_never(event)


def _tell_table(
    event: ev.TableOpened | ev.PlayerSat | ev.PlayerStood | ev.ReadinessSet | ev.HandStarted | ev.HandFinished,
    table: Table,
) -> str:
    match event:
        case ev.TableOpened():
            return f"{event.opened_by} opens a table of {event.ruleset}"
        case ev.PlayerSat():
            return f"{event.player} sits down on seat {event.seat}"
        case ev.PlayerStood():
            return f"{event.player} leaves seat {event.seat}"
        case ev.ReadinessSet():
            entropy = f", entropy {event.entropy!r}" if event.entropy else ""
            return f"{event.player} is {'ready' if event.ready else 'not ready'}{entropy}"
        case ev.HandStarted():
            return f"hand {event.hand} starts: {', '.join(event.players)}"
        case ev.HandFinished():
            return _tell_end(event, table)
        case _:
            assert_never(event)


def _tell_end(event: ev.HandFinished, table: Table) -> str:
    if event.surrendered and event.emperor is not None:
        return f"{called(table, event.emperor)} surrendered: the hand is over"
    order = " ".join(player_at(table, seat) for seat in event.places)
    points = " ".join(f"{points:+d}" if points else "0" for points in event.points)
    return f"the hand is over: {order}; points by seat {points}{' (void)' if event.void else ''}"


def _tell_deal(
    event: ev.SeedCommitted | ev.CardsDealt | ev.TributePaid | ev.TributeReturned | ev.RedealOrdered, table: Table
) -> str:
    match event:
        case ev.SeedCommitted():
            return f"the service commits to the seed of hand {event.hand}, deal {event.deal}: {event.commitment[:16]}…"
        case ev.CardsDealt():
            sizes = " ".join(map(str, event.sizes))
            return f"deal {event.deal} from {player_at(table, event.dealer)} on: {sizes} cards"
        case ev.TributePaid():
            paid = (
                f"{called(table, one.payer)} → {called(table, one.receiver)}: {one.count}" for one in event.payments
            )
            return f"tribute is paid: {'; '.join(paid)}"
        case ev.TributeReturned():
            shown = f": {names(event.hidden.cards)}" if event.hidden else ""
            return f"{called(table, event.seat)} returns {event.count} to {called(table, event.payer)}{shown}"
        case ev.RedealOrdered():
            return f"nobody takes the crown: the cards are dealt anew ({event.rule})"
        case _:
            assert_never(event)


def _tell_roles(  # noqa: C901, PLR0911 - one line an event
    event: ev.CrownOffered
    | ev.CrownYielded
    | ev.EmperorEnthroned
    | ev.PhaseBegan
    | ev.Answered
    | ev.SeizePublished
    | ev.CardCalled
    | ev.OpenSoloDeclared
    | ev.DeclarationsPublished
    | ev.KicksPublished,
    table: Table,
) -> str:
    match event:
        case ev.CrownOffered():
            return f"{player_at(table, event.seat)} holds the crown card 皇牌 and is asked first"
        case ev.CrownYielded():
            return f"{player_at(table, event.seat)} yields the crown 让位{_pasted(event)}"
        case ev.EmperorEnthroned():
            return f"{_how_enthroned(event, table)} ({event.rule})"
        case ev.PhaseBegan():
            return f"— {_PHASES[event.phase]} —"
        case ev.Answered():
            said = f": {_SAID[event.hidden.answer]}" if event.hidden else ""
            return f"{called(table, event.seat)} has answered{said}"
        case ev.SeizePublished():
            won = "" if event.winner is None else f"; {called(table, event.winner)} is emperor, open solo"
            return f"seizing 抢独: {listed(table, event.seizers)}{won}"
        case ev.CardCalled():
            return f"{called(table, event.seat)} calls {event.card} 叫保"
        case ev.OpenSoloDeclared():
            return f"{called(table, event.seat)} declares open solo 明独"
        case ev.DeclarationsPublished():
            return f"declared: {_declared(event, table)}"
        case ev.KicksPublished():
            return f"kicking 踢: {listed(table, event.kickers)}"
        case _:
            assert_never(event)


def _pasted(event: ev.CrownYielded) -> str:
    if not event.pasted:
        return ""
    return f" and pastes {event.hidden.card}" if event.hidden else " and pastes a card 贴"


def _how_enthroned(event: ev.EmperorEnthroned, table: Table) -> str:
    forced = "must take" if event.forced else "takes"
    pile = f" with {event.pile - 1} pasted cards" if event.pile > 1 else ""
    solo = ", by open solo 明独" if event.open_solo else ""
    return f"{called(table, event.seat)} {forced} the crown 登基{pile}{solo}"


def _declared(event: ev.DeclarationsPublished, table: Table) -> str:
    parts = []
    if event.surrendered:
        parts.append("surrender 投降")
    if event.open_guard and event.guard is not None:
        parts.append(f"{called(table, event.guard)} goes open 明保")
    if event.solo is not None:
        parts.append("open solo 明独" if event.solo is Solo.OPEN else "hidden solo, forced into the open")
    if event.revolters:
        parts.append(f"revolt 造反 of {listed(table, event.revolters)}{'' if event.revolt else ', which fails'}")
    return "; ".join(parts) or "nothing"
