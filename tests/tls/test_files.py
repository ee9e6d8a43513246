from datetime import timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from baohuang.tls.files import CertificateError, Tls, read
from baohuang.tls.renewal import Renewed
from tls.authorities import Authority

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
