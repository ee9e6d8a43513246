import pytest
from hypothesis import given
from hypothesis import strategies as st

from baohuang.rpc.auth import DevelopmentAuthenticator, Role, TokenOrWordAuthenticator
from baohuang.rpc.bearer import BearerAuthenticator
from baohuang.rpc.errors import Unauthenticated
from baohuang.rpc.keys import key_set
from baohuang.rpc.tokens import TokenPolicy
from rpc.signers import NOW, bearer, ed25519, jwks, ring_of

POLICY = TokenPolicy("baohuang")


class Clock:
    """A clock that is set."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        """Read it."""
        return self.now


def authenticator() -> BearerAuthenticator:
    return BearerAuthenticator(ring_of(ed25519()), POLICY, Clock())


def problem(found: Unauthenticated) -> str:
    return found.metadata["problem"]


@pytest.mark.parametrize("scheme", ["Bearer ", "bearer ", "BEARER   "])
def test_the_scheme_is_read_as_http_has_it(scheme: str) -> None:
    """RFC 9110, 11.1: the scheme in any case, one space or more."""
    caller = authenticator().authenticate([("user-agent", "x"), ("authorization", scheme + ed25519().token())])
    assert (caller.player, caller.role) == ("alice", Role.PLAYER)


def test_a_call_without_a_token_is_told_so() -> None:
    """What is missing is named; a word on who one is does not count."""
    with pytest.raises(Unauthenticated, match="authorization is missing") as caught:
        authenticator().authenticate([("baohuang-player", "alice")])
    assert problem(caught.value) == "MISSING"


TOKEN = ed25519().token()


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        TOKEN,
        f"Basic {TOKEN}",
        f"Bearer{TOKEN}",
        f"Bearer\t{TOKEN}",
        f" Bearer {TOKEN}",
        f"Bearer {TOKEN} ",
        f"Bearer {TOKEN}\n",
        f"Bearer {TOKEN}, Bearer {TOKEN}",
        f"Bearer {TOKEN}=",
        f"Bearer {TOKEN}.x",
        f"Bearer {TOKEN.rpartition('.')[0]}",
        f"Bearer {TOKEN.rpartition('.')[0]}.",
        "Bearer ..",
        "Bearer a.b.c",
        "Bearer é.é.é",
        f"Bearer {TOKEN.replace('.', '。')}",
        f"Bearer {ed25519().token(padding='x' * 4096)}",
    ],
)
def test_a_header_that_holds_no_token_is_malformed(header: str) -> None:
    """Refused by form, and not quoted."""
    with pytest.raises(Unauthenticated) as caught:
        authenticator().authenticate([("authorization", header)])
    assert problem(caught.value) == "MALFORMED"
    assert TOKEN not in caught.value.message


@pytest.mark.parametrize("second", [TOKEN, ed25519().token(sub="bob")])
def test_two_tokens_are_one_too_many(second: str) -> None:
    """Which one would count is nobody's guess."""
    with pytest.raises(Unauthenticated) as caught:
        authenticator().authenticate([*bearer(TOKEN), *bearer(second)])
    assert problem(caught.value) == "MALFORMED"


@given(st.text() | st.binary() | st.from_regex(r"(?i)bearer [\w-]*\.[\w-]*\.[\w-]*"))
def test_no_header_does_more_than_be_refused(value: str | bytes) -> None:
    """Any value at all: Unauthenticated and no other exception."""
    with pytest.raises(Unauthenticated):
        authenticator().authenticate([("authorization", value)])


@given(st.data())
def test_no_altered_token_passes(data: st.DataObject) -> None:
    """One character changed anywhere in a good token is a refusal."""
    place = data.draw(st.integers(0, len(TOKEN) - 1))
    letter = data.draw(st.characters(codec="ascii").filter(lambda letter: letter != TOKEN[place]))
    with pytest.raises(Unauthenticated):
        authenticator().authenticate(bearer(TOKEN[:place] + letter + TOKEN[place + 1 :]))


def test_a_remembered_token_still_expires() -> None:
    """Being remembered gains it nothing: at exp and five seconds it is over."""
    clock = Clock()
    known = BearerAuthenticator(ring_of(ed25519()), POLICY, clock)
    metadata = bearer(ed25519().token(exp=NOW + 60))
    for clock.now in (NOW, NOW + 64.9):
        assert known.authenticate(metadata).player == "alice"
    clock.now = NOW + 65
    with pytest.raises(Unauthenticated) as caught:
        known.authenticate(metadata)
    assert problem(caught.value) == "EXPIRED"
    assert not known._held


def test_a_remembered_token_falls_with_its_key() -> None:
    """Withdraw the key, and the calls after it are refused, whatever was remembered."""
    ring = ring_of(ed25519())
    known = BearerAuthenticator(ring, POLICY, Clock())
    assert known.authenticate(bearer(TOKEN)).player == "alice"
    ring.current = key_set(jwks(ed25519("next")))
    with pytest.raises(Unauthenticated) as caught:
        known.authenticate(bearer(TOKEN))
    assert problem(caught.value) == "UNKNOWN_KEY"


def test_a_token_is_verified_once() -> None:
    """The second call of a token gives the very caller of the first."""
    known = authenticator()
    assert known.authenticate(bearer(TOKEN)) is known.authenticate(bearer(TOKEN))


def test_memory_is_bounded_and_keeps_who_called_last() -> None:
    """Ever new tokens push out the one used longest ago; refused ones are not remembered at all."""
    known = BearerAuthenticator(ring_of(ed25519()), POLICY, Clock(), tokens_held=3)
    tokens = [bearer(ed25519().token(sub=f"p{number}")) for number in range(5)]
    first = known.authenticate(tokens[0])
    for token in tokens[1:]:
        known.authenticate(token)
        assert known.authenticate(tokens[0]) is first
    with pytest.raises(Unauthenticated):
        known.authenticate(bearer(ed25519().token(aud="another")))
    assert [held.caller.player for held in known._held.values()] == ["p3", "p4", "p0"]


def test_a_token_wins_over_a_word() -> None:
    """Where both are believed: the token counts if there is one, and a bad one does not fall back to the word."""
    both = TokenOrWordAuthenticator(authenticator(), DevelopmentAuthenticator())
    word = (("baohuang-player", "bob"), ("baohuang-role", "operator"))
    assert both.authenticate(word).player == "bob"
    caller = both.authenticate((*word, *bearer(TOKEN)))
    assert (caller.player, caller.role) == ("alice", Role.PLAYER)
    with pytest.raises(Unauthenticated):
        both.authenticate((*word, *bearer(ed25519("unknown").token())))
