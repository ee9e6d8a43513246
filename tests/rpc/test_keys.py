import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baohuang.rpc.keys import BadKeySetError, key_set
from rpc.signers import ed25519, jwks, rsa

ED = ed25519().jwk
RSA = rsa().jwk


def kids(*keys: Any) -> dict[str, str]:
    """Give the algorithm by kid that a set of these keys comes to."""
    by_id = key_set(json.dumps({"keys": keys, "more": 1}).encode()).by_id
    return {kid: key.algorithm_name for kid, key in by_id.items()}


def test_keys_are_pinned_by_their_type() -> None:
    """Ed25519 is EdDSA, RSA is RS256; labels that agree are taken, and members nobody knows ignored."""
    assert kids(ED, RSA) == {"ed": "EdDSA", "rsa": "RS256"}
    assert kids({**ED, "alg": "EdDSA", "use": "sig"}, {**RSA, "alg": "RS256", "key_ops": ["verify"], "x5t": "?"}) == {
        "ed": "EdDSA",
        "rsa": "RS256",
    }
    assert kids({**ED, "alg": "Ed25519"}) == {"ed": "EdDSA"}


@pytest.mark.parametrize(
    "other",
    [
        {**RSA, "use": "enc"},
        {**RSA, "alg": "PS256"},
        {**RSA, "alg": "RSA-OAEP"},
        {**RSA, "alg": ["RS256"]},
        {**RSA, "key_ops": ["encrypt"]},
        {**RSA, "key_ops": 7},
        {"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA", "kid": "ec"},
        {**ED, "crv": "Ed448"},
        {**ED, "crv": "X25519"},
        {"kty": ["RSA"]},
        {},
    ],
)
def test_keys_for_other_things_are_left_out(other: dict[str, Any]) -> None:
    """A provider's set holds more than ours; a set of nothing else is no set."""
    assert kids(ed25519("ours").jwk, other) == {"ours": "EdDSA"}
    with pytest.raises(BadKeySetError, match="no key for"):
        kids(other)


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ({**ED, "kid": None}, "no kid"),
        ({**ED, "kid": ""}, "no kid"),
        ({**ED, "kid": 7}, "no kid"),
        ({name: value for name, value in ED.items() if name != "x"}, "not a sound EdDSA key"),
        ({**ED, "x": "AAAA"}, "not a sound EdDSA key"),
        ({**ED, "x": 7}, "not a sound EdDSA key"),
        ({**RSA, "n": "?"}, "not a sound RS256 key"),
        ({**RSA, "e": ""}, "not a sound RS256 key"),
        (rsa("weak", 1024).jwk, "less than 2048 bits"),
        ({**ED, "d": ED["x"]}, "is a secret"),
        ({"kty": "oct", "k": "c2VjcmV0", "kid": "shared"}, "is a secret"),
    ],
)
def test_a_set_with_an_unsound_key_is_refused(key: dict[str, Any], said: str) -> None:
    """It is a mistake that has to be seen: the message says which key it is and quotes nothing of it."""
    with pytest.raises(BadKeySetError, match=said) as caught:
        kids(ed25519("good").jwk, key)
    assert "keys[1]" in str(caught.value)
    assert not any(str(value) in str(caught.value) for value in key.values() if len(str(value)) > 5)


def test_two_keys_of_one_name_are_refused() -> None:
    """Which of them a token means would be a guess."""
    with pytest.raises(BadKeySetError, match="same kid"):
        kids(ED, {**RSA, "kid": "ed"})


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"[]", b"{}", b'{"keys":{}}', b'{"keys":[7]}', b'{"keys":[]}', b'{"keys":' + b"[" * 5000]
)
def test_what_is_no_set_is_refused(raw: bytes) -> None:
    """An empty file, half a file, other JSON."""
    with pytest.raises(BadKeySetError):
        key_set(raw)


VALUES = st.none() | st.integers() | st.text(max_size=8) | st.lists(st.text(max_size=4), max_size=2)
CHANGES = st.dictionaries(st.sampled_from(["kty", "crv", "x", "n", "e", "kid", "use", "alg", "key_ops"]), VALUES)


@given(st.sampled_from([ED, RSA]), CHANGES)
def test_a_spoilt_key_makes_a_set_or_a_refusal(key: dict[str, Any], changes: dict[str, Any]) -> None:
    """Whatever stands in a key, nothing but BadKeySetError comes of it, and no other algorithm."""
    try:
        found = kids(key | changes)
    except BadKeySetError:
        return
    assert set(found.values()) <= {"EdDSA", "RS256"}


@given(st.integers(0, len(jwks(ed25519())) - 1))
def test_half_a_file_is_refused(length: int) -> None:
    """A file that is being written does not shrink the set: it is no set."""
    with pytest.raises(BadKeySetError):
        key_set(jwks(ed25519())[:length])
