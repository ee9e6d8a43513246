"""The image: its recipe is sound, and what it installs is all there is."""

import subprocess
import sys
from pathlib import Path
from typing import Final
from zipfile import ZipFile

from deploy.tree import DEPLOY, ROOT

_SOURCES: Final = ("shared", "services")
_PROGRAMS: Final = Path(sys.executable).parent


def test_the_recipe_is_sound() -> None:
    """By the rules of hadolint, all of them."""
    linted = subprocess.run(  # noqa: S603 - a wheel's program
        [_PROGRAMS / "hadolint", DEPLOY / "docker/Dockerfile"], capture_output=True, text=True, check=False
    )
    assert (linted.returncode, linted.stdout) == (0, "")


def test_it_is_nobodys_root_and_runs_our_command() -> None:
    """By number, as Kubernetes wants it to see that; the same user as the manifests'."""
    lines = (DEPLOY / "docker/Dockerfile").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line.startswith("USER")] == ["USER 65532:65532"]
    assert 'ENTRYPOINT ["baohuang"]' in lines


def test_what_it_is_made_of_is_not_left_out() -> None:
    """Every path that the recipe copies is let through, and exists."""
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    recipe = (DEPLOY / "docker/Dockerfile").read_text(encoding="utf-8").splitlines()
    copied = {
        path for line in recipe if line.startswith("COPY ") and "--from" not in line for path in line.split()[1:-1]
    }
    assert {line.removeprefix("!") for line in ignored if line.startswith("!")} == copied
    assert "*" in ignored
    assert all((ROOT / path).exists() for path in copied)


def test_a_wheel_has_every_file_that_the_sources_have(tmp_path: Path) -> None:
    """Of Python, SQL and data, since the image runs from the wheel and not from here."""
    source = tmp_path / "source"
    source.mkdir()
    archive = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", *_SOURCES], capture_output=True, check=True).stdout  # noqa: S603, S607
    kept = [Path(name) for name in archive.decode().split("\0") if name]
    for path in (*kept, Path("pyproject.toml"), Path("README.md"), Path("LICENSE")):
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        (source / path).write_bytes((ROOT / path).read_bytes())
    build = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--wheel-dir",
        str(tmp_path),
        str(source),
    ]
    built = subprocess.run(build, capture_output=True, text=True, check=False)  # noqa: S603 - pip
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("*.whl")
    packed = set(ZipFile(wheel).namelist())
    assert {str(path.relative_to(path.parts[0])) for path in kept} <= packed
