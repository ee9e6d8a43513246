from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import grpc
import pytest

from baohuang.gen.rating.v1 import rating_service_pb2 as pb
from baohuang.rpc.paging import token_of
from baohuang.rules.levels import level_of
from baohuang.rules.state import PlayerId
from rating.following import Ratings, points_after, standings_after
from rating.postings import hands_of, posting, some_postings
from rating_service.boards import ranked
from rating_service.queries import query
from rating_service.seasons import Season, season_of
from rating_service.skills import NEW_PLAYER, Skill, reset
from rating_service.standings import Standing
from rating_service.wiring import SERVICES, register
from scoring.hands import fined, finished_hands
from scoring.serving import Caller, channel_to

POSTINGS = some_postings(40, step=timedelta(days=4))
SEASONS = sorted({season for _, season in standings_after(POSTINGS)})
PAGE = 3


@pytest.fixture
async def caller(ratings: Ratings) -> AsyncIterator[Caller]:
    """Give somebody who may ask a service that has applied the postings."""
    await ratings.follow(POSTINGS)
    async with channel_to(lambda server: register(server, ratings.pool), *SERVICES) as channel:
        yield Caller(channel, role="operator")


def bits(skill: pb.Skill) -> tuple[str, str, str]:
    """Return a skill to the bit."""
    return skill.mu.hex(), skill.sigma.hex(), skill.ordinal.hex()


def bits_of(skill: Skill) -> tuple[str, str, str]:
    """Return a skill to the bit."""
    return skill.mu.hex(), skill.sigma.hex(), skill.ordinal.hex()


async def test_a_rating_is_what_the_postings_give(caller: Caller) -> None:
    """Skill to the bit, tallies, points and level of every player in every season he played in."""
    points = points_after(POSTINGS)
    for (player, season), standing in standings_after(POSTINGS).items():
        rating = (await caller.call(pb.GetRatingRequest(player=player, season=season))).rating
        assert bits(rating.skill) == bits_of(standing.skill)
        assert (rating.won, rating.lost, rating.drawn) == (standing.won, standing.lost, standing.drawn)
        assert (rating.hands, rating.season) == (standing.hands, season)
        assert rating.points == points[player]
        assert (rating.level.number, rating.level.title) == (
            level_of(points[player]).number,
            level_of(points[player]).title,
        )
        assert rating.as_of_posting == len(POSTINGS)


async def test_a_season_not_played_begins_where_the_last_one_ended(caller: Caller) -> None:
    """The reset is told before the first hand; before any season he played in, he is a new player."""
    (player, season), last = max(standings_after(POSTINGS).items(), key=lambda one: one[0][1])
    later = (await caller.call(pb.GetRatingRequest(player=player, season="2031Q2"))).rating
    assert (bits(later.skill), later.hands, later.season) == (bits_of(reset(last.skill)), 0, "2031Q2")
    earlier = (await caller.call(pb.GetRatingRequest(player=player, season="2019Q1"))).rating
    assert (bits(earlier.skill), earlier.hands) == (bits_of(NEW_PLAYER), 0)
    assert season <= "2031Q2"


async def test_who_never_played_is_a_new_player(caller: Caller) -> None:
    """Everybody has a rating, in the current season if none is named, at level 1."""
    rating = (await caller.call(pb.GetRatingRequest(player="nobody-yet"))).rating
    assert bits(rating.skill) == bits_of(NEW_PLAYER)
    assert (rating.points, rating.level.number, rating.hands) == (0, 1, 0)
    assert rating.season == season_of(datetime.now(UTC))


async def test_many_ratings_are_what_each_is_alone(caller: Caller) -> None:
    """In the order asked for, twice where asked twice, newcomers among them; none for nobody."""
    players = ["bo", "nobody-yet", "an", "bo"]
    many = (await caller.call(pb.BatchGetRatingsRequest(players=players, season="2026Q4"))).ratings
    alone = [(await caller.call(pb.GetRatingRequest(player=player, season="2026Q4"))).rating for player in players]
    assert list(many) == alone
    assert not (await caller.call(pb.BatchGetRatingsRequest())).ratings


