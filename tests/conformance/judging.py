"""The judge as a command: cases in by the pipe, verdicts out, as anybody's script would use it."""

import json
import subprocess
import sys
from collections.abc import Iterable
from typing import Any, Final

_COMMAND: Final = (sys.executable, "-c", "from command_line.judge.command import judge; judge()")
_LIVENESS_SECONDS: Final = 200


def judged(lines: Iterable[bytes]) -> list[dict[str, Any]]:
    """Return the verdicts the command writes for the lines; it must end well and say nothing on standard error."""
    done = subprocess.run(  # noqa: S603 - our own command
        _COMMAND,
        input=b"".join(line + b"\n" for line in lines),
        capture_output=True,
        timeout=_LIVENESS_SECONDS,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return [json.loads(line) for line in done.stdout.splitlines()]
