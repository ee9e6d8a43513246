import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
NAMED = re.compile(r"`([\w/]+\.py)::(test_\w+)`")


def test_every_proof_that_is_named_is_there() -> None:
    """Each `file::test` of the tests' README is a test of that file."""
    named = NAMED.findall((TESTS / "README.md").read_text(encoding="utf-8"))
    assert len(named) > 30
    missing = [
        (file, test)
        for file, test in named
        if not (TESTS / file).exists() or f"def {test}(" not in (TESTS / file).read_text(encoding="utf-8")
    ]
    assert missing == []
