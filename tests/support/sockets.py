"""Sockets for tests, through the same door as a browser's."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from asgiref.sync import sync_to_async
from channels.testing import WebsocketCommunicator
from django.contrib.auth.models import User
from django.test import Client

from memoryweb.asgi import application

ORIGIN = {"origin": "http://testserver", "host": "testserver"}


@asynccontextmanager
async def socket(
    user: User | None = None, client: Client | None = None, **headers: str
) -> AsyncIterator[WebsocketCommunicator]:
    """A socket of a person, or of a browser in which somebody is logged in."""
    given = {**ORIGIN, **headers}
    if user:
        client = Client()
        await sync_to_async(client.force_login)(user)
    if client:
        given["cookie"] = client.cookies.output(header="", sep=";").strip()
    sent = [(name.replace("_", "-").encode(), value.encode()) for name, value in given.items()]
    communicator = WebsocketCommunicator(application, "/ws/", headers=sent)
    yield communicator
    await communicator.disconnect()


async def heard(communicator: WebsocketCommunicator, name: str) -> dict[str, Any]:
    """The next frame that has something of that name to say."""
    while name not in (frame := json.loads(await communicator.receive_from(timeout=10))):
        pass
    return dict(frame)
