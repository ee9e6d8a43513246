import json
import subprocess
import sys
from typing import Final

_SPEAKING: Final = """
import logging
from baohuang.rpc.log import configure_logging

configure_logging("INFO", "table-7")
configure_logging("INFO", "table-7")
try:
    raise OSError("refused")
except OSError:
    logging.getLogger("asyncpg").warning("cannot refill %s", "the pool", exc_info=True)
logging.getLogger("asyncpg").info("too much to say")
"""


def test_what_libraries_say_is_a_line_like_ours() -> None:
    """A warning of asyncpg, with its traceback and without any local variable, is one JSON object with level and time.

    What is no warning is not told.
    """
    said = subprocess.run([sys.executable, "-c", _SPEAKING], capture_output=True, text=True, check=True)  # noqa: S603
    (line,) = said.stderr.splitlines()
    told = json.loads(line)
    assert (told["event"], told["level"]) == ("cannot refill the pool", "warning")
    assert (told["logger"], told["replica"]) == ("asyncpg", "table-7")
    assert told["exception"][0]["exc_value"] == "refused"
    assert "locals" not in told["exception"][0]["frames"][0]
    assert "timestamp" in told
