"""The document is complete: every reason, call, event and phase of the contract is in it, and no other."""

import asyncio
import re

import grpc
import pytest

from baohuang.gen.events.v1 import events_pb2
from baohuang.gen.history.v1 import history_service_pb2
from baohuang.gen.rules.v1 import error_reason_pb2, hand_pb2
from baohuang.rpc.errors import Refusal
from baohuang.rpc.tokens import TokenProblem
from protocol import document
from protocol.reflected import Reflected, reflected
from protocol.serving import running

_REASON_ROW = re.compile(r"^\| `([A-Z_]+)` \| `([A-Z_]+)` \| \S.*\|$", re.MULTILINE)
_COMMENTED = re.compile(r"\n\n?  // (?:([A-Z_]{7,})\. )?[^\n]+\n(?:  // [^\n]+\n)*  ERROR_REASON_([A-Z_]+) = [1-9]")
_CONTRACT = document.PATH.parents[1] / "proto" / "baohuang" / "rules" / "v1" / "error_reason.proto"
_SERVICES = ("baohuang.table.v1.TableService", "baohuang.rules.v1.RulesService")


def _section(title: str) -> str:
    """Return the text under a heading, up to the next."""
    _, _, after = document.text().partition(f"\n## {title}\n")
    return after.partition("\n## ")[0]


def test_every_reason_is_told_once_in_the_contracts_order_of_parts() -> None:
    """The table of reasons holds those of the contract, each once, and only those."""
    told = [reason for reason, _ in _REASON_ROW.findall(_section("Errors"))]
    contract = [name.removeprefix("ERROR_REASON_") for name, number in error_reason_pb2.ErrorReason.items() if number]
    assert told == contract


def test_every_reason_has_a_code_that_refusals_have() -> None:
    """No row names a status code that the service never answers with."""
    codes = {kind.code.name for kind in Refusal.__subclasses__() if hasattr(kind, "code")}
    assert {code for _, code in _REASON_ROW.findall(_section("Errors"))} <= codes


def test_codes_are_those_that_the_contract_gives() -> None:
    """Each reason's code is the one before its comment in the contract, or that of the part on moves."""
    contract = {
        reason: code or "FAILED_PRECONDITION" for code, reason in _COMMENTED.findall(_CONTRACT.read_text("utf-8"))
    }
    assert dict(_REASON_ROW.findall(_section("Errors"))) == contract


async def test_every_call_is_told() -> None:
    """All methods that reflection shows of the two services stand in the document's table of services."""
    async with running() as address:
        methods = await asyncio.to_thread(_methods, address)
    rows = {
        service: row for service in _SERVICES for row in _section("Connecting").splitlines() if f"`{service}`" in row
    }
    assert {service: set(re.findall(r"`([A-Z]\w+)`", rows[service])) for service in _SERVICES} == methods


def test_every_call_for_the_record_is_told() -> None:
    """All methods of HistoryService stand in its row of that table."""
    service = history_service_pb2.DESCRIPTOR.services_by_name["HistoryService"]
    (row,) = [row for row in _section("Connecting").splitlines() if f"`{service.full_name}`" in row]
    assert set(re.findall(r"`([A-Z]\w+)`", row)) == {method.name for method in service.methods}


def _methods(address: str) -> dict[str, set[str]]:
    with reflected(address) as client:
        return {service: set(client.methods(service)) for service in _own(client)}


def _own(client: Reflected) -> list[str]:
    return [service for service in client.services() if not service.startswith("grpc.")]


def test_every_event_has_a_row_in_the_folding_table() -> None:
    """The table tells of each event of the contract once, and of no other."""
    rows = re.findall(r"^\| (`.+?) \|", _section("Folding events into a view"), re.MULTILINE)
    told = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    contract = [field.message_type.name for field in events_pb2.Event.DESCRIPTOR.fields if field.message_type]
    assert sorted(told) == sorted(contract)


@pytest.mark.parametrize("name", [name for name, number in hand_pb2.Phase.items() if number])
def test_every_phase_is_told(name: str) -> None:
    """Each phase stands in the section on the phases of a hand."""
    assert f"`{name}`" in _section("A hand, phase by phase")


def test_links_within_the_document_lead_somewhere() -> None:
    """Every `#anchor` is that of a heading."""
    text = document.text()
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    assert set(re.findall(r"\]\(#([^)]+)\)", text)) <= anchors


def test_keys_of_a_refused_token_are_as_the_document_says() -> None:
    """The document names the problem after which a fresh token helps."""
    assert f"`{TokenProblem.EXPIRED}`" in _section("Who calls")
    assert grpc.StatusCode.UNAUTHENTICATED.name in _section("Errors")