async def test_pages_of_changes_chain(caller: Caller) -> None:
    """Newest first, each once, of all seasons or of one; before and after as computed; nothing for fines."""
    hands = hands_of(POSTINGS)
    player = hands[0].seats[0].player
    changes: list[pb.RatingChange] = []
    token = ""
    while True:
        reply = await caller.call(pb.ListRatingChangesRequest(player=player, page_size=PAGE, page_token=token))
        changes += reply.changes
        token = reply.next_page_token
        if not token:
            break
    own = [hand for hand in hands if player in {seat.player for seat in hand.seats}]
    assert [change.posting for change in changes] == [hand.posting for hand in reversed(own)]
    for change, hand in zip(changes, reversed(own), strict=True):
        points = next(seat.points for seat in hand.seats if seat.player == player)
        assert (change.points, change.hand, change.table_id) == (points, hand.hand, hand.table_id)
        assert change.finished_at == hand.finished_at
        signs = {pb.RESULT_WON: 1, pb.RESULT_LOST: -1, pb.RESULT_DRAWN: 0}
        assert signs[change.result] == (points > 0) - (points < 0)
    for later, earlier in pairwise(changes):
        if later.season == earlier.season:
            assert bits(later.before) == bits(earlier.after)
    for season in SEASONS:
        reply = await caller.call(pb.ListRatingChangesRequest(player=player, season=season, page_size=100))
        assert list(reply.changes) == [change for change in changes if change.season == season]


async def board(caller: Caller, season: str) -> list[pb.LeaderboardPlace]:
    """Return a whole leaderboard, page by page."""
    places: list[pb.LeaderboardPlace] = []
    token = ""
    while True:
        reply = await caller.call(pb.ListLeaderboardRequest(season=season, page_size=PAGE, page_token=token))
        assert reply.season == season
        places += reply.places
        token = reply.next_page_token
        if not token:
            return places


async def test_a_leaderboard_is_every_player_of_the_season(caller: Caller) -> None:
    """Best first by ordinal, over all pages each player once, his rank being one more than how many are better."""
    for season in SEASONS:
        standings = {player: one for (player, of), one in standings_after(POSTINGS).items() if of == season}
        wanted = sorted(standings, key=lambda player: (-standings[player].skill.ordinal, player))
        places = await board(caller, season)
        assert [place.player for place in places] == wanted
        ordinals = [standings[player].skill.ordinal for player in wanted]
        assert [place.rank for place in places] == [1 + sum(o > own for o in ordinals) for own in ordinals]
        assert [bits(place.skill) for place in places] == [bits_of(standings[player].skill) for player in wanted]
        assert [(place.hands, place.won) for place in places] == [
            (standings[player].hands, standings[player].won) for player in wanted
        ]


async def test_equal_skills_have_one_rank_over_the_edges_of_pages(ratings: Ratings) -> None:
    """The four losers of a solo are equals: the same rank, by their ids, whatever page they fall on."""
    solo = next(hand for hand in finished_hands(range(8)) if hand.solo is not None and any(hand.points))
    hands = [replace(solo, players=tuple(PlayerId(f"{group}{seat}") for seat in range(5))) for group in "abc"]
    postings = [posting(number, hand) for number, hand in enumerate(hands, 1)]
    await ratings.follow(postings)
    async with channel_to(lambda server: register(server, ratings.pool), *SERVICES) as channel:
        places = await board(Caller(channel), season_of(datetime(2026, 11, 30, tzinfo=UTC)))
    by_ordinal: dict[float, list[pb.LeaderboardPlace]] = {}
    for place in places:
        by_ordinal.setdefault(place.skill.ordinal, []).append(place)
    assert sorted(map(len, by_ordinal.values())) == [3, 12]
    for ordinal, equals in by_ordinal.items():
        better = sum(len(others) for other, others in by_ordinal.items() if other > ordinal)
        assert {place.rank for place in equals} == {better + 1}
        assert [place.player for place in equals] == sorted(place.player for place in equals)


def test_ranks_go_on_where_the_page_before_ended() -> None:
    """A page that begins among equals takes their rank, and the next better than nobody takes its place."""
    tied, lower = Standing(Season("2026Q4"), Skill(30.0, 1.0)), Standing(Season("2026Q4"), Skill(20.0, 1.0))
    found = [(PlayerId("x"), tied), (PlayerId("y"), lower), (PlayerId("z"), lower)]
    assert [row.rank for row in ranked(found, better=4, before=7)] == [5, 9, 9]


