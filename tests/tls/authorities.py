"""Certificates made on the fly, by authorities of a test's own."""

import ipaddress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from baohuang.tls.files import Tls

LOOPBACK = "127.0.0.1"
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Issued:
    """A certificate and its key, in PEM."""

    certificate: bytes
    key: bytes

    def written(self, folder: Path, authorities: Path | None = None) -> Tls:
        """Write both, over what is there, and give the files."""
        folder.mkdir(exist_ok=True)
        tls = Tls(authorities, folder / "tls.crt", folder / "tls.key")
        (folder / "tls.crt").write_bytes(self.certificate)
        (folder / "tls.key").write_bytes(self.key)
        return tls


class Authority:
    """Vouches for whom it is asked to."""

    def __init__(self, name: str, lasts: timedelta = _DAY) -> None:
        self._key = generate_private_key(SECP256R1())
        self._name = _named(name)
        builder = _builder(self._name, self._name, self._key, lasts)
        usage = x509.KeyUsage(
            digital_signature=True,
            content_commitment=False,
            key_encipherment=False,
            data_encipherment=False,
            key_agreement=False,
            key_cert_sign=True,
            crl_sign=True,
            encipher_only=False,
            decipher_only=False,
        )
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        self._certificate = builder.add_extension(usage, critical=True).sign(self._key, hashes.SHA256())

    @property
    def pem(self) -> bytes:
        """Its own certificate."""
        return self._certificate.public_bytes(Encoding.PEM)

    def written(self, path: Path) -> Path:
        """Write its certificate and give the file."""
        path.write_bytes(self.pem)
        return path

    def issue(self, name: str = "somebody", host: str = LOOPBACK, lasts: timedelta = _DAY) -> Issued:
        """Vouch for somebody at a host, for so long from now; less than nothing is a certificate that has expired."""
        key = generate_private_key(SECP256R1())
        builder = _builder(_named(name), self._name, key, lasts)
        names = x509.SubjectAlternativeName([_at(host)])
        signer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        builder = builder.add_extension(names, critical=False).add_extension(signer, critical=False)
        certificate = builder.sign(self._key, hashes.SHA256())
        private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        return Issued(certificate.public_bytes(Encoding.PEM), private)


def _at(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _builder(
    subject: x509.Name, issuer: x509.Name, key: EllipticCurvePrivateKey, lasts: timedelta
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - 10 * _DAY)
        .not_valid_after(now + lasts)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
