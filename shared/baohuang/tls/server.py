"""A gRPC server's credentials, made anew for each connection that comes after a renewal."""

import grpc

from baohuang.tls.files import CertificateError, Pem, Tls
from baohuang.tls.renewal import Renewed


def server_credentials(tls: Tls) -> grpc.ServerCredentials:
    """Return credentials that show the certificate; with authorities, clients have to show one of theirs.

    Raises CertificateError.
    """
    if tls.certificate is None:
        raise CertificateError("a server needs a certificate")
    renewed = Renewed(tls)
    given = renewed.now()

    def at_handshake() -> grpc.ServerCertificateConfiguration | None:
        """Give what is new since the last connection, None if nothing is; on a thread of grpc's."""
        nonlocal given
        pem = renewed.now()
        if pem is given:
            return None
        given = pem
        return _configuration(pem)

    return grpc.dynamic_ssl_server_credentials(
        _configuration(given),
        at_handshake,  # type: ignore[arg-type] # the stub does not know of None
        tls.authorities is not None,
    )


def _configuration(pem: Pem) -> grpc.ServerCertificateConfiguration:
    if pem.key is None or pem.certificate is None:
        raise CertificateError("a server needs a certificate")
    return grpc.ssl_server_certificate_configuration([(pem.key, pem.certificate)], pem.authorities)
