"""What is told of certificates: of every file that something depends on, whoever has to renew it."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from baohuang.tls.counts import EXPIRES, SOUND, read_certificates
from baohuang.tls.files import Tls
from tls.authorities import Authority

_DAY = timedelta(days=1)


def told(tls: Tls) -> tuple[Mapping[tuple[str, str], object], Mapping[tuple[str], object]]:
    """Return in how many days each file expires, and what is sound."""
    found = {one.family: one.values for one in read_certificates({"server": tls, "nats": None})}
    now = datetime.now(UTC).timestamp()
    days = {labels: round((float(str(end)) - now) / _DAY.total_seconds()) for labels, end in found[EXPIRES].items()}
    return days, found[SOUND]


def test_the_first_end_in_each_file_is_told(tmp_path: Path) -> None:
    """Of authorities, also where nothing else is given, and of the certificates behind ours."""
    ours, other = Authority("ours"), Authority("other", lasts=3 * _DAY)
    issued = ours.issue(lasts=9 * _DAY)
    tls = issued.written(tmp_path, ours.written(tmp_path / "ca.crt"))
    assert told(tls) == ({("server", "certificate"): 9, ("server", "authorities"): 1}, {("server",): 1})
    (tmp_path / "ca.crt").write_bytes(other.pem)
    assert told(Tls(tmp_path / "ca.crt")) == ({("server", "authorities"): 3}, {("server",): 1})
    (tmp_path / "tls.crt").write_bytes(issued.certificate + other.pem)
    assert told(tls)[0] == {("server", "certificate"): 3, ("server", "authorities"): 3}


def test_what_cannot_be_used_is_no_certificate_of_1970(tmp_path: Path) -> None:
    """A file without certificates has no end; one that has expired has its own; neither is sound."""
    ours = Authority("ours")
    tls = ours.issue(lasts=-_DAY).written(tmp_path, ours.written(tmp_path / "ca.crt"))
    assert told(tls) == ({("server", "certificate"): -1, ("server", "authorities"): 1}, {("server",): 0})
    for text in ("no certificate", ""):
        (tmp_path / "tls.crt").write_text(text)
        assert told(tls) == ({("server", "authorities"): 1}, {("server",): 0})
    (tmp_path / "tls.crt").unlink()
    assert told(tls) == ({("server", "authorities"): 1}, {("server",): 0})
