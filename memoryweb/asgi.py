"""HTTP and websockets, each past the same door: Host, Origin, and who is asking."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryweb.settings")

from django.core.asgi import get_asgi_application

http = get_asgi_application()

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter

from agents.api.asgi import ApiHandler
from agents.routing import websocket_urlpatterns
from memoryweb.middleware import SameOriginSocket, SingleUserSocket

application = ProtocolTypeRouter(
    {
        "http": ApiHandler(http),
        "websocket": SameOriginSocket(
            AuthMiddlewareStack(SingleUserSocket(URLRouter(websocket_urlpatterns)))  # type: ignore[arg-type]
        ),
    }
)
