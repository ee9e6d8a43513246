"""A service's own token is looked at before it is shown to anybody."""

import time

import pytest
from pydantic import SecretStr

from baohuang.rpc.configuration import ConfigurationError, from_environment
from baohuang.rpc.service_token import expires_at, read_service_token
from matchmaking_service.settings import MatchmakingSettings
from rpc.signers import ed25519

VARIABLE = "BAOHUANG_SERVICE_TOKEN"
IN_A_YEAR = time.time() + 365 * 86_400.0


@pytest.fixture(autouse=True)
def _the_rest_is_sound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAOHUANG_POSTGRES_DSN", "postgresql://127.0.0.1:1/none")
    monkeypatch.setenv("BAOHUANG_TABLE_ADDRESS", "127.0.0.1:1")


def taken(token: str) -> str:
    """Return what the settings have of a token in the environment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, token)
        settings = from_environment(MatchmakingSettings)
    assert settings.service_token is not None
    return settings.service_token.get_secret_value()


@pytest.mark.parametrize("around", ["{}\n", "{}\r\n", " {}", "\t{} \n\n"])
def test_white_space_around_it_is_taken_away(around: str) -> None:
    """As a file has it, or a Secret that was made with `echo`."""
    token = ed25519().token(exp=IN_A_YEAR)
    assert taken(around.format(token)) == token


@pytest.mark.parametrize(
    ("token", "said"),
    [
        ("swordfish\nswordfish", "holds a character"),
        ("swordfish\x7f", "holds a character"),
        ("swörd\u00adfish", "holds a character"),
        ("Bearer swordfish", "holds a character"),
        (" \n", "is empty"),
        ("", "is empty"),
        (ed25519().token(exp=time.time() - 1), "has expired"),
        (ed25519().token(exp=float("-1e300")), "has expired"),
    ],
)
def test_one_that_nobody_can_believe_is_refused(token: str, said: str) -> None:
    """By its variable's name, and without a word of it."""
    with pytest.raises(ConfigurationError, match=f"^{VARIABLE}: {said}") as caught:
        taken(token)
    assert "sword" not in str(caught.value)
    assert token.strip() not in str(caught.value) or not token.strip()


@pytest.mark.parametrize("token", ["opaque", "a.b.c", ed25519().token(exp=None), ed25519().signed(b"[]")])
def test_one_that_tells_no_end_is_taken(token: str) -> None:
    """Whether it is believed is for others to say; no end of it is told."""
    assert taken(token) == token
    (reading,) = read_service_token(SecretStr(token))
    assert reading.values == {}


def test_its_end_is_told() -> None:
    """To Prometheus, in seconds since 1970; where there is no token nothing is."""
    token = ed25519().token(exp=IN_A_YEAR)
    assert expires_at(token) == pytest.approx(IN_A_YEAR)
    (reading,) = read_service_token(SecretStr(token))
    assert reading.values == {(): pytest.approx(IN_A_YEAR)}
    (reading,) = read_service_token(None)
    assert reading.values == {}
