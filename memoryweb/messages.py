"""Django's messages, behind TLS."""

from django.contrib.messages.storage.cookie import CookieStorage


class HostMessages(CookieStorage):
    """In a cookie that only this host can set."""

    cookie_name = "__Host-memoryweb_messages"
