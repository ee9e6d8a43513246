import base64
import hashlib
import hmac
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baohuang.rpc.auth import Caller, CallerId, Role
from baohuang.rpc.errors import Reason, Unauthenticated
from baohuang.rpc.tokens import TokenPolicy, TokenVerifier
from rpc.signers import NOW, Signer, ed25519, ring_of, rsa

POLICY = TokenPolicy("baohuang")


def verifier(now: float = NOW, policy: TokenPolicy = POLICY) -> TokenVerifier:
    """Give one that trusts the two keys, at that time."""
    return TokenVerifier(ring_of(ed25519(), rsa()), policy, lambda: now)


def problem(token: str, now: float = NOW, policy: TokenPolicy = POLICY) -> str:
    """Give what is wrong with a token, and check that the refusal quotes nothing of it."""
    with pytest.raises(Unauthenticated) as caught:
        verifier(now, policy).verify(token)
    refusal = caught.value
    assert (refusal.reason, refusal.metadata["key"]) == (Reason.UNAUTHENTICATED, "authorization")
    assert not any(part and part in refusal.message for part in token.split("."))
    return refusal.metadata["problem"]


def b64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


@pytest.mark.parametrize("signer", [ed25519(), rsa()], ids=["EdDSA", "RS256"])
@pytest.mark.parametrize("role", Role)
def test_a_sound_token_names_its_caller(signer: Signer, role: Role) -> None:
    """Both algorithms; sub is the caller, role his role, and the end that of exp with the leeway."""
    verified = verifier().verify(signer.token(role=role, iat=NOW, nbf=NOW))
    assert verified.caller == Caller(CallerId("alice"), role)
    assert verified.until == NOW + 60 + 5


def test_a_token_without_a_role_is_a_players() -> None:
    """The least of roles is the default."""
    assert verifier().verify(ed25519().token()).caller.role is Role.PLAYER


@pytest.mark.parametrize(("seconds_past", "accepted"), [(-1, True), (0, True), (4.9, True), (5, False), (6, False)])
def test_an_expired_token_has_five_seconds_more(seconds_past: float, accepted: bool) -> None:  # noqa: FBT001
    """Clocks differ: exp counts with a leeway of 5 s, not more."""
    token = ed25519().token(exp=NOW)
    if accepted:
        assert verifier(NOW + seconds_past).verify(token).caller.player == "alice"
    else:
        assert problem(token, NOW + seconds_past) == "EXPIRED"


@pytest.mark.parametrize("claim", ["nbf", "iat"])
def test_a_token_of_the_future_has_to_wait(claim: str) -> None:
    """Both nbf and iat may lie ahead by the leeway, not more."""
    token = ed25519().token(**{claim: NOW + 100, "exp": NOW + 200})
    assert problem(token, NOW + 94.9) == "NOT_YET_VALID"
    assert verifier(NOW + 95).verify(token).caller.player == "alice"


@pytest.mark.parametrize("audience", [None, "", "another", [], ["another", "third"], "baohuang2"])
def test_a_token_for_others_is_refused(audience: object) -> None:
    """No audience, or others only, is not ours."""
    assert problem(ed25519().token(aud=audience)) == "WRONG_AUDIENCE"


def test_ours_may_be_one_of_several_audiences() -> None:
    """RFC 7519, 4.1.3: aud is a text or a list."""
    assert verifier().verify(ed25519().token(aud=["another", "baohuang"])).caller.player == "alice"


@pytest.mark.parametrize(("issuer", "accepted"), [("us", True), ("them", False), (None, False)])
def test_an_issuer_that_is_configured_must_be_named(issuer: str | None, accepted: bool) -> None:  # noqa: FBT001
    """With an issuer in the settings, tokens of others and of none are refused; without, any is taken."""
    token = ed25519().token(iss=issuer)
    assert verifier().verify(token).caller.player == "alice"
    if accepted:
        assert verifier(policy=TokenPolicy("baohuang", "us")).verify(token).caller.player == "alice"
    else:
        assert problem(token, policy=TokenPolicy("baohuang", "us")) == "WRONG_ISSUER"


def test_a_token_by_another_key_of_the_same_name_is_refused() -> None:
    """A kid proves nothing: the signature has to be by that key."""
    impostor = Signer("ed", ed25519("other").private)
    assert problem(impostor.token()) == "WRONG_SIGNATURE"


def test_a_changed_token_is_refused() -> None:
    """Other claims under the old signature: the role cannot be raised."""
    header, _, signature = ed25519().token().split(".")
    claims = b64(json.dumps({"sub": "alice", "aud": "baohuang", "exp": NOW + 60, "role": "operator"}).encode())
    assert problem(f"{header}.{claims}.{signature}") == "WRONG_SIGNATURE"


def test_a_token_of_an_unknown_key_is_refused_and_the_keys_are_wanted() -> None:
    """The keys in force do not have its kid: a reading is asked for, not waited for."""
    ring = ring_of(ed25519())
    with pytest.raises(Unauthenticated) as caught:
        TokenVerifier(ring, POLICY, lambda: NOW).verify(ed25519("new").token())
    assert caught.value.metadata["problem"] == "UNKNOWN_KEY"
    assert ring._wanted.is_set()


def test_a_token_has_to_name_its_key() -> None:
    """Without kid nothing is tried."""
    payload = json.dumps({"sub": "alice", "aud": "baohuang", "exp": NOW + 60}).encode()
    header = b64(b'{"alg":"EdDSA"}')
    assert problem(f"{header}.{b64(payload)}.{b64(b'x' * 64)}") == "NO_KEY_ID"


