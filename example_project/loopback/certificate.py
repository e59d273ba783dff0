"""Self-signed certificates, made when a host is first connected to."""

from __future__ import annotations

import ipaddress
import ssl
import tempfile
import threading
from datetime import datetime, timedelta, timezone
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


class SelfSigned:
    """Server-side TLS contexts, one for each host name, all with one key.

    A host has a certificate of its own, so that a client that looks at the name (as
    Scrapy does, to log a warning) finds the right one.
    """

    def __init__(self) -> None:
        """Make the key: P-256, which takes a fraction of a millisecond."""
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._contexts: dict[str, ssl.SSLContext] = {}
        self._lock = threading.Lock()

    def context(self, host: str) -> ssl.SSLContext:
        """Return the TLS context for *host*, a name or an IP address."""
        with self._lock:
            if host not in self._contexts:
                self._contexts[host] = self._new_context(host)
            return self._contexts[host]

    def _new_context(self, host: str) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        # The ssl module reads certificates from files only.
        with tempfile.TemporaryDirectory(prefix="loopback-") as directory:
            chain = Path(directory, "chain.pem")
            chain.write_bytes(self._private_key() + self._certificate(host))
            context.load_cert_chain(chain)
        return context

    def _private_key(self) -> bytes:
        return self._key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )

    def _certificate(self, host: str) -> bytes:
        # The name that counts is the alternative one (RFC 9525, section 2); the common
        # name may have 64 characters at most, so it does not repeat the host.
        name = x509.Name.from_rfc4514_string("CN=loopback")
        now = datetime.now(timezone.utc)
        certificate = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(self._key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=1))
            .add_extension(x509.SubjectAlternativeName([_general_name(host)]), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        return certificate.public_bytes(serialization.Encoding.PEM)


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host.strip("[]")))
    except ValueError:
        return x509.DNSName(host)
