import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
SCRIPTS = Path(sys.executable).parent
STUBS = Path("shared/baohuang/gen")


def check(repository: Path) -> subprocess.CompletedProcess[str]:
    """Run the check of the generated stubs as `make check` does."""
    command = [sys.executable, str(repository / "proto" / "generate.py"), "--check"]
    return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own script


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """Give a copy of the contract and its stubs, to be spoilt."""
    shutil.copytree(REPOSITORY / "proto", tmp_path / "proto")
    shutil.copytree(REPOSITORY / STUBS, tmp_path / STUBS)
    return tmp_path


def test_the_stubs_are_those_of_the_contract() -> None:
    """What is committed is, byte for byte, what the contract generates."""
    done = check(REPOSITORY)
    assert (done.returncode, done.stderr) == (0, "")


def test_stale_stubs_are_named(copied: Path) -> None:
    """A stub that was edited, one that is missing and one left over are all found, and nothing is written."""
    stubs = copied / STUBS
    with (stubs / "events/v1/play_pb2.py").open("a") as edited:
        edited.write("# edited\n")
    (stubs / "rules/v1/hand_pb2.pyi").unlink()
    (stubs / "rules/v1/gone_pb2.py").write_text("")
    done = check(copied)
    found = [line.split(";")[0] for line in done.stderr.splitlines()]
    assert done.returncode == 1
    assert found == [
        f"stale: {STUBS}/{name}" for name in ("events/v1/play_pb2.py", "rules/v1/gone_pb2.py", "rules/v1/hand_pb2.pyi")
    ]
    assert (stubs / "rules/v1/gone_pb2.py").exists()


def test_generating_mends_what_is_stale(copied: Path) -> None:
    """After generating, the same check finds nothing: left-over stubs are removed too."""
    (copied / STUBS / "rules/v1/gone_pb2.py").write_text("")
    (copied / STUBS / "rules/v1/hand_pb2.py").unlink()
    subprocess.run([sys.executable, str(copied / "proto" / "generate.py")], check=True)  # noqa: S603 - our own script
    assert check(copied).returncode == 0


def test_a_broken_contract_is_an_error(copied: Path) -> None:
    """A contract that does not compile is not taken for an empty one."""
    (copied / "proto/baohuang/rules/v1/hand.proto").write_text('syntax = "proto3"; message {')
    assert check(copied).returncode not in {0, None}


def test_the_contract_is_lint_free() -> None:
    """The contract keeps buf's standard rules, and all of it is documented."""
    done = subprocess.run(  # noqa: S603 - our own tool
        [SCRIPTS / "buf", "lint", "proto"], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")
