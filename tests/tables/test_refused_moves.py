from itertools import combinations

from grpc import StatusCode

from baohuang.gen.rules.v1 import ruleset_pb2
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.rules import commands as cmd
from baohuang.rules.cards import PLAIN, STRENGTH, SWORD, Card, identical
from baohuang.rules.plays import Shape, beats, shape_of
from baohuang.rules.state import Answer, Hand, Phase
from bench.random_player import chance_of
from tables.clients import Client, act, fresh
from tables.games import PLAYERS, Game, started
from tables.replicas import Replica


async def refused(game: Game, seat: int, move: cmd.Move) -> tuple[str, str]:
    """Make a move that the rules have to refuse; give reason and clause. The table must be as it was."""
    before = await game.head()
    found = await game.clients[seat].refused(act(game.table_id, move))
    assert found.code is StatusCode.FAILED_PRECONDITION
    assert await game.head() == before
    return found.reason, found.metadata["rule"]


async def test_the_crown_takes_no_open_solo_by_sword_card(service: Replica) -> None:
    """CROWN-3 is for called-card rulesets; elsewhere the choice is not the seat's to make."""
    game = await started(service)
    turn = turn_of(await game.hand())
    assert await refused(game, turn, cmd.DeclareOpenSolo()) == ("NOT_ELIGIBLE", "CROWN-3")


async def test_a_called_card_is_held_three_or_four_times(service: Replica) -> None:
    """CALL-1: a card of which the emperor holds none, one or two is refused, the right one accepted."""
    game, chance = await started(service, "homy-classic"), chance_of("call")
    await game.reach(Phase.CALL, chance)
    hand = await game.hand()
    seat, own = turn_of(hand), hand.hands[turn_of(hand)]
    wrong = [next(card for card in PLAIN if card not in own), *identical(own, 1)[:1], *identical(own, 2)[:1]]
    for card in wrong:
        assert await refused(game, seat, cmd.CallCard(card)) == ("CANNOT_CALL", "CALL-1")
    assert await refused(game, (seat + 1) % 5, cmd.CallCard(wrong[0])) == ("NOT_YOUR_TURN", "PLAY-1")
    await game.step(chance)
    assert (await game.hand()).phase is Phase.DECLARE


async def test_declarations_are_made_once_and_by_whom_they_belong_to(service: Replica) -> None:
    """DECL-1, 2, 3, 5: what is not a seat's to declare is refused to it alone; an answer stands."""
    game = await started(service)
    await crown_who_has_no_sword(game)
    hand = await game.hand()
    guard, emperor = hand.roles.guard, hand.roles.emperor
    assert guard is not None
    assert emperor is not None
    rebel = next(seat for seat in range(5) if seat not in {guard, emperor})
    for seat, answer, rule in (
        (rebel, Answer.OPEN_GUARD, "DECL-1"),
        (emperor, Answer.OPEN_GUARD, "DECL-1"),
        (emperor, Answer.OPEN_SOLO, "DECL-2"),
        (guard, Answer.REVOLT, "DECL-3"),
        (emperor, Answer.REVOLT, "DECL-3"),
        (emperor, Answer.SURRENDER, "DECL-5"),
    ):
        assert await refused(game, seat, cmd.Declare(answer)) == ("NOT_ELIGIBLE", rule)
    await game.clients[guard].call(act(game.table_id, cmd.Declare(Answer.NONE)))
    assert await refused(game, guard, cmd.Declare(Answer.NONE)) == ("ALREADY_ANSWERED", "3")


async def test_who_is_not_asked_cannot_kick(service: Replica) -> None:
    """DECL-0, KICK-1: the emperor is not asked; a hidden guard is, and is refused the kick alone."""
    game = await started(service, "homy-standard")
    await crown_who_has_no_sword(game)
    for client in game.clients:
        await client.call(act(game.table_id, cmd.Declare(Answer.NONE)))
    hand = await game.hand()
    emperor, guard = hand.roles.emperor, hand.roles.guard
    assert emperor is not None
    assert guard is not None
    assert hand.asked == tuple(seat for seat in range(5) if seat != emperor)
    assert await refused(game, emperor, cmd.AnswerKick(Answer.NONE)) == ("NOT_ELIGIBLE", "DECL-0")
    assert await refused(game, guard, cmd.AnswerKick(Answer.KICK)) == ("NOT_ELIGIBLE", "KICK-1")


