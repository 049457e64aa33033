"""HTTP and websockets, each past the same door: Host, Origin, and who is asking."""

import asyncio
import os
import sys
from importlib import import_module
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryweb.settings")

from django.core.asgi import get_asgi_application

pages = get_asgi_application()
API = "agents.api.asgi"

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter

from agents.live.routing import websocket_urlpatterns
from memoryweb.bodies import Bounded
from memoryweb.middleware import SameOriginSocket, SingleUserSocket


async def http(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """The API is loaded at its first request: it takes megabytes, and many never use it."""
    if scope["path"].startswith("/v1/"):
        if API not in sys.modules:
            await asyncio.to_thread(import_module, API)
        await import_module(API).application(scope, receive, send)
    else:
        await pages(scope, receive, send)


application = ProtocolTypeRouter(
    {
        "http": Bounded(http),
        "websocket": SameOriginSocket(
            AuthMiddlewareStack(SingleUserSocket(URLRouter(websocket_urlpatterns)))  # type: ignore[arg-type]
        ),
    }
)
