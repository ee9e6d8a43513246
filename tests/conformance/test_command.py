"""The command judges what it is given, line by line, and no line stops it."""

import json
from typing import Any, Final

import pytest

from command_line.judge.verdicts import judge_line
from conformance.case_files import all_cases, all_lines, expected_part
from conformance.full_deals import full_deal_cases
from conformance.judging import judged

_BEATS: Final = {"id": "x", "kind": "beats", "ruleset": "ourgame-simple", "on": "3s", "play": "4s"}
_LEGAL: Final = {"id": "x", "kind": "legal", "ruleset": "ourgame-simple", "hand": "3s"}
_SETTLE: Final = {
    "id": "x", "kind": "settle", "ruleset": "homy-classic", "emperor": 0, "guard": 1, "places": [0, 1, 2, 3, 4],
}  # fmt: skip
_HAND: Final[dict[str, Any]] = {
    "id": "x", "kind": "hand", "ruleset": "ourgame-simple", "deal": ["BJ*", "SJ*", "3s", "3h", "3d"], "script": [],
}  # fmt: skip

_MALFORMED: Final[tuple[tuple[str, object], ...]] = (
    ("a list", []),
    ("a text", "beats"),
    ("nothing in it", {}),
    ("unknown kind", _BEATS | {"kind": "judge"}),
    ("kind is no text", _BEATS | {"kind": ["beats"]}),
    ("unknown ruleset", _BEATS | {"ruleset": "homy"}),
    ("no ruleset", {"id": "x", "kind": "beats", "on": "3s", "play": "4s"}),
    ("unknown option", _BEATS | {"options": {"roasted": True}}),
    ("option of the wrong type", _BEATS | {"options": {"roast": 1}}),
    ("option not offered", _BEATS | {"ruleset": "homy-standard", "options": {"roast": True}}),
    ("options are no object", _BEATS | {"options": "roast"}),
    ("unknown card", _BEATS | {"play": "1s"}),
    ("cards are no text", _BEATS | {"play": ["4s"]}),
    ("five copies", _BEATS | {"play": "4s 4s 4s 4s 4s"}),
    ("on is no set", _BEATS | {"on": "3s 4s"}),
    ("five copies in a hand", _LEGAL | {"hand": "3s 3s 3s 3s 3s"}),
    ("crown held twice", _LEGAL | {"hand": "BJ* BJ*"}),
    ("seat out of range", _SETTLE | {"emperor": 5}),
    ("seat is a truth value", _SETTLE | {"emperor": True}),
    ("four places", _SETTLE | {"places": [0, 1, 2, 3]}),
    ("a place twice", _SETTLE | {"places": [0, 1, 2, 3, 3]}),
    ("emperor guards himself", _SETTLE | {"guard": 0}),
    ("neither guard nor solo", _SETTLE | {"guard": None}),
    ("unknown solo", _SETTLE | {"solo": "closed"}),
    ("flag is no truth value", _SETTLE | {"kicked": 1}),
    ("surrender without a solo", _SETTLE | {"surrendered": True}),
    ("surrender of an open solo", _SETTLE | {"surrendered": True, "solo": "open"}),
    (
        "surrender where nobody can",
        _SETTLE | {"ruleset": "ourgame-classic", "surrendered": True, "solo": "hidden"},
    ),
    ("four hands", _HAND | {"deal": ["BJ*", "SJ*", "3s", "3h"]}),
    ("six hands", _HAND | {"deal": ["BJ*", "SJ*", "3s", "3h", "3d", "3c"]}),
    ("no crown card", _HAND | {"deal": ["BJ", "SJ*", "3s", "3h", "3d"]}),
    ("no sword card", _HAND | {"deal": ["BJ*", "SJ", "3s", "3h", "3d"]}),
    ("sword card twice", _HAND | {"deal": ["BJ*", "SJ*", "SJ*", "3h", "3d"]}),
    ("five copies in a deal", _HAND | {"deal": ["BJ*", "SJ* 3s 3s 3s 3s", "3s", "3h", "3d"]}),
    ("five big jokers", _HAND | {"deal": ["BJ*", "SJ* BJ BJ", "BJ BJ", "3h", "3d"]}),
    ("no script", {key: value for key, value in _HAND.items() if key != "script"}),
    ("unknown verb", _HAND | {"script": [[0, "abdicate"]]}),
    ("verb is no text", _HAND | {"script": [[0, ["enthrone"]]]}),
    ("no verb", _HAND | {"script": [[0]]}),
    ("no seat", _HAND | {"script": [["enthrone"]]}),
    ("seat is a fraction", _HAND | {"script": [[0.0, "enthrone"]]}),
    ("argument missing", _HAND | {"script": [[0, "play"]]}),
    ("argument too many", _HAND | {"script": [[0, "enthrone", "now"]]}),
    ("argument is no text", _HAND | {"script": [[0, "play", ["3s"]]]}),
    ("unknown argument", _HAND | {"script": [[0, "seize", "maybe"]]}),
    ("unknown card in the script", _HAND | {"script": [[0, "play", "3x"]]}),
    ("bad line after a good one", _HAND | {"script": [[0, "enthrone"], [0, "declare", "war"]]}),
    ("previous is a list", _HAND | {"previous": []}),
    ("previous without points", _HAND | {"previous": {"emperor": 0, "guard": 1, "places": [0, 1, 2, 3, 4]}}),
)
_NOT_JSON: Final = (
    b"", b"   ", b"{", b"nonsense", b"\xff\xfe", b'{"id": "\xff"}', b"[" * 200_000, b'{"a":' * 200_000, b"9" * 5000,
    b'{"id": "\\ud800"}', b"\x00", b'{"id": "x", "kind": "hand", "script": [[0, ' + b"[" * 900 + b"]" * 900 + b"]]}",
)  # fmt: skip