async def test_only_legal_sets_are_played(service: Replica) -> None:
    """PLAY-1, SET-1, BEAT-1: the leader must play; cards not held, no set, and a set that does not beat are refused."""
    game, chance = await started(service), chance_of("play")
    await game.reach(Phase.PLAY, chance)
    hand = await game.hand()
    leader, own = turn_of(hand), hand.hands[turn_of(hand)]
    missing = next(card for card in PLAIN if card not in own)
    two = next(pair for pair in combinations(own, 2) if shape_of(pair) is None)
    assert await refused(game, leader, cmd.Pass()) == ("MUST_LEAD", "PLAY-1")
    assert await refused(game, leader, cmd.Play((missing,))) == ("NOT_YOUR_CARDS", "SET-1")
    assert await refused(game, leader, cmd.Play((own[0],) * 5)) == ("NOT_YOUR_CARDS", "SET-1")
    assert await refused(game, leader, cmd.Play(two)) == ("NOT_A_SET", "SET-1")
    assert await refused(game, leader, cmd.Play(())) == ("NOT_A_SET", "SET-1")
    assert await refused(game, leader, cmd.Enthrone()) == ("WRONG_PHASE", "3")
    lead = own[-1]
    await game.clients[leader].call(act(game.table_id, cmd.Play((lead,))))
    follower = turn_of(await game.hand())
    lower = not_beating((await game.hand()).hands[follower], lead)
    assert await refused(game, follower, cmd.Play((lower,))) == ("DOES_NOT_BEAT", "BEAT-1")
    assert await refused(game, leader, cmd.Pass()) == ("NOT_YOUR_TURN", "PLAY-1")


def not_beating(own: tuple[Card, ...], lead: Card) -> Card:
    """Return a card of the hand that does not beat the lead."""
    shape = shape_of((lead,))
    assert shape is not None
    return next(card for card in own if not beats(one(card), shape, False))


def one(card: Card) -> Shape:
    """Return the shape of one card."""
    shape = shape_of((card,))
    assert shape is not None
    return shape


async def test_sixes_are_held(service: Replica) -> None:
    """HOLD-1: with `hold6` a six is refused while its player holds anything else."""
    clients = [Client(service.channel, player) for player in PLAYERS]
    options = ruleset_pb2.Options(short_deck=True, hold6=True)
    opening = pb.OpenTableRequest(request_id=fresh(), ruleset="ourgame-simple", options=options)
    game = Game(service.log, (await clients[0].call(opening)).table_id, clients)
    await game.seat_all()
    await game.all_ready()
    await game.reach(Phase.PLAY, chance_of("sixes"))
    hand = await game.hand()
    seat = turn_of(hand)
    sixes = [card for card in hand.hands[seat] if STRENGTH[card] == STRENGTH[Card("6c")]]
    assert sixes
    assert await refused(game, seat, cmd.Play((sixes[0],))) == ("SIXES_HELD", "HOLD-1")


def turn_of(hand: Hand) -> int:
    """Return the seat whose turn it is."""
    assert hand.turn is not None
    return hand.turn


async def crown_who_has_no_sword(game: Game) -> None:
    """Reach DECLARE with an emperor who has a guard: seats yield until one without the sword card is asked."""
    while (hand := await game.hand()).phase is Phase.CROWN:
        seat = turn_of(hand)
        move = cmd.Yield() if SWORD in hand.hands[seat] else cmd.Enthrone()
        await game.clients[seat].call(act(game.table_id, move))
    assert hand.phase is Phase.DECLARE
