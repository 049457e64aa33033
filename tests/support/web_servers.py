"""Small web servers on this machine, each on a thread, for what asks addresses of the web."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

Answer = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class WebServer:
    """A server that answers as it is told, and keeps what it was asked."""

    host: str
    port: int
    asked: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)
    """Method, path, headers and body of each request."""

    def url(self, path: str = "/") -> str:
        return f"http://{self.host}:{self.port}{path}"


@contextmanager
def web_server(
    answer: Answer, *, host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None
) -> Iterator[WebServer]:
    """Serve until the end of the block; each request is handed to `answer`."""
    kept = WebServer(host, port)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            body = self.rfile.read(length)
            headers = {name.lower(): value for name, value in self.headers.items()}
            kept.asked.append((self.command, self.path, headers, body))
            self.close_connection = True
            answer(self)

        do_POST = do_GET

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False

        def handle_error(self, request: object, client_address: object) -> None:
            """A client that went away is what some tests want."""

    server = Quiet((host, port), Handler)
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    kept.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield kept
    finally:
        server.shutdown()
        server.server_close()


def says(
    body: bytes | str,
    content_type: str = "text/html; charset=utf-8",
    status: int = 200,
    **more: str,
) -> Answer:
    """Answers everything with this; `more` are headers, with _ for -."""
    content = body.encode() if isinstance(body, str) else body

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        request.send_header("Content-Type", content_type)
        request.send_header("Content-Length", str(len(content)))
        for name, value in more.items():
            request.send_header(name.replace("_", "-"), value)
        request.end_headers()
        request.wfile.write(content)

    return answer


def redirecting(location: str, status: int = 302) -> Answer:
    """Redirects its root there, and says at any other path where it is."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        if request.path == "/":
            says("", status=status, Location=location)(request)
        else:
            says(f"at {request.path}")(request)

    return answer


def certificate_for(name: str, folder: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """What a server of that name presents, and what a client that trusts it checks with."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    try:
        alternative: x509.GeneralName = x509.IPAddress(ip_address(name))
    except ValueError:
        alternative = x509.DNSName(name)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([alternative]), critical=False)
        .sign(key, hashes.SHA256())
    )
    path = folder / f"{name}.pem"
    pem, private = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    secret = key.private_bytes(pem, private, serialization.NoEncryption())
    path.write_bytes(secret + made.public_bytes(pem))
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(path)
    client = ssl.create_default_context(cadata=made.public_bytes(pem).decode())
    return server, client
