import grpc
import pytest

from baohuang.rpc.errors import (
    Exhausted,
    FieldViolation,
    IllegalMove,
    MalformedInput,
    NotFound,
    PermissionDenied,
    Reason,
    Refusal,
    StaleVersion,
    Unauthenticated,
    Unavailable,
    WrongState,
)
from baohuang.rpc.status import MAX_VIOLATIONS, read_details
from rpc.echo import METHODS, serving

REFUSALS = {
    "malformed": (MalformedInput.field("cards[2]", "no such card"), "INVALID_ARGUMENT", "INVALID_FIELD", {}),
    "state": (WrongState(Reason.HAND_IN_PROGRESS, "playing"), "FAILED_PRECONDITION", "HAND_IN_PROGRESS", {}),
    "illegal": (
        IllegalMove(Reason.DOES_NOT_BEAT, "too low", "BEAT-1"),
        "FAILED_PRECONDITION",
        "DOES_NOT_BEAT",
        {"rule": "BEAT-1"},
    ),
    "stale": (StaleVersion(3, 5), "ABORTED", "STALE_VERSION", {"version": "5"}),
    "missing": (NotFound(Reason.NO_SUCH_TABLE, "no table"), "NOT_FOUND", "NO_SUCH_TABLE", {}),
    "denied": (PermissionDenied(Reason.NOT_YOUR_SEAT, "not yours"), "PERMISSION_DENIED", "NOT_YOUR_SEAT", {}),
    "unknown": (Unauthenticated("who?"), "UNAUTHENTICATED", "UNAUTHENTICATED", {}),
    "slow": (Exhausted(Reason.SLOW_READER, "too slow"), "RESOURCE_EXHAUSTED", "SLOW_READER", {}),
    "draining": (Unavailable(Reason.DRAINING, "别处重试"), "UNAVAILABLE", "DRAINING", {}),
}


async def refuse(text: str, _context: object) -> str:
    raise REFUSALS[text][0]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", REFUSALS)
async def test_a_refusal_reaches_the_client_with_status_reason_and_metadata(name: str, method: str) -> None:
    """Every class of the tree, raised in every kind of method, arrives as itself."""
    refusal, code, reason, metadata = REFUSALS[name]
    async with serving(refuse) as (_, client):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await client.call(method, name)
    details = read_details(caught.value)
    assert details is not None
    assert (caught.value.code().name, details.reason, details.metadata) == (code, reason, metadata)
    assert details.message == caught.value.details() == refusal.message


def test_every_class_of_the_tree_is_tried_above() -> None:
    """A class added to the tree without a case here fails."""
    tried = {type(refusal) for refusal, *_ in REFUSALS.values()}
    public = {kind for kind in _descendants(Refusal) if kind.__module__ == Refusal.__module__}
    assert tried == public


async def test_field_violations_name_each_field_and_are_bounded() -> None:
    """A request with thousands of bad fields still gives a status whose trailers a client accepts."""

    async def act(_text: str, _context: object) -> str:
        raise MalformedInput("bad", *(FieldViolation(f"cards[{i}]" + "x" * 9999, "y" * 9999) for i in range(5000)))

    async with serving(act) as (_, client):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await client.call("Unary", "")
    details = read_details(caught.value)
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert details is not None
    assert len(details.fields) == MAX_VIOLATIONS
    assert details.fields[1].startswith("cards[1]")


def _descendants(kind: type[Refusal]) -> set[type[Refusal]]:
    direct = set(kind.__subclasses__())
    return direct.union(*(_descendants(child) for child in direct)) if direct else direct
