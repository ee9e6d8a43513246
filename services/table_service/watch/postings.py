"""Postings of scoring's ledger as notices to the watchers of their tables: made once, and only if anybody watches."""

from typing import assert_never

import structlog

from baohuang.gen.scoring.v1 import scored_pb2
from baohuang.gen.table.v1 import watch_pb2
from baohuang.rpc.messages import to_proto
from baohuang.rules.state import TableId
from baohuang.scoring.events import FinePosted, FineReturned, HandScored, Posted, PostingSkipped
from baohuang.scoring.messages import posted_as
from baohuang.stream.port import Unprocessable
from table_service.watch.hub import Hub
from table_service.watch.notices import Notice

_log = structlog.get_logger("table_service")


class Postings:
    """Hears what the ledger publishes. What is missed is not asked for: the ledger answers whoever wants to know."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def hear(self, table_id: TableId, body: bytes) -> None:
        """Tell the table's watchers of a posting, given as the ledger's message has it."""
        if not self._hub.is_watched(table_id):
            return
        try:
            posted = posted_as(body)
        except Unprocessable as error:
            _log.warning("posting not told", table_id=table_id, error=str(error))
            return
        notice = _notice(posted)
        if notice is not None and posted.table_id == table_id:
            self._hub.notify(table_id, notice)


def _notice(posted: Posted) -> Notice | None:
    match posted:
        case HandScored(posting=number, version=version, hand=hand):
            response = watch_pb2.WatchTableResponse(hand_scored=to_proto(posted, scored_pb2.HandScored))
            return Notice(number, version, hand, response.SerializeToString())
        case FinePosted(posting=number, version=version):
            response = watch_pb2.WatchTableResponse(fine_posted=to_proto(posted, scored_pb2.FinePosted))
            return Notice(number, version, 0, response.SerializeToString())
        case FineReturned(posting=number, version=version):
            response = watch_pb2.WatchTableResponse(fine_returned=to_proto(posted, scored_pb2.FineReturned))
            return Notice(number, version, 0, response.SerializeToString())
        case PostingSkipped():
            return None
        case _:
            assert_never(posted)
