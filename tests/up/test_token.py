"""`baohuang token` and the key behind it, as a user has them; the last test against a backend of all real parts."""

import json
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from baohuang.client import BearerToken, DevelopmentIdentity, NotKnownError, connect
from baohuang.rpc.auth import Caller, CallerId, Role
from baohuang.rpc.bearer import BearerAuthenticator
from baohuang.rpc.key_ring import KeyRing
from baohuang.rpc.key_sources import KeyFile
from baohuang.rpc.tokens import TokenPolicy
from baohuang.rules.state import PlayerId
from command_line.backend import LocalBackend
from command_line.development_key import (
    AUDIENCE,
    ISSUER,
    DevelopmentKey,
    DevelopmentKeyError,
    jwks_path,
    signing_key_path,
)
from command_line.surroundings import BackendOptions
from play.player_process import player


def token(data: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run `baohuang token --data DATA OPTIONS...`."""
    command = [sys.executable, "-m", "command_line", "token", "--data", str(data), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)  # noqa: S603 - ours


async def caller_of(data: Path, printed: str) -> Caller:
    """Check a token as the services of this data folder do."""
    ring = KeyRing(KeyFile(jwks_path(data)))
    await ring.refresh()
    return BearerAuthenticator(ring, TokenPolicy(AUDIENCE, ISSUER)).authenticate(
        [("authorization", f"Bearer {printed}")]
    )


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_key_is_its_owners_alone_and_stays(tmp_path: Path) -> None:
    """Made once, 0600 in a closed folder; found again by the next start; the JWK set holds the public half only."""
    first = DevelopmentKey.made_or_found(tmp_path)
    assert mode(signing_key_path(tmp_path)) == 0o600
    assert mode(signing_key_path(tmp_path).parent) == 0o700
    published = json.loads(jwks_path(tmp_path).read_bytes())
    assert published == {"keys": [first.jwk]}
    assert not {"d", "k"} & set(first.jwk)
    jwks_path(tmp_path).unlink()
    assert DevelopmentKey.made_or_found(tmp_path).jwk == first.jwk == DevelopmentKey.of(tmp_path).jwk
    assert json.loads(jwks_path(tmp_path).read_bytes()) == published


@pytest.mark.parametrize("content", [b"", b"-----BEGIN PRIVATE KEY-----", b"\xff" * 99])
def test_a_key_that_is_none_is_named(tmp_path: Path, content: bytes) -> None:
    """It is not replaced behind its owner's back."""
    DevelopmentKey.made_or_found(tmp_path)
    signing_key_path(tmp_path).write_bytes(content)
    with pytest.raises(DevelopmentKeyError, match="no Ed25519 key"):
        DevelopmentKey.made_or_found(tmp_path)
    assert signing_key_path(tmp_path).read_bytes() == content


def test_a_key_that_others_can_read_is_not_used(tmp_path: Path) -> None:
    """Whoever read it can be anybody."""
    DevelopmentKey.made_or_found(tmp_path)
    signing_key_path(tmp_path).chmod(0o640)
    with pytest.raises(DevelopmentKeyError, match="open to other users"):
        DevelopmentKey.of(tmp_path)


async def test_the_command_prints_one_token(tmp_path: Path) -> None:
    """Nothing else stands on standard output, so that it can be put into a variable; it names player and role."""
    DevelopmentKey.made_or_found(tmp_path)
    done = token(tmp_path, "--player", "alice", "--role", "operator", "--hours", "1")
    assert (done.returncode, done.stderr) == (0, "")
    (line,) = done.stdout.splitlines()
    assert await caller_of(tmp_path, line) == Caller(CallerId("alice"), Role.OPERATOR)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--player", "a b"), "--player"),
        (("--player", "x" * 65), "--player"),
        (("--player", "alice", "--role", "king"), "--role"),
        (("--player", "alice", "--hours", "0"), "--hours"),
        ((), "--player"),
    ],
)
def test_a_wrong_option_is_named(tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    """Exit code 2 and no token."""
    DevelopmentKey.made_or_found(tmp_path)
    done = token(tmp_path, *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_without_a_key_it_says_what_to_do(tmp_path: Path) -> None:
    """Exit code 1, the path, no traceback, and no key made that no service would know."""
    done = token(tmp_path, "--player", "alice")
    assert (done.returncode, done.stdout) == (1, "")
    assert f"no key at {signing_key_path(tmp_path)}" in done.stderr
    assert "baohuang up" in done.stderr
    assert list(tmp_path.iterdir()) == []


async def test_a_backend_knows_whom_it_gave_a_token(data: Path) -> None:
    """From the command to a table, over real PostgreSQL: alice opens one; her bare word does not count."""
    async with LocalBackend(BackendOptions(data)) as backend:
        printed = token(data, "--player", "alice").stdout.strip()
        async with connect(backend.table.address, BearerToken(printed)) as alice:
            opened = await alice.open_table("ourgame-simple")
            assert (await alice.get_table(opened.table_id)).table.opened_by == "alice"
        async with connect(backend.table.address, DevelopmentIdentity(PlayerId("alice"))) as nobody:
            with pytest.raises(NotKnownError) as caught:
                await nobody.open_table("ourgame-simple")
    assert caught.value.metadata["problem"] == "MISSING"
    assert printed not in (data / "table/log").read_text()


async def test_a_person_plays_with_bots_where_tokens_are_wanted(data: Path, tmp_path: Path) -> None:
    """`baohuang play --data`: at the backend of that folder, all five with tokens of its key; a token of one's own."""
    async with LocalBackend(BackendOptions(data)) as backend:
        async with player(tmp_path, "--data", str(data)) as me:
            shown = await me.until(" >")
            assert any(re.search(r"hand 1 starts: me, Lin\w{4}, ", line) for line in shown)
        printed = token(data, "--player", "alice").stdout.strip()
        at = ("--address", backend.table.address, "--data", str(data), "--token", printed)
        async with player(tmp_path, *at) as alice:
            shown = await alice.until(" >")
            assert any("hand 1 starts: alice, " in line for line in shown)


async def test_a_folder_without_a_backend_is_named(tmp_path: Path) -> None:
    """Exit code 2, the folder, and what to do."""
    async with player(tmp_path, "--data", str(tmp_path)) as me:
        code, _, complaint = await me.end()
    assert code == 2
    assert "--data" in complaint
    assert "baohuang up" in complaint


def test_no_token_is_given_to_who_calls_himself_a_bot(tmp_path: Path) -> None:
    """The issuer gives the names of bots to nobody."""
    DevelopmentKey.made_or_found(tmp_path)
    refused = token(tmp_path, "--player", "bot:a")
    assert refused.returncode == 2
    assert "bots" in refused.stderr
    assert not refused.stdout
