"""The contract: what clients of each release were built with still holds, on the wire and in JSON."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from deploy.tree import ROOT
from upgrades.releases import Release, last_release, releases

BUF = Path(sys.executable).with_name("buf")


def breaking(proto: Path, release: Release) -> subprocess.CompletedProcess[str]:
    """Hold a contract against the one of a release."""
    command = [str(BUF), "breaking", str(proto), "--against", str(release.contract)]
    return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - a wheel's program


@pytest.mark.parametrize("release", releases(), ids=lambda release: release.version)
def test_nothing_of_it_is_broken(release: Release) -> None:
    """Every file, message, field, name in JSON and number, of the calls and of the stored events."""
    held = breaking(ROOT / "proto", release)
    assert (held.returncode, held.stdout) == (0, ""), held.stderr


@pytest.mark.parametrize(
    ("file", "before", "after"),
    [
        ("baohuang/events/v1/play.proto", "int32 seat = 1;", "int32 chair = 1;"),
        ("baohuang/events/v1/play.proto", "int32 seat = 1;", "int32 seat = 99;"),
        ("baohuang/table/v1/table_service.proto", "rpc GetTable(", "rpc FetchTable("),
    ],
)
def test_what_is_broken_is_found(tmp_path: Path, file: str, before: str, after: str) -> None:
    """A name in the JSON of stored events, a number on the wire, a method."""
    proto = tmp_path / "proto"
    shutil.copytree(ROOT / "proto", proto)
    text = (proto / file).read_text(encoding="utf-8")
    assert before in text
    (proto / file).write_text(text.replace(before, after, 1), encoding="utf-8")
    assert breaking(proto, last_release()).returncode != 0
