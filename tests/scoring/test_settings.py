import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize("service", ["scoring", "rating"])
def test_a_service_that_cannot_run_says_why_and_exits(service: str) -> None:
    """Without a DSN, and without a server behind it: exit code 1, one line that says what, no traceback, no secret."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("BAOHUANG_")}
    for variables, said in (
        ({}, "BAOHUANG_POSTGRES_DSN: is not set"),
        ({"BAOHUANG_POSTGRES_DSN": "postgresql://u:hunter2@127.0.0.1:1/none"}, "Connection refused"),
    ):
        ended = subprocess.run(  # noqa: S603 - our own module
            [sys.executable, "-m", f"{service}_service.main"],
            env=kept | variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert ended.returncode == 1
        assert f"{service} service: " in ended.stderr
        assert said in ended.stderr
        assert "Traceback" not in ended.stderr
        assert "hunter2" not in ended.stderr
