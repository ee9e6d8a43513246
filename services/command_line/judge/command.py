"""`baohuang judge` reads cases on standard input and writes verdicts on standard output."""

import json
import sys
from collections.abc import Iterable
from typing import TextIO

from command_line.judge.verdicts import judge_line


def judge_stream(cases: Iterable[bytes], verdicts: TextIO) -> None:
    """Write one verdict a case, in order, in ASCII whatever the locale; blank lines are passed over."""
    for line in cases:
        if line.strip():
            verdicts.write(json.dumps(judge_line(line)) + "\n")


def judge() -> None:
    """Judge cases of the rules: JSON Lines on standard input, a verdict a line on standard output."""
    judge_stream(sys.stdin.buffer, sys.stdout)
