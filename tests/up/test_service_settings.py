import os
import subprocess
import sys

import pytest


def start(**variables: str) -> subprocess.CompletedProcess[str]:
    """Run the table service with these BAOHUANG_ variables and no others; it must refuse to start."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("BAOHUANG_")}
    chosen = {f"BAOHUANG_{name}": text for name, text in variables.items()}
    command = [sys.executable, "-m", "table_service.main"]
    return subprocess.run(  # noqa: S603 - our own module
        command, env=kept | chosen, capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({}, "BAOHUANG_POSTGRES_DSN: is not set"),
        ({"DEV_SEED": "7"}, "BAOHUANG_DEV_SEED makes every hand known"),
        ({"INSECURE_DEV": "true", "TABLE_LISTEN": "0.0.0.0:0"}, "loopback only, not 0.0.0.0:0"),
        ({"TABLE_LISTEN": "127.0.0.1:0"}, "Connection refused"),
        ({"DRAIN_GRACE_SECONDS": "-1"}, "BAOHUANG_DRAIN_GRACE_SECONDS: "),
        ({"TLS_CERT": "/nowhere/tls.crt"}, "BAOHUANG_TLS_CERT and BAOHUANG_TLS_KEY go together"),
        ({"TLS_CLIENT_CA": "/nowhere/ca.pem"}, "BAOHUANG_TLS_CLIENT_CA needs BAOHUANG_TLS_CERT"),
        ({"NATS_CA": "/nowhere/ca.pem", "NATS_URL": "nats://u:hunter2@127.0.0.1:1"}, "begins with tls://"),
    ],
)
def test_a_service_that_cannot_run_says_why_and_exits(variables: dict[str, str], said: str) -> None:
    """Exit code 1, the setting's name on standard error, no traceback and no secret."""
    dsn = {} if not variables else {"POSTGRES_DSN": "postgresql://u:hunter2@127.0.0.1:1/none"}
    ended = start(**dsn, **variables)
    assert ended.returncode == 1
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr
    assert "hunter2" not in ended.stderr


def test_keys_that_cannot_be_read_are_named(own_database_dsn: str) -> None:
    """Told to check tokens without keys to do it with, the service does not serve."""
    ended = start(POSTGRES_DSN=own_database_dsn, TABLE_LISTEN="127.0.0.1:0", JWKS="/nowhere/jwks.json")
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1].startswith(
        "table service: keys of tokens (BAOHUANG_JWKS): cannot read /nowhere"
    )


def test_certificates_that_cannot_be_read_are_named(own_database_dsn: str) -> None:
    """Told to serve over TLS, or to reach NATS over it, without the files for that, the service does not serve."""
    listen = {"POSTGRES_DSN": own_database_dsn, "TABLE_LISTEN": "127.0.0.1:0"}
    for files in (
        {"TLS_CERT": "/nowhere/tls.pem", "TLS_KEY": "/nowhere/tls.pem"},
        {"NATS_URL": "tls://127.0.0.1:1", "NATS_CA": "/nowhere/tls.pem"},
    ):
        ended = start(**listen, **files)
        assert ended.returncode == 1
        assert ended.stderr.splitlines()[-1] == "table service: cannot read /nowhere/tls.pem: No such file or directory"


def test_an_address_that_is_not_ours_is_named(own_database_dsn: str) -> None:
    """With a database and an address of another machine: exit code 1, and the address is in the message."""
    ended = start(POSTGRES_DSN=own_database_dsn, TABLE_LISTEN="203.0.113.1:50051")
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1].startswith("table service: cannot listen on 203.0.113.1:50051")
