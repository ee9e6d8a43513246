"""ScoringService: the ledger, read."""

from typing import Any

import grpc

from baohuang.gen.scoring.v1 import scored_pb2, scoring_service_pb2_grpc
from baohuang.gen.scoring.v1 import scoring_service_pb2 as pb
from baohuang.rpc.messages import to_proto
from scoring_service import api
from scoring_service.statements import Statements

Context = grpc.aio.ServicerContext[Any, Any]


class ScoringServicer(scoring_service_pb2_grpc.ScoringServiceServicer):
    """Serves the contract; see `baohuang/scoring/v1/scoring_service.proto` for what each call promises."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    async def GetHandScore(self, request: pb.GetHandScoreRequest, context: Context) -> pb.GetHandScoreResponse:
        """Return the score of a hand."""
        table_id, hand = api.hand_in(request)
        found = await self._statements.hand_score(table_id, hand)
        if found is None or not api.may_read(found):
            raise api.not_scored()
        return pb.GetHandScoreResponse(score=to_proto(found.score, scored_pb2.HandScored))

    async def GetAccount(self, request: pb.GetAccountRequest, context: Context) -> pb.GetAccountResponse:
        """Return an account."""
        name = api.account_in(request.account)
        account = await self._statements.account(name)
        return pb.GetAccountResponse(account=api.account_message(name, account))

    async def ListEntries(self, request: pb.ListEntriesRequest, context: Context) -> pb.ListEntriesResponse:
        """Return a page of entries."""
        account, before, size = api.statement_in(request)
        entries = await self._statements.entries(account, before, size + 1)
        return api.statement_message(entries, size)
