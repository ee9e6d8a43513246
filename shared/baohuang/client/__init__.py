"""The SDK: one player's way to a table, and to what comes of it, over gRPC.

    async with connect("127.0.0.1:50051", BearerToken(token)) as client:
        opened = await client.open_table("ourgame-simple")
        await client.sit_down(opened.table_id, 0)
        await client.set_ready(opened.table_id, ready=True)
        async for moment in client.watch(opened.table_id):
            if 0 in moment.to_act:
                await client.act(opened.table_id, choose(moment.table))

    async with client.play() as playing:   # the same over one stream, for many tables, with less to it
        await playing.act(opened.table_id, Pass())

    async with connect_matchmaking("127.0.0.1:50052", BearerToken(token)) as queues:
        ticket = await queues.create_ticket("ourgame-simple")
        ticket = await queues.closed(ticket.ticket_id)     # matched: he sits at ticket.matched.table_id

    async with connect_scoring(...) as scores:             # hand_score, account, entries
    async with connect_rating(...) as ratings:             # rating, changes, leaderboard
    async with connect_history(...) as history:            # events, table_at, rulings, explain, export
        checked = await history.check_game(opened.table_id)    # from public data alone; checked.findings is empty

    async with connect(..., tls=Tls(Path("ca.pem"))) as client:   # over TLS; with a certificate of one's own: mTLS

Calls are retried by themselves where that is safe, watches resume by themselves; `errors` draws what may be raised.
"""

from baohuang.client.commands import Receipt, fresh_invitation_code
from baohuang.client.errors import (
    ClientError,
    FaultError,
    MalformedError,
    MoveRefusedError,
    NotAllowedError,
    NotFoundError,
    NotKnownError,
    RefusedError,
    SlowDownError,
    StaleError,
    TakenOverError,
    UnreachableError,
    ViewBrokenError,
)
from baohuang.client.following import Moment
from baohuang.client.game_check import CheckedGame, GameCheck
from baohuang.client.history_client import HistoryClient, connect_history
from baohuang.client.matchmaking_client import MatchmakingClient, connect_matchmaking
from baohuang.client.patience import Patience
from baohuang.client.playing import Playing
from baohuang.client.rating_client import (
    LeaderboardPlace,
    Level,
    Rating,
    RatingChange,
    RatingClient,
    Result,
    Skill,
    connect_rating,
)
from baohuang.client.records import Explanation, RecordedEvent, RecordFinding, Ruling, Verification
from baohuang.client.scoring_client import (
    HOUSE,
    Account,
    AccountName,
    Entry,
    PostingKind,
    ScoringClient,
    account_of,
    connect_scoring,
)
from baohuang.client.table_client import Summary, TableClient, connect
from baohuang.client.tickets import Matched, Party, QueueLength, SetAside, Ticket, TicketId, TicketState, Waiting
from baohuang.client.updates import Update
from baohuang.history.sought import EventsSought, Order, RulingsSought
from baohuang.rpc.credentials import BearerToken, Credentials, DevelopmentIdentity
from baohuang.scoring.events import HandScored
from baohuang.tls.files import CertificateError, Tls

__all__ = [
    "HOUSE",
    "Account",
    "AccountName",
    "BearerToken",
    "CertificateError",
    "CheckedGame",
    "ClientError",
    "Credentials",
    "DevelopmentIdentity",
    "Entry",
    "EventsSought",
    "Explanation",
    "FaultError",
    "GameCheck",
    "HandScored",
    "HistoryClient",
    "LeaderboardPlace",
    "Level",
    "MalformedError",
    "Matched",
    "MatchmakingClient",
    "Moment",
    "MoveRefusedError",
    "NotAllowedError",
    "NotFoundError",
    "NotKnownError",
    "Order",
    "Party",
    "Patience",
    "Playing",
    "PostingKind",
    "QueueLength",
    "Rating",
    "RatingChange",
    "RatingClient",
    "Receipt",
    "RecordFinding",
    "RecordedEvent",
    "RefusedError",
    "Result",
    "Ruling",
    "RulingsSought",
    "ScoringClient",
    "SetAside",
    "Skill",
    "SlowDownError",
    "StaleError",
    "Summary",
    "TableClient",
    "TakenOverError",
    "Ticket",
    "TicketId",
    "TicketState",
    "Tls",
    "UnreachableError",
    "Update",
    "Verification",
    "ViewBrokenError",
    "Waiting",
    "account_of",
    "connect",
    "connect_history",
    "connect_matchmaking",
    "connect_rating",
    "connect_scoring",
    "fresh_invitation_code",
]
