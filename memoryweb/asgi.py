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
from django.urls import path

from agents.live.consumer import PageConsumer
from agents.pages import health
from memoryweb.bodies import Bounded
from memoryweb.middleware import SameOriginSocket, SingleUserSocket
from memoryweb.observed import Observed
from memoryweb.proxies import Proxies


async def http(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Probes need neither pages nor a known host. The API is loaded at its first request: it takes
    megabytes, and many never use it."""
    if scope["path"] in health.PATHS:
        await health.application(scope, receive, send)
    elif scope["path"].startswith("/v1/"):
        if API not in sys.modules:
            await asyncio.to_thread(import_module, API)
        await import_module(API).application(scope, receive, send)
    else:
        await pages(scope, receive, send)


sockets = URLRouter([path("ws/", PageConsumer.as_asgi())])  # type: ignore[list-item, arg-type]
application = Observed(
    Proxies(
        ProtocolTypeRouter(
            {
                "http": Bounded(http),
                "websocket": SameOriginSocket(AuthMiddlewareStack(SingleUserSocket(sockets))),
            }
        )
    )
)
