"""How the process that plays for bots is told where and as whom: what it cannot do it says, and does not begin."""

import json
import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from baohuang.rpc.bearer import BearerAuthenticator
from baohuang.rpc.key_ring import KeyRing
from baohuang.rpc.key_sources import KeyFile
from baohuang.rpc.tokens import TokenPolicy
from baohuang.rules.state import PlayerId
from command_line.development_key import DevelopmentKey
from command_line.identities import by_key
from command_line.services import BESIDE_TABLES, BOTS, MATCHMAKING, TABLE
from command_line.surroundings import BackendOptions, Surroundings, bots_key


def ended(**variables: str) -> subprocess.CompletedProcess[str]:
    """Run `baohuang bots` with these BAOHUANG_ variables and no others; it must refuse to start."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("BAOHUANG_")}
    chosen = {f"BAOHUANG_{name}": text for name, text in variables.items()}
    command = [sys.executable, "-m", "command_line", "bots"]
    return subprocess.run(  # noqa: S603 - our own command
        command, env=kept | chosen, capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"INSECURE_DEV": "true"}, "BAOHUANG_TABLE_ADDRESS: is not set"),
        ({"TABLE_ADDRESS": "127.0.0.1:1"}, "BAOHUANG_BOTS_KEY is needed"),
        ({"TABLE_ADDRESS": "127.0.0.1:1", "BOTS_KEY": "/dev/null"}, "the bots' key (BAOHUANG_BOTS_KEY): /dev/null"),
    ],
)
def test_one_that_cannot_play_says_why(variables: dict[str, str], said: str) -> None:
    """Exit code 1 and the setting's name, no traceback."""
    done = ended(**variables)
    assert done.returncode == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr


async def test_a_key_of_your_issuer_vouches_for_bots(tmp_path: Path) -> None:
    """Tokens signed with a key of the operator's own set, for his issuer and audience, are believed by a service."""
    pem = tmp_path / "bots.pem"
    private = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    pem.touch(0o600)
    pem.write_bytes(private)
    key = DevelopmentKey.read(pem, "https://issuer.example", "cards")

    (tmp_path / "jwks.json").write_text(json.dumps({"keys": [key.jwk]}))
    ring = KeyRing(KeyFile(tmp_path / "jwks.json"))
    await ring.refresh()
    service = BearerAuthenticator(ring, TokenPolicy("cards", "https://issuer.example"))
    assert service.authenticate(by_key(key)(PlayerId("bot:1")).metadata()).player == "bot:1"


def test_where_nothing_vouches_for_bots_none_are_seated(tmp_path: Path) -> None:
    """With --jwks and no key for bots, matchmaking is told to fill no seat; with one, when it likes."""
    token = secrets.token_hex(8)
    addresses = dict.fromkeys((TABLE, *BESIDE_TABLES), "127.0.0.1:1")
    foreign = BackendOptions(tmp_path, jwks="keys.json", service_token=token)
    assert bots_key(foreign) is None
    del addresses[BOTS]
    without = Surroundings(foreign, "dsn", {}, addresses).environment_of(MATCHMAKING)
    assert without["BAOHUANG_FILL_WITH_BOTS_AFTER"] == "inf"
    assert without["BAOHUANG_SERVICE_TOKEN"] == token
    own = BackendOptions(tmp_path, jwks="keys.json", service_token=token, bots_key=tmp_path / "bots.pem")
    around = Surroundings(own, "dsn", {}, {**addresses, BOTS: "127.0.0.1:1"})
    assert "BAOHUANG_FILL_WITH_BOTS_AFTER" not in around.environment_of(MATCHMAKING)
    assert around.environment_of(BOTS)["BAOHUANG_BOTS_KEY"] == str(tmp_path / "bots.pem")