async def test_a_board_does_not_repeat_who_is_overtaken(caller: Caller, ratings: Ratings) -> None:
    """A page token stands for a place, so players who come in above while one pages shift nobody twice into view."""
    season = SEASONS[-1]
    first = await caller.call(pb.ListLeaderboardRequest(season=season, page_size=PAGE))
    await ratings.pool.execute(query("put_standings"), ["new"], [season], [99.0], [1.0], [96.0], [1], [0], [0])
    token = first.next_page_token
    second = await caller.call(pb.ListLeaderboardRequest(season=season, page_size=PAGE, page_token=token))
    assert not {place.player for place in first.places} & {place.player for place in second.places}
    assert second.places[0].rank == PAGE + 2


async def test_fines_lower_the_level_and_rate_nobody(ratings: Ratings) -> None:
    """LVL-1 goes by all points, fines included; a skill goes by hands alone."""
    await ratings.follow([posting(1, fined("bo"))])
    async with channel_to(lambda server: register(server, ratings.pool), *SERVICES) as channel:
        rating = (await Caller(channel).call(pb.GetRatingRequest(player="bo"))).rating
        changes = await Caller(channel, player="bo").call(pb.ListRatingChangesRequest(player="bo"))
    assert (rating.points, rating.level.number, rating.hands, len(changes.changes)) == (-40, 1, 0, 0)
    assert bits(rating.skill) == bits_of(NEW_PLAYER)


async def test_changes_are_their_player_s(caller: Caller) -> None:
    """He lists them, and operators and services do; others may not know at which tables he played."""
    player = hands_of(POSTINGS)[0].seats[0].player
    request = pb.ListRatingChangesRequest(player=player)
    told = [
        await replace(caller, player=who, role=role).call(request)
        for who, role in ((player, "player"), ("anybody", "operator"), ("anybody", "service"))
    ]
    assert told[0].changes
    assert told[0] == told[1] == told[2]
    refused = await replace(caller, role="player").refused(request)
    assert refused.reason == "PERMISSION_DENIED"


async def test_what_is_malformed_is_named(caller: Caller) -> None:
    """INVALID_ARGUMENT with the field, for every field of every request."""
    for request, field in (
        (pb.GetRatingRequest(), "player"),
        (pb.GetRatingRequest(player="a b"), "player"),
        (pb.BatchGetRatingsRequest(players=["bo", "a b"]), "players[1]"),
        (pb.BatchGetRatingsRequest(players=["bo"] * 1001), "players"),
        (pb.GetRatingRequest(player="bo", season="2026"), "season"),
        (pb.ListRatingChangesRequest(player="\0"), "player"),
        (pb.ListRatingChangesRequest(player="bo", page_size=-1), "page_size"),
        (pb.ListRatingChangesRequest(player="bo", page_token=token_of("9999999999")), "page_token"),
        (pb.ListRatingChangesRequest(player="bo", page_token=token_of("-1")), "page_token"),
        (pb.ListLeaderboardRequest(season="winter"), "season"),
        (pb.ListLeaderboardRequest(page_size=-5), "page_size"),
        (pb.ListLeaderboardRequest(page_token=token_of("2026Q4", "nan", "aa")), "page_token"),
        (pb.ListLeaderboardRequest(page_token=token_of("2026Q4", "0x1p99999999", "aa")), "page_token"),
        (pb.ListLeaderboardRequest(page_token=token_of("2026Q4", "high", "aa")), "page_token"),
        (pb.ListLeaderboardRequest(page_token=token_of("2026Q4", "0x1p1", "a b")), "page_token"),
        (pb.ListLeaderboardRequest(page_token=token_of("winter", "0x1p1", "aa")), "page_token"),
        (pb.ListLeaderboardRequest(season="2026Q3", page_token=token_of("2026Q4", "0x1p1", "aa")), "page_token"),
    ):
        refused = await caller.refused(request)
        assert (refused.code, refused.fields) == (grpc.StatusCode.INVALID_ARGUMENT, (field,)), request
