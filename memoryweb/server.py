"""Daphne, with bounds on what a request may send, checked while it is on its way, and a soft end.

Daphne takes in a request to its end, into a temporary file, and only then calls the application; a
client could fill the disk before it was told that nobody asked for so much. So requests are bounded
here, where their bytes arrive: by the length they announce, by what they send, and by how slowly.
"""

from __future__ import annotations

import asyncio
from io import BytesIO
from time import monotonic
from typing import Any

from daphne import http_protocol, ws_protocol
from daphne import server as daphne
from django.conf import settings
from django.utils.translation import gettext_lazy as _
from twisted.internet import defer
from twisted.internet import reactor as installed
from twisted.protocols.policies import TimeoutMixin
from twisted.web.http import HTTPChannel

from agents.models.leaving import leave
from memoryweb.bodies import MEGABYTE, Refusal, most_of, seconds_for, too_large, too_slow

reactor: Any = installed
LARGE = MEGABYTE  # bodies beyond this share
ROOM = 1024 * MEGABYTE  # on the disk, however many send at once
RESTARTS = 1012  # tells a page that the server does: it comes back, at some moment of the next 5 s
SENT_SECONDS = 0.1  # in which what was said last leaves for the network
CANCEL_SECONDS = 2.0  # that what is cut off has to end
LINGER = 5.0  # seconds for a refused client to stop sending and read why
FULL = Refusal(
    503,
    "Service Unavailable",
    _("Too much is being sent to this server at the same time. Try again in a minute."),
)


class Channel(HTTPChannel):
    """A connection. The idle time holds for all headers of a request, not for each byte of them."""

    def resetTimeout(self) -> None:
        if not self.line_mode:
            super().resetTimeout()  # type: ignore[no-untyped-call]


class Request(http_protocol.WebRequest):  # type: ignore[misc]
    """A request whose body is bounded; a refused one never reaches the application."""

    refused = False
    received = room = 0  # bytes that came, and those of them that take of the shared room
    timer: Any = None
    content: Any

    # -- what Twisted calls ----------------------------------------------------------------------

    def gotLength(self, length: int | None) -> None:
        """The headers are here; `length` is what they announce."""
        super().gotLength(length)
        self._parsePOSTFormSubmission = False  # a form is the application's business
        self.sent_to = self.channel._path.partition(b"?")[0].decode("latin-1")
        self.most = most_of(self.sent_to)
        if length is not None and length > self.most:
            self.refuse(too_large(self.sent_to, length))
        elif length != 0:
            self.began = monotonic()
            TimeoutMixin.resetTimeout(self.channel)  # type: ignore[no-untyped-call]
            self.look_again()

    def handleContentChunk(self, data: bytes) -> None:
        if self.refused:
            return
        before, self.received = self.received, self.received + len(data)
        if self.received > self.most:
            self.refuse(too_large(self.sent_to))
        elif self.received > LARGE and not self.takes_room(self.received - max(before, LARGE)):
            self.refuse(FULL)
        else:
            super().handleContentChunk(data)

    def requestReceived(self, command: bytes, path: bytes, version: bytes) -> None:
        """The body is here."""
        if not self.refused:
            self.cancel_timer()
            super().requestReceived(command, path, version)

    def connectionLost(self, reason: Any) -> None:
        self.let_go()
        super().connectionLost(reason)

    def finish(self) -> None:
        self.let_go()
        super().finish()

    # -- refused -----------------------------------------------------------------------------------

    def refuse(self, refusal: Refusal) -> None:
        """Answer at once, take nothing more in, and close the connection a moment later."""
        self.let_go()
        self.refused = True
        self.content.close()
        self.content = BytesIO()
        self.requestHeaders.removeHeader(b"Expect")  # the client is not told to go on
        sent = {name.lower(): value[0] for name, value in self.requestHeaders.getAllRawHeaders()}
        headers, body = refusal.answer(self.sent_to, sent)
        if refusal is FULL:
            headers["Retry-After"] = "60"
        head = f"HTTP/1.1 {refusal.status} {refusal.reason}\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self.channel.transport.write(f"{head}\r\n".encode() + body)
        # closed now, what the client still sends would have its system throw the answer away
        self.timer = reactor.callLater(LINGER, self.channel.transport.abortConnection)

    # -- how slowly --------------------------------------------------------------------------------

    def look_again(self) -> None:
        """Refuse what comes too slowly; else look again when it would."""
        left = self.began + seconds_for(self.received) - monotonic()
        if left <= 0:
            self.timer = None
            self.refuse(too_slow())
        else:
            self.timer = reactor.callLater(left + 0.1, self.look_again)

    def cancel_timer(self) -> None:
        if self.timer and self.timer.active():
            self.timer.cancel()
        self.timer = None

    # -- how much of the disk ----------------------------------------------------------------------

    def takes_room(self, size: int) -> bool:
        """Have this body take more of the room that large ones share; False where it is full."""
        server = self.server
        if server.taken + size > ROOM:
            return False
        server.taken += size
        self.room += size
        return True

    def let_go(self) -> None:
        """Give back what the request holds, be it answered, refused or broken off."""
        self.cancel_timer()
        self.server.taken -= self.room
        self.room = 0


