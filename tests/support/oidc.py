"""A provider of OpenID Connect on this machine, who knows one person and asks nothing."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt

CLIENT, SECRET = "memoryweb", "a secret of thirty-two characters"


class Provider(ThreadingHTTPServer):
    """`person` are the claims about whoever logs in; `asked` the authorizations, as they came."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.person = {"sub": "4711", "preferred_username": "dave", "email": "dave@example.org"}
        self.asked: list[dict[str, str]] = []

    def answer(self, path: str, query: dict[str, str], form: dict[str, str]) -> Any:
        """What JSON there is at an address; a string is a redirect there."""
        if path == "/.well-known/openid-configuration":
            ends = ("authorization", "token", "userinfo")
            config = {f"{end}_endpoint": f"{self.url}/{end}" for end in ends}
            return {"issuer": self.url, "jwks_uri": f"{self.url}/keys", **config}
        if path == "/authorization":
            self.asked.append(query)
            back = {"code": "c", "state": query["state"]}
            return f"{query['redirect_uri']}?{urlencode(back)}"
        if path == "/token":
            assert form["code"] == "c"
            claims = {**self.person, "iss": self.url, "aud": CLIENT, "exp": time.time() + 60}
            claims["iat"] = time.time()
            token = jwt.encode(claims, SECRET, "HS256")
            return {"access_token": "a", "token_type": "Bearer", "id_token": token}
        return self.person


class Handler(BaseHTTPRequestHandler):
    server: Provider

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        length = int(self.headers.get("Content-Length", 0))
        form = flat(self.rfile.read(length).decode())
        answer = self.server.answer(url.path, flat(url.query), form)
        body = b"" if isinstance(answer, str) else json.dumps(answer).encode()
        self.send_response(302 if isinstance(answer, str) else 200)
        if isinstance(answer, str):
            self.send_header("Location", answer)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *_: Any) -> None:
        """Says nothing."""


def flat(query: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(query).items()}


@contextmanager
def provider() -> Iterator[Provider]:
    with Provider() as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()