@pytest.mark.parametrize("case", [case for _, case in _MALFORMED], ids=[why for why, _ in _MALFORMED])
def test_a_malformed_case_gets_an_error_and_no_verdict(case: object) -> None:
    """The error takes the verdict's place, under the case's own id if it has one."""
    verdict = judge_line(json.dumps(case).encode())
    assert set(verdict) == {"id", "error"}
    assert verdict["id"] == (case.get("id") if isinstance(case, dict) else None)
    assert verdict["error"]


def test_all_files_through_the_command_with_malformed_lines_between() -> None:
    """Every case gets its verdict, in order, whatever stands between the cases."""
    junk = [*_NOT_JSON, *(json.dumps(case).encode() for _, case in _MALFORMED)]
    lines: list[bytes] = []
    for index, line in enumerate(all_lines()):
        lines += [line.encode(), junk[index % len(junk)]]
    verdicts = judged(lines)
    named = {verdict["id"]: verdict for verdict in verdicts}
    cases = list(all_cases())
    assert [expected_part(case, named[case["id"]]) for case in cases] == [case["expect"] for case in cases]
    ids = [verdict["id"] for verdict in verdicts if verdict["id"] in {case["id"] for case in cases}]
    assert ids == [case["id"] for case in cases]
    blanks = sum(not line.strip() for line in lines)
    assert sum("error" in verdict for verdict in verdicts) == len(cases) - blanks


def test_a_thousand_full_deals_in_one_process() -> None:
    """A thousand distinct hands of 216 cards, played by a script, are judged by one process within the bound."""
    cases = full_deal_cases(1000)
    assert len({json.dumps(case["deal"]) for case in cases}) == 1000
    verdicts = judged(json.dumps(case).encode() for case in cases)
    assert [verdict["id"] for verdict in verdicts] == [case["id"] for case in cases]
    assert [verdict for verdict in verdicts if "error" in verdict] == []
    assert [expected_part(case, verdict) for case, verdict in zip(cases, verdicts, strict=True)] == [
        case["expect"] for case in cases
    ]