class Factory(http_protocol.HTTPFactory):  # type: ignore[misc]
    """Makes connections whose requests are bounded."""

    protocol = Channel

    def buildProtocol(self, addr: Any) -> Any:
        channel = super().buildProtocol(addr)
        channel.requestFactory = Request
        return channel


class Socket(ws_protocol.WebSocketProtocol):  # type: ignore[misc]
    """A socket that may be closed with any code that a server has."""

    def serverClose(self, code: int | None = None) -> None:
        """Close it. Autobahn's own `sendClose` refuses 1011 to 1013, which are a client's to hear,
        not to say."""
        if self.state == self.STATE_OPEN:
            self.sendCloseFrame(code=code or 1000, isReply=False)


class SocketFactory(ws_protocol.WebSocketFactory):  # type: ignore[misc]
    """Makes such sockets."""

    protocol = Socket


class Server(daphne.Server):  # type: ignore[misc]
    """Daphne's server; `taken` are the bytes that large bodies have of the shared room."""

    taken = 0

    def __init__(self, *args: Any, drain_seconds: float = 0.0, **options: Any) -> None:
        super().__init__(*args, **options)
        self.drain_seconds = drain_seconds
        self.ports: list[Any] = []  # that it listens on

    def run(self) -> None:
        daphne.HTTPFactory = Factory  # it has no other way to be given them
        daphne.WebSocketFactory = SocketFactory
        super().run()

    # -- the end -----------------------------------------------------------------------------------

    def listen_success(self, port: Any) -> None:
        super().listen_success(port)
        self.ports.append(port)

    def kill_all_applications(self) -> Any:
        """What Daphne calls when it is asked to end."""
        return defer.Deferred.fromFuture(asyncio.ensure_future(self.drain()))

    async def drain(self) -> None:
        """Take no more connections, send the pages away, let requests end, and end what is left."""
        if settings.HOSTED:  # a single process goes on with its runs until its very end
            leave()
        for port in self.ports:
            port.stopListening()
        for protocol in list(self.connections):
            if isinstance(protocol, Socket):
                protocol.serverClose(RESTARTS)
        for seconds in (self.drain_seconds, CANCEL_SECONDS):
            if work := self.work():
                _, left = await asyncio.wait(work, timeout=seconds)
                for task in left:
                    task.cancel()
        await asyncio.sleep(SENT_SECONDS)

    def work(self) -> list[asyncio.Future[None]]:
        """What goes on for requests and sockets."""
        works = [details.get("application_instance") for details in self.connections.values()]
        return [work for work in works if work and not work.done()]
