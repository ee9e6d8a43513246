"""Generate `shared/baohuang/gen` from the `.proto` files beside this script; `--check` only tells what is stale.

The packages `baohuang.<area>.v1` become the Python packages `baohuang.gen.<area>.v1`: left in place they would collide
with the hand-written `baohuang.rules`. Names on the wire and in the descriptor pool stay as the contract has them.
"""

import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path

from grpc_tools import protoc

PROTO = Path(__file__).resolve().parent
OUT = PROTO.parent / "shared" / "baohuang" / "gen"
SCRIPTS = Path(sys.executable).parent
INIT = b'"""Generated from the contract in `proto/` by `proto/generate.py`; not to be edited."""\n'
# Import lines only: the same text in a descriptor or in documentation is the contract's own name.
IMPORT = re.compile(rb"^from baohuang\.(\w+\.v\d+) import ", re.MULTILINE)


class GenerationError(Exception):
    """The compiler refused the contract; it has said why on standard error."""


def main(arguments: Sequence[str]) -> int:
    """Write the stubs, or with `--check` list those that are missing, outdated or left over; 0 is success."""
    if arguments not in ([], ["--check"]):
        print("usage: generate.py [--check]", file=sys.stderr)
        return 2
    fresh, present = generate(), read_tree(OUT)
    stale = sorted(path for path in fresh.keys() | present.keys() if fresh.get(path) != present.get(path))
    if not arguments:
        write_tree(OUT, fresh, stale)
        return 0
    for path in stale:
        print(f"stale: shared/baohuang/gen/{path}; run `make generate`", file=sys.stderr)
    return 1 if stale else 0


def generate() -> dict[str, bytes]:
    """Return the stubs by path under `gen`. Raises GenerationError."""
    sources = sorted(str(path.relative_to(PROTO)) for path in PROTO.rglob("*.proto"))
    services = [source for source in sources if source.endswith("_service.proto")]
    with tempfile.TemporaryDirectory() as folder:
        compile_to(folder, "python", sources)
        compile_to(folder, "mypy", sources, "quiet")
        compile_to(folder, "grpc_python", services)
        compile_to(folder, "mypy_grpc", services, "quiet,only_async")
        raw = read_tree(Path(folder) / "baohuang")
    stubs = {path: moved(text) for path, text in raw.items()}
    folders = {str(parent / "__init__.py") for path in stubs for parent in Path(path).parents}
    return stubs | dict.fromkeys(folders, INIT)


def compile_to(folder: str, language: str, sources: Sequence[str], options: str = "") -> None:
    """Run protoc with one output plugin. Raises GenerationError."""
    arguments = [
        "protoc",
        f"-I{PROTO}",
        f"-I{files('grpc_tools') / '_proto'}",
        f"--plugin=protoc-gen-mypy={SCRIPTS / 'protoc-gen-mypy'}",
        f"--plugin=protoc-gen-mypy_grpc={SCRIPTS / 'protoc-gen-mypy_grpc'}",
        f"--{language}_out={options + ':' if options else ''}{folder}",
        *sources,
    ]
    if protoc.main(arguments) != 0:
        raise GenerationError(f"protoc failed for {language}")


def moved(stub: bytes) -> bytes:
    """Return the stub with its imports pointing into `baohuang.gen`."""
    return IMPORT.sub(rb"from baohuang.gen.\1 import ", stub)


def read_tree(root: Path) -> dict[str, bytes]:
    """Return the Python files under `root` by relative path; none if there is no such folder."""
    paths = (path for path in root.rglob("*") if path.suffix in {".py", ".pyi"})
    return {str(path.relative_to(root)): path.read_bytes() for path in paths}


def write_tree(root: Path, fresh: Mapping[str, bytes], stale: Sequence[str]) -> None:
    """Bring the stale paths under `root` in line with `fresh`: written, or removed where it has none."""
    for relative in stale:
        path = root / relative
        if relative not in fresh:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(fresh[relative])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
