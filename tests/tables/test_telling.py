"""An event is redacted and serialized once for each distinct view of it, whoever and however many watch."""

from baohuang.eventlog.memory import MemoryLog
from baohuang.eventlog.port import StreamId
from baohuang.gen.table.v1 import watch_pb2
from baohuang.rules.events import CardsDealt
from baohuang.rules.state import PlayerId
from table_service.happened import Happened
from table_service.watch.telling import Telling
from tables.virtual_time import NEVER_POLLS, PLAYERS, VirtualTime, keeper

STRANGERS = tuple(PlayerId(name) for name in ("x", "y", "z"))


async def happened_in_a_hand() -> list[Happened]:
    """Return the events of a table up to the first turn of a hand."""
    log, happened = MemoryLog(), list[Happened]()
    async with keeper(log, VirtualTime(), NEVER_POLLS) as replica:
        replica.tables._listener = lambda _, some: happened.extend(one.happened for one in some)
        table_id = await replica.started()
    assert [one.stored for one in happened] == list(await log.read_stream(StreamId(table_id)))
    return happened


async def test_one_message_for_all_who_see_the_same() -> None:
    """Nothing hidden in an event: one object for everybody. Something for each seat: one a seat, and one for others."""
    views = {}
    for happened in await happened_in_a_hand():
        telling = Telling(happened)
        told = [telling.to(player) for player in (*PLAYERS, *STRANGERS, *PLAYERS)]
        views[type(happened.event)] = len({id(one) for one in told})
        assert {one.version for one in told} == {happened.stored.version}
    assert views.pop(CardsDealt) == 6
    assert set(views.values()) == {1}


async def test_an_event_of_a_new_hand_is_told_by_that_hands_seats() -> None:
    """The deal shows each player his own cards and a stranger none."""
    (deal,) = (one for one in await happened_in_a_hand() if isinstance(one.event, CardsDealt))
    shown = [*enumerate(PLAYERS), (None, STRANGERS[0])]
    for seat, player in shown:
        response = watch_pb2.WatchTableResponse.FromString(Telling(deal).to(player).message)
        hidden = response.update.event.cards_dealt.hidden
        assert [held.seat for held in hidden.hands] == ([] if seat is None else [seat])