@pytest.mark.parametrize("signer", [ed25519(), rsa()], ids=["EdDSA", "RS256"])
@pytest.mark.parametrize("algorithm", ["HS256", "HS512"])
def test_the_public_key_is_no_shared_secret(signer: Signer, algorithm: str) -> None:
    """Algorithm confusion: a token authenticated with the public key as HMAC secret, in PEM, is refused."""
    header = b64(json.dumps({"alg": algorithm, "kid": signer.kid}).encode())
    payload = signer.token().split(".")[1]
    digest = hashlib.sha256 if algorithm == "HS256" else hashlib.sha512
    for secret in (signer.public_pem, signer.public_pem.strip(), json.dumps(signer.jwk).encode()):
        mac = hmac.new(secret, f"{header}.{payload}".encode(), digest).digest()
        assert problem(f"{header}.{payload}.{b64(mac)}") == "WRONG_ALGORITHM"


@pytest.mark.parametrize("algorithm", ["none", "None", "", "RS256", "PS256", "ES256", "eddsa", "RS512", None, 7, []])
def test_a_token_does_not_choose_its_algorithm(algorithm: Any) -> None:
    """An Ed25519 key checks EdDSA only, whatever the header says, with a signature, an empty one or any other."""
    good = ed25519().token()
    header = b64(json.dumps({"alg": algorithm, "kid": "ed"}).encode())
    for signature in ("", "AAAA", good.rpartition(".")[2]):
        assert problem(f"{header}.{good.split('.')[1]}.{signature}") in {"WRONG_ALGORITHM", "MALFORMED"}


def test_an_rsa_key_does_not_check_the_other_algorithm() -> None:
    """The other way round: EdDSA by the kid of the RSA key."""
    assert problem(Signer("rsa", ed25519().private).token()) == "WRONG_ALGORITHM"


@pytest.mark.parametrize("changes", [{"crit": ["exp"]}, {"crit": ["b64"], "b64": False}, {"kid": 7}, {"kid": ["ed"]}])
def test_headers_that_ask_for_more_are_refused(changes: dict[str, Any]) -> None:
    """What is marked critical and not understood must not be ignored (RFC 7515, 4.1.11)."""
    header = b64(json.dumps({"alg": "EdDSA", "kid": "ed", **changes}).encode())
    _, payload, signature = ed25519().token().split(".")
    assert problem(f"{header}.{payload}.{signature}") == "MALFORMED"


@pytest.mark.parametrize("depth", [500, 3000])
def test_a_bottomless_header_or_payload_is_only_malformed(depth: int) -> None:
    """Nesting that no parser follows is refused like any nonsense."""
    deep = b"[" * depth
    _, payload, signature = ed25519().token().split(".")
    for header in (deep, b'{"alg":"EdDSA","kid":"ed","x":' + deep):
        assert problem(f"{b64(header)}.{payload}.{signature}") == "MALFORMED"
    assert problem(ed25519().signed(deep)) == "MALFORMED_CLAIMS"
    assert problem(ed25519().signed(b'{"x":' + deep)) == "MALFORMED_CLAIMS"


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\xff",
        b"[]",
        b"null",
        b'"sub"',
        b"{}",
        b'{"sub":"alice"}',
        b'{"sub":"alice","exp":null}',
        b'{"sub":"alice","exp":"1800000060"}',
        b'{"sub":"alice","exp":true}',
        b'{"sub":"alice","exp":NaN}',
        b'{"sub":"alice","exp":Infinity}',
        b'{"sub":"alice","exp":1e999}',
        b'{"sub":7,"exp":1800000060}',
        b'{"exp":1800000060}',
        b'{"sub":"alice","exp":1800000060,"nbf":"now"}',
        b'{"sub":"alice","exp":1800000060,"aud":{"baohuang":1}}',
        b'{"sub":"alice","exp":1800000060,"aud":["baohuang",7]}',
        b'{"sub":"alice","exp":1800000060,"role":["operator"]}',
    ],
)
def test_claims_that_are_missing_or_of_another_type_are_refused(payload: bytes) -> None:
    """Although signed by a good key: sub and exp are required, and every claim has its type."""
    assert problem(ed25519().signed(payload)) == "MALFORMED_CLAIMS"


@pytest.mark.parametrize("role", ["", "admin", "Operator", "player ", "OPERATOR"])
def test_a_role_that_does_not_exist_is_refused(role: str) -> None:
    """It is not read as the default."""
    assert problem(ed25519().token(role=role)) == "UNKNOWN_ROLE"


@given(st.text(max_size=70))
def test_sub_has_the_alphabet_of_callers(sub: str) -> None:
    """A token's subject is accepted exactly when a development identity would be."""
    alphanumeric = set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
    sound = 1 <= len(sub) <= 64 and sub[0] in alphanumeric and set(sub) <= alphanumeric | set("._@:-")
    token = ed25519().token(sub=sub)
    if sound:
        assert verifier().verify(token).caller.player == sub
    else:
        assert problem(token) == "UNSOUND_SUBJECT"


@given(st.binary(max_size=200))
def test_any_signed_payload_is_accepted_or_refused(payload: bytes) -> None:
    """Nothing but Unauthenticated leaves the check, whatever a trusted key signed."""
    assert problem(ed25519().signed(payload)) == "MALFORMED_CLAIMS"


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from(["alg", "kid", "typ", "crit", "b64", "jwk", "jku", "x5c"]), JSON))
def test_any_header_is_refused(header: dict[str, Any]) -> None:
    """Headers of all shapes on a good token's claims and signature: Unauthenticated, nothing else."""
    _, payload, signature = ed25519().token().split(".")
    assert problem(f"{b64(json.dumps(header).encode())}.{payload}.{signature}")
