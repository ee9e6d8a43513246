"""Every case of the rules gets the verdict it expects."""

import pytest

from command_line.judge.verdicts import judge
from conformance.case_files import Case, all_cases, expected_part


@pytest.mark.parametrize("case", list(all_cases()), ids=lambda case: case["id"])
def test_case(case: Case) -> None:
    """The verdict has what the case expects."""
    assert expected_part(case, judge(case)) == case["expect"], case.get("why")


def test_there_are_cases_of_every_kind_and_ruleset() -> None:
    """No file is missing: each kind and each ruleset has cases, and no id is used twice."""
    cases = list(all_cases())
    assert {case["kind"] for case in cases} == {"beats", "legal", "settle", "hand"}
    assert len({case["ruleset"] for case in cases}) == 6
    assert len({case["id"] for case in cases}) == len(cases) > 200
