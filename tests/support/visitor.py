"""A browser without a window: it keeps cookies, fills in forms and opens sockets at a real server.

alice = Visitor(server.url)
alice.post("/accounts/login/", login="alice", password=PASSWORD)
with alice.socket() as socket: ...
"""

from __future__ import annotations

import json
import re
import ssl
from contextlib import AbstractContextManager
from http.cookiejar import CookieJar
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, HTTPSHandler, Request, build_opener

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

PASSWORD = "a long and winding road"


class Visitor:
    """Somebody's browser, at the site of one address."""

    def __init__(self, url: str, trusted: ssl.SSLContext | None = None) -> None:
        self.url, self.trusted, self.jar = url, trusted, CookieJar()
        self.headers: dict[str, str] = {}  # to send along
        self._opener = build_opener(
            HTTPCookieProcessor(self.jar), HTTPSHandler(context=self.trusted)
        )

    def ask(self, path: str, form: dict[str, Any] | None = None) -> Any:
        """The answer, where redirects lead; its text is in `said`."""
        response = self._open(path, form)
        response.said = response.read().decode(errors="replace")  # of an image, too
        return response

    def _open(self, path: str, form: dict[str, Any] | None = None) -> Any:
        data = None if form is None else urlencode(form, doseq=True).encode()
        headers = {"Referer": self.url + path, **self.headers}
        request = Request(self.url + path, data, headers)
        try:
            return self._opener.open(request, timeout=20)
        except HTTPError as refused:
            return refused

    def get(self, path: str) -> Any:
        return self.ask(path)

    def get_bytes(self, path: str) -> Any:
        """The answer as it came, compressed or not."""
        response = self._open(path)
        response.read()
        return response

    def post(self, path: str, **form: Any) -> Any:
        """Load the page, and send its form."""
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', self.get(path).said)
        assert token, f"{path} has no form"
        return self.ask(path, {"csrfmiddlewaretoken": token[1], **form})

    def sign_up(self, name: str) -> None:
        form = {"username": name, "email": "", "password1": PASSWORD, "password2": PASSWORD}
        assert self.post("/accounts/signup/", **form).status == 200

    def log_in(self, name: str, password: str = PASSWORD) -> None:
        assert "Log out" in self.post("/accounts/login/", login=name, password=password).said

    def log_out(self) -> None:
        self.post("/accounts/logout/")

    @property
    def cookies(self) -> dict[str, str]:
        return {cookie.name: cookie.value or "" for cookie in self.jar}

    def socket(self) -> AbstractContextManager[ClientConnection]:
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        return connect(
            f"{self.url.replace('http', 'ws', 1)}/ws/",
            origin=Origin(self.url),
            additional_headers={"Cookie": cookies},
            ssl=self.trusted,
        )


def code_of_the_end(socket: ClientConnection, within: float = 20.0) -> int | None:
    """The code with which the server closes a socket."""
    try:
        while True:
            socket.recv(timeout=within)
    except ConnectionClosed as closed:
        return closed.rcvd.code if closed.rcvd else None


def say(socket: ClientConnection, **command: Any) -> None:
    socket.send(json.dumps(command))
