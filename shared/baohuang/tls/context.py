"""What Python's own TLS needs, for clients that are no gRPC: NATS."""

import ssl

from baohuang.tls.files import Tls, read


def client_context(tls: Tls) -> ssl.SSLContext:
    """Return a context with what the files hold now; it checks the server's certificate and its name.

    Raises CertificateError.
    """
    read(tls)
    context = ssl.create_default_context(cafile=tls.authorities)
    if tls.certificate is not None:
        context.load_cert_chain(tls.certificate, tls.key)
    return context
