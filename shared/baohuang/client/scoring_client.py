"""A client of the scoring service: what hands gave and why, and accounts."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import Enum
from typing import Final, NewType

import grpc

from baohuang.client.calls import Calls, channel_to
from baohuang.client.patience import Patience
from baohuang.client.requests import made
from baohuang.gen.scoring.v1 import scoring_service_pb2 as pb
from baohuang.gen.scoring.v1 import scoring_service_pb2_grpc
from baohuang.rpc.credentials import Credentials
from baohuang.rpc.messages import from_proto
from baohuang.rules.state import Instant, PlayerId, TableId
from baohuang.scoring.events import HandScored, PostingNumber
from baohuang.tls.files import Tls

AccountName = NewType("AccountName", str)

HOUSE: Final = AccountName("house")
"""The account to which fines go (FINE-4)."""


class PostingKind(Enum):
    """What an entry is of."""

    HAND = "POSTING_KIND_HAND"
    FINE = "POSTING_KIND_FINE"
    FINE_RETURNED = "POSTING_KIND_FINE_RETURNED"


@dataclass(frozen=True, slots=True)
class Account:
    """An account: the sum of its entries, how many there are, and the posting of the last."""

    account: AccountName
    balance: int
    entries: int
    last_posting: PostingNumber


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the ledger; see the message of this name."""

    posting: PostingNumber
    line: int
    account: AccountName
    points: int
    balance: int
    kind: PostingKind
    table_id: TableId
    hand: int | None
    version: int
    happened_at: Instant


class ScoringClient:
    """Points as one caller may read them. Calls raise RefusedError and its kinds, UnreachableError, FaultError."""

    def __init__(self, channel: grpc.aio.Channel, credentials: Credentials, patience: Patience | None = None) -> None:
        self._stub = scoring_service_pb2_grpc.ScoringServiceStub(channel)
        self._calls = Calls(credentials, patience)

    async def hand_score(self, table_id: TableId, hand: int) -> HandScored:
        """Return a hand's points with their derivation; NotFoundError with NOT_SCORED while the ledger lacks it."""
        request = made(pb.GetHandScoreRequest, table_id=table_id, hand=hand)
        return from_proto((await self._calls.make(self._stub.GetHandScore, request)).score, HandScored)

    async def account(self, account: AccountName) -> Account:
        """Return an account as it is now."""
        request = made(pb.GetAccountRequest, account=account)
        return from_proto((await self._calls.make(self._stub.GetAccount, request)).account, Account)

    async def entries(self, account: AccountName) -> AsyncIterator[Entry]:
        """Yield an account's entries, newest first, page after page; of another than one's own for operators only."""
        async for page in self._calls.pages(self._stub.ListEntries, made(pb.ListEntriesRequest, account=account)):
            for entry in page.entries:
                yield from_proto(entry, Entry)


def account_of(player: PlayerId) -> AccountName:
    """Return the name of a player's account."""
    return AccountName(f"player:{player}")


@asynccontextmanager
async def connect_scoring(
    address: str, credentials: Credentials, patience: Patience | None = None, *, tls: Tls | None = None
) -> AsyncIterator[ScoringClient]:
    """Give a client of the scoring service at "host:port" on a connection of its own, closed at exit.

    With `tls` over TLS. Raises CertificateError when its files are not sound.
    """
    async with channel_to(address, tls) as channel:
        yield ScoringClient(channel, credentials, patience)
