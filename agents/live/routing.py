"""Where sockets lead."""

from django.urls import path

from .consumer import PageConsumer

websocket_urlpatterns = [path("ws/", PageConsumer.as_asgi())]  # type: ignore[arg-type]
