from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from structlog.testing import capture_logs

from baohuang.tls.files import CertificateError, Tls, read
from baohuang.tls.renewal import Renewed
from tls.authorities import Authority, Issued

AUTHORITY = Authority("ours")
YESTERDAY = timedelta(days=-1)


def test_files_that_are_not_sound_are_named(tmp_path: Path) -> None:
    """Missing, no PEM, another's key, expired: each error says which file it is and what is wrong with it."""
    ours, other = AUTHORITY.issue().written(tmp_path / "ours"), AUTHORITY.issue().written(tmp_path / "other")
    expired = AUTHORITY.issue(lasts=YESTERDAY).written(tmp_path / "expired")
    (tmp_path / "text").write_text("no certificate")
    for tls, said in (
        (Tls(tmp_path / "nowhere"), "nowhere: No such file"),
        (Tls(tmp_path / "text"), "text holds no certificates"),
        (Tls(None, ours.certificate, tmp_path / "text"), "text holds no private key"),
        (Tls(None, ours.certificate, other.key), "other/tls.key is not the key of .*ours/tls.crt"),
        (expired, "expired/tls.crt has expired, on 20"),
    ):
        with pytest.raises(CertificateError, match=said):
            read(tls)
    assert read(ours).expires is not None


def test_a_key_that_grpc_cannot_serve_is_refused(tmp_path: Path) -> None:
    """Ed25519, of the certificate or of who signed it: it would be served, and nobody could connect."""
    own, name = Ed25519PrivateKey.generate(), x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "table")])
    now = datetime.now(UTC)
    keys: tuple[Ed25519PrivateKey | EllipticCurvePrivateKey, ...] = (own, generate_private_key(SECP256R1()))
    for number, key in enumerate(keys):
        builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        builder = builder.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
        certificate = builder.sign(own, None).public_bytes(Encoding.PEM)
        raw = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        with pytest.raises(CertificateError, match="is not of RSA or EC keys"):
            read(Issued(certificate, raw).written(tmp_path / str(number)))


def test_a_certificate_without_its_key_is_refused() -> None:
    """One of the two alone can be nothing but a mistake."""
    with pytest.raises(CertificateError, match="go together"):
        Tls(certificate=Path("tls.crt"))


def test_the_key_is_not_shown(tmp_path: Path) -> None:
    """Neither printing what was read nor an error about it shows the key."""
    issued = AUTHORITY.issue()
    assert issued.key.decode() not in repr(read(issued.written(tmp_path)))
    assert "PRIVATE" not in repr(read(issued.written(tmp_path)))


def test_a_renewal_is_taken_when_it_is_sound(tmp_path: Path) -> None:
    """Between the writing of its two files, or expired, it changes nothing and is logged once; whole it is in use."""
    first, second = AUTHORITY.issue(), AUTHORITY.issue()
    now = [0.0]
    renewed = Renewed(first.written(tmp_path), look_seconds=2.0, clock=lambda: now[0])
    before = renewed.now()

    def later() -> bool:
        now[0] += 2.0
        return renewed.now() is not before

    with capture_logs() as logged:
        (tmp_path / "tls.crt").write_bytes(second.certificate)
        assert [later(), later()] == [False, False]
        AUTHORITY.issue(lasts=YESTERDAY).written(tmp_path)
        assert not later()
        second.written(tmp_path)
        assert renewed.now() is before  # it was looked at a moment ago
        assert later()
    assert renewed.now().certificate == second.certificate
    assert [line["event"] for line in logged] == [
        "certificates not renewed, the last ones stay in use",
        "certificates not renewed, the last ones stay in use",
        "certificates renewed",
    ]
