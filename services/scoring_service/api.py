"""Between the contract's messages and the ledger: what comes in is checked here, and nowhere else.

Every wrong field is a MalformedInput that names it by its proto path.
"""

import re
from collections.abc import Sequence
from types import MappingProxyType
from typing import Final

from baohuang.eventlog.chain import instant
from baohuang.gen.scoring.v1 import scored_pb2
from baohuang.gen.scoring.v1 import scoring_service_pb2 as pb
from baohuang.rpc.auth import Role, caller_id
from baohuang.rpc.call import current_caller
from baohuang.rpc.errors import MalformedInput, NotFound, Reason
from baohuang.rpc.paging import not_ours, parts_in, size_of, token_of
from baohuang.rpc.roles import check_own
from baohuang.rules.state import PlayerId, TableId
from baohuang.scoring.events import PostingNumber
from scoring_service.entries import HOUSE, AccountName, owner_of
from scoring_service.statements import Account, BookedEntry, HandScore, Place

_TABLE_ID: Final = re.compile(r"[0-9a-f-]{36}", re.ASCII)
_NUMBER: Final = re.compile(r"[0-9]{1,10}", re.ASCII)
_BEYOND: Final = 2**31 - 1
_NEWEST: Final = Place(PostingNumber(_BEYOND), 0)
_KINDS: Final = MappingProxyType(
    {
        "HandScored": scored_pb2.POSTING_KIND_HAND,
        "FinePosted": scored_pb2.POSTING_KIND_FINE,
        "FineReturned": scored_pb2.POSTING_KIND_FINE_RETURNED,
        "PostingSkipped": scored_pb2.POSTING_KIND_SKIPPED,
    }
)


def hand_in(request: pb.GetHandScoreRequest) -> tuple[TableId, int]:
    """Return table and hand asked for. Raises MalformedInput; NotFound for an id that no table has."""
    if request.hand < 1:
        raise MalformedInput.field("hand", "hands are numbered from 1")
    if not _TABLE_ID.fullmatch(request.table_id):
        raise not_scored()
    return TableId(request.table_id), request.hand


def not_scored() -> NotFound:
    """Return the refusal of a hand that is not in the ledger, or not for the caller to know of."""
    return NotFound(Reason.NOT_SCORED, "the ledger does not have this hand: it may be about to")


def may_read(found: HandScore) -> bool:
    """Tell whether the caller may know of a score; to others it is as if there were none."""
    caller = current_caller()
    return caller.role is not Role.PLAYER or found.is_for(PlayerId(caller.player))


def account_in(text: str) -> AccountName:
    """Return the account named. Raises MalformedInput."""
    owner = owner_of(AccountName(text))
    if text == HOUSE or (owner is not None and caller_id(owner) is not None):
        return AccountName(text)
    raise MalformedInput.field("account", "must be player: and a player's id, or house")


def statement_in(request: pb.ListEntriesRequest) -> tuple[AccountName | None, Place, int]:
    """Return account (None: all), the place to begin after, and page size. Raises MalformedInput, PermissionDenied."""
    account = account_in(request.account) if request.account else None
    check_own(owner_of(account) if account else None, "the entries of his own account")
    size = size_of(request)
    parts = parts_in(request, 2)
    return account, _NEWEST if parts is None else _place(parts), size


def account_message(name: AccountName, account: Account) -> pb.Account:
    """Return the message of an account."""
    return pb.Account(account=name, balance=account.balance, entries=account.entries, last_posting=account.last_posting)


def statement_message(entries: Sequence[BookedEntry], size: int) -> pb.ListEntriesResponse:
    """Return the page of `size` entries out of as many or one more."""
    page = entries[:size]
    token = token_of(str(page[-1].posting), str(page[-1].line)) if len(entries) > size else ""
    return pb.ListEntriesResponse(entries=map(_entry_message, page), next_page_token=token)


def _entry_message(entry: BookedEntry) -> pb.Entry:
    return pb.Entry(
        posting=entry.posting,
        line=entry.line,
        account=entry.account,
        points=entry.points,
        balance=entry.balance,
        kind=_KINDS[entry.type],
        table_id=entry.table_id,
        hand=entry.hand,
        version=entry.version,
        happened_at=instant(entry.happened_at),
    )


def _place(parts: tuple[str, ...]) -> Place:
    if not all(_NUMBER.fullmatch(part) and int(part) <= _BEYOND for part in parts):
        raise not_ours()
    posting, line = map(int, parts)
    return Place(PostingNumber(posting), line)
