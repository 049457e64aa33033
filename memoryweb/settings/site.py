"""The address of the site, and what follows from it: hosts, origins, TLS, cookies, proxies."""

from ipaddress import ip_network

from django.core.exceptions import ImproperlyConfigured

from memoryweb.site_url import SiteUrl

from .environment import env

HOST = env.str("HOST", default="127.0.0.1")
PORT = env.int("PORT", default=8283)
LOOPBACK_HOSTS = ["127.0.0.1", "localhost", "[::1]"]

_url = SiteUrl.parse(env.str("MEMORYWEB_URL", default=""))
SITE_URL = _url.origin  # "" where none is set
SITE_HOST = _url.host or "localhost"
TLS = _url.scheme == "https"
PUBLIC = SITE_HOST not in LOOPBACK_HOSTS  # reached from other machines, as far as is known
ACCOUNTS = env.bool("MEMORYWEB_ACCOUNTS", default=PUBLIC)
if PUBLIC and not ACCOUNTS:
    raise ImproperlyConfigured(
        f"Without accounts memoryweb serves this machine only, and MEMORYWEB_URL is {SITE_URL}."
        " Leave MEMORYWEB_ACCOUNTS unset, so that people log in, or leave MEMORYWEB_URL unset."
    )
ALLOWED_HOSTS = [SITE_HOST, *LOOPBACK_HOSTS]
CSRF_TRUSTED_ORIGINS = [SITE_URL] if SITE_URL else []

SESSION_COOKIE_NAME = "memoryweb_session"
CSRF_COOKIE_NAME = "memoryweb_csrf"
if TLS:  # memoryweb/proxies.py sends everybody there; browsers then keep to it for a year
    SECURE_HSTS_SECONDS = 365 * 24 * 3600
    SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = True
    SESSION_COOKIE_NAME = "__Host-memoryweb_session"  # which only this host can set
    CSRF_COOKIE_NAME = "__Host-memoryweb_csrf"
    MESSAGE_STORAGE = "memoryweb.messages.HostMessages"
    ACCOUNT_DEFAULT_HTTP_PROTOCOL = "https"
CSRF_COOKIE_HTTPONLY = True
CSRF_FAILURE_VIEW = "agents.pages.errors.csrf_failed"

# The networks of the proxies in front, whose word on client and scheme is taken.
_proxies = env.str("MEMORYWEB_TRUSTED_PROXIES", default="") or "127.0.0.0/8,::1/128"
try:
    TRUSTED_PROXIES = (
        [] if _proxies == "none" else [ip_network(each.strip()) for each in _proxies.split(",")]
    )
except ValueError as _error:
    raise ImproperlyConfigured(
        f"MEMORYWEB_TRUSTED_PROXIES: {_error}. Name addresses and networks, separated by commas,"
        " such as 10.0.0.7,172.16.0.0/12; or none, to trust no proxy at all."
    ) from None
