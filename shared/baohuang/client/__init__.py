"""The SDK: one player's way to the tables, over gRPC.

    async with connect("127.0.0.1:50051", BearerToken(token)) as client:
        opened = await client.open_table("ourgame-simple")
        await client.sit_down(opened.table_id, 0)
        await client.set_ready(opened.table_id, ready=True)
        async for moment in client.watch(opened.table_id):
            if 0 in moment.to_act:
                await client.act(opened.table_id, choose(moment.table))

    async with client.play() as playing:   # the same over one stream, for many tables, with less to it
        await playing.act(opened.table_id, Pass())

Calls are retried by themselves where that is safe, watches resume by themselves; `errors` draws what may be raised.
"""

from baohuang.client.commands import Receipt, fresh_invitation_code
from baohuang.client.credentials import BearerToken, Credentials, DevelopmentIdentity
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
from baohuang.client.patience import Patience
from baohuang.client.playing import Playing
from baohuang.client.table_client import Summary, TableClient, connect
from baohuang.client.updates import Update

__all__ = [
    "BearerToken",
    "ClientError",
    "Credentials",
    "DevelopmentIdentity",
    "FaultError",
    "MalformedError",
    "Moment",
    "MoveRefusedError",
    "NotAllowedError",
    "NotFoundError",
    "NotKnownError",
    "Patience",
    "Playing",
    "Receipt",
    "RefusedError",
    "SlowDownError",
    "StaleError",
    "Summary",
    "TableClient",
    "TakenOverError",
    "UnreachableError",
    "Update",
    "ViewBrokenError",
    "connect",
    "fresh_invitation_code",
]
