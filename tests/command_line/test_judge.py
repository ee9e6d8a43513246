"""`baohuang judge` is a command of its own: cases in, verdicts out, a line each."""

import json
import subprocess
import sys

_CASES = (
    {"id": "higher", "kind": "beats", "ruleset": "ourgame-simple", "on": "3s 3h", "play": "4s 4h"},
    {"id": "equal", "kind": "beats", "ruleset": "ourgame-simple", "on": "3s 3h", "play": "3d 3c"},
)


def test_cases_in_verdicts_out() -> None:
    """Each case on standard input is answered on standard output, in order, by what the rules say."""
    cases = "\n".join(map(json.dumps, _CASES))
    done = subprocess.run(
        [sys.executable, "-m", "command_line", "judge"],
        input=cases,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    verdicts = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(verdict["id"], verdict["beats"]) for verdict in verdicts] == [("higher", True), ("equal", False)]
