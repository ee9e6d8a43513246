import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
SECURITY = TESTS.parent / "docs/security.md"
OPERATIONS = TESTS.parent / "docs/operations.md"
NAMED = re.compile(r"`([\w/]+\.py)::(test_\w+)`")


@pytest.mark.parametrize("page", [TESTS / "README.md", SECURITY, OPERATIONS], ids=["faults", "security", "operations"])
def test_every_proof_that_is_named_is_there(page: Path) -> None:
    """Each `file::test` of the tests' README, and of the pages on security and for operators, is a test there."""
    named = NAMED.findall(page.read_text(encoding="utf-8"))
    assert len(named) > 15
    missing = [
        (file, test)
        for file, test in named
        if not (TESTS / file).exists() or f"def {test}(" not in (TESTS / file).read_text(encoding="utf-8")
    ]
    assert missing == []
