"""All settings, read from the environment (and from `.env`, where there is one).

`.env.example` names every variable an operator may set.
"""

import secrets
from pathlib import Path
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured

from memoryweb.data_folder import DATABASE, LOCK, SECRET_KEY_FILE, make_private

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()
if (BASE_DIR / ".env").exists():
    env.read_env(str(BASE_DIR / ".env"))

DATA = Path(env.str("MEMORYWEB_DATA", default="") or BASE_DIR / "var").expanduser().resolve()
DATABASE_URL = env.str("DATABASE_URL", default="")
HOSTED = DATABASE_URL.startswith(("postgres", "pgsql"))


def _secret_key() -> str:
    """The key in MEMORYWEB_SECRET_KEY, else one made at the first start and kept in the data."""
    if key := str(env.str("MEMORYWEB_SECRET_KEY", default="")):
        return key
    path = DATA / SECRET_KEY_FILE
    if not path.exists():
        path.touch(mode=0o600)
        path.write_text(secrets.token_urlsafe(50))
    return path.read_text()


try:
    make_private(DATA, *([] if HOSTED else [LOCK, DATABASE]))
    SECRET_KEY = _secret_key()
except OSError as error:
    raise ImproperlyConfigured(
        f"The data directory {DATA} cannot be used: {error.strerror}. Let this user write there, or"
        " set MEMORYWEB_DATA to another directory."
    ) from None

# -- Who may come in -----------------------------------------------------------------------------

DEBUG = env.bool("DEBUG", default=False)
HOST = env.str("HOST", default="127.0.0.1")
PORT = env.int("PORT", default=8283)
LOOPBACK_HOSTS = ["127.0.0.1", "localhost", "[::1]"]
ACCOUNTS = env.bool("MEMORYWEB_ACCOUNTS", default=False)
SIGNUP_OPEN = env.str("MEMORYWEB_SIGNUP", default="open") == "open"
ALLOWED_HOSTS = env.list("MEMORYWEB_ALLOWED_HOSTS", default=[]) + LOOPBACK_HOSTS
CSRF_TRUSTED_ORIGINS = env.list("MEMORYWEB_TRUSTED_ORIGINS", default=[])

SESSION_COOKIE_NAME = "memoryweb_session"
CSRF_COOKIE_NAME = "memoryweb_csrf"
# Behind a proxy that ends TLS: trust its word for the scheme and for where a request came from,
# have browsers come over TLS alone for a year, and send cookies so, which only this host can set.
if any(origin.startswith("https://") for origin in CSRF_TRUSTED_ORIGINS):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    ALLAUTH_TRUSTED_PROXY_COUNT = 1
    SECURE_HSTS_SECONDS = 365 * 24 * 3600
    SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = True
    SESSION_COOKIE_NAME = "__Host-memoryweb_session"
    CSRF_COOKIE_NAME = "__Host-memoryweb_csrf"
    MESSAGE_STORAGE = "memoryweb.messages.HostMessages"
CSRF_COOKIE_HTTPONLY = True
CSRF_FAILURE_VIEW = "agents.pages.errors.csrf_failed"

# -- The application -----------------------------------------------------------------------------

REDIS_URL = env.str("REDIS_URL", default="")

INSTALLED_APPS = [
    "daphne",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.sessions",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "channels",
    "django_htmx",
    "django.forms",
    "agents",  # whose command `procrastinate` comes before the library's own
    *(["procrastinate.contrib.django"] if HOSTED else []),
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "memoryweb.middleware.PageHeaders",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "memoryweb.middleware.SingleUser",
    "memoryweb.middleware.Turns",
    "memoryweb.middleware.Limits",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
ROOT_URLCONF = "memoryweb.urls"
ASGI_APPLICATION = "memoryweb.asgi.application"
FORM_RENDERER = "django.forms.renderers.TemplatesSetting"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "agents.pages.context_processors.app",
            ],
        },
    },
    {  # what a page and a socket both show
        "BACKEND": "django.template.backends.jinja2.Jinja2",
        "DIRS": [BASE_DIR / "agents/jinja2", BASE_DIR / "templates"],  # there are the icons
        "OPTIONS": {"environment": "agents.templatetags.fragments.environment"},
    },
]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
DATA_UPLOAD_MAX_MEMORY_SIZE = 10 * 1024 * 1024  # bytes of any request but an agent file's upload
LARGEST_AGENT_FILE = 50 * 1024 * 1024  # bytes

# -- Where things are kept -----------------------------------------------------------------------


def _database() -> dict[str, Any]:
    if not HOSTED:
        return {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": DATA / DATABASE,
            "OPTIONS": {
                "transaction_mode": "IMMEDIATE",
                "timeout": env.float("MEMORYWEB_DATABASE_WAIT", default=10.0),
                "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
                " PRAGMA temp_store=MEMORY; PRAGMA mmap_size=134217728;"
                " PRAGMA cache_size=-16000;",
            },
        }
    pool = {
        "min_size": 1,
        "max_size": env.int("MEMORYWEB_DATABASE_POOL", default=32),
        "timeout": env.float("MEMORYWEB_DATABASE_WAIT", default=10.0),
        "reconnect_timeout": 5.0,  # longer, it comes to try only every other minute
    }
    return {
        **env.db_url_config(DATABASE_URL),
        "OPTIONS": {"pool": pool},
        "CONN_HEALTH_CHECKS": True,  # else a restart of Postgres fails one request a connection
    }


DATABASES = {"default": _database()}
# Seconds that web and workers wait for `manage.py prepare`.
PREPARE_WAIT = env.float("MEMORYWEB_PREPARE_WAIT", default=300.0)
# allauth counts attempts to log in, `requests` each person's requests (agents/models/limits.py). A
# cache of the usual 300 entries would forget some of them as soon as somebody makes many.
CACHES: dict[str, dict[str, Any]] = {
    name: {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "LOCATION": name,
        "OPTIONS": {"MAX_ENTRIES": 100_000},
    }
    for name in ("default", "requests")
}
if REDIS_URL:
    CACHES["requests"] = {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "memoryweb.requests",
        "OPTIONS": {"socket_timeout": 1, "socket_connect_timeout": 1},
    }
STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG

# -- The model that answers ----------------------------------------------------------------------

OPENAI_API_KEY = env.str("OPENAI_API_KEY", default="")
OPENAI_BASE_URL = env.str("OPENAI_BASE_URL", default="")
MODEL = env.str("MEMORYWEB_MODEL", default="")
MODEL_TIMEOUT = env.float("MEMORYWEB_MODEL_TIMEOUT", default=60.0)
EMBEDDING_MODEL = env.str("MEMORYWEB_EMBEDDING_MODEL", default="")
PRICES = env.str("MEMORYWEB_PRICES", default="")
ENDPOINTS = dict(pair.split("=", 1) for pair in env.str("MEMORYWEB_ENDPOINTS", default="").split())
ENDPOINT_KEYS = {
    name: env.str(f"MEMORYWEB_ENDPOINT_KEY_{name.upper()}", default="") for name in ENDPOINTS
}

# -- Memory classes and tools of one's own -------------------------------------------------------

# Dotted paths of subclasses of agents.memory.Memory, beside the built-in ones.
MEMORY_CLASSES = [path.strip() for path in env.list("MEMORYWEB_MEMORY_CLASSES", default=[])]
# The most that a custom tool may be given: seconds to run, megabytes of memory.
TOOL_SECONDS = env.float("MEMORYWEB_TOOL_SECONDS", default=5.0)
TOOL_MEGABYTES = env.int("MEMORYWEB_TOOL_MEGABYTES", default=64)
# Networks and hosts that requests for people and models may go to, though they are not public.
OUTGOING_ALLOW = [each.strip() for each in env.list("MEMORYWEB_OUTGOING_ALLOW", default=[])]
# The SearXNG that the tool web_search asks; it may be on any network.
SEARXNG_URL = env.str("MEMORYWEB_SEARXNG_URL", default="")

# -- Runs ----------------------------------------------------------------------------------------

RUN_THREADS = env.int("MEMORYWEB_RUN_THREADS", default=32)
APPROVAL_HOURS = env.float("MEMORYWEB_APPROVAL_HOURS", default=24.0)
RUN_LEASE_SECONDS = 15  # a run whose worker gave no sign for so long is taken up by another
PROCRASTINATE_WORKER_DEFAULTS = {
    "concurrency": env.int("MEMORYWEB_WORKER_CONCURRENCY", default=16),
    "fetch_job_polling_interval": 0.5,  # a notification that comes during a fetch is missed
    "update_heartbeat_interval": 5,
    "stalled_worker_timeout": 15,
}

# -- Limits a person -----------------------------------------------------------------------------

TITLE_MODEL = env.str("MEMORYWEB_TITLE_MODEL", default="")  # gives conversations their titles
QUEUE_LIMIT = env.int("MEMORYWEB_QUEUE_LIMIT", default=50)  # messages that wait for one agent
AGENTS_LIMIT = env.int("MEMORYWEB_AGENTS_LIMIT", default=1_000)  # with accounts
CONVERSATIONS_LIMIT = env.int("MEMORYWEB_CONVERSATIONS_LIMIT", default=1_000)  # of one agent
SCHEDULES_LIMIT = env.int("MEMORYWEB_SCHEDULES_LIMIT", default=100)  # of one agent
SANDBOX_LIMIT = env.int("MEMORYWEB_SANDBOX_LIMIT", default=2)  # custom tools that run at once
REQUESTS_LIMIT = env.int("MEMORYWEB_REQUESTS_LIMIT", default=1_000)  # a minute, with accounts

# -- People --------------------------------------------------------------------------------------

AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
    )
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"
ACCOUNT_FORMS = {
    "change_password": "agents.pages.forms.password.ChangePasswordForm",
    "set_password": "agents.pages.forms.password.SetPasswordForm",
    "reset_password_from_key": "agents.pages.forms.password.ResetPasswordForm",
}
ACCOUNT_ADAPTER = "agents.accounts.AccountAdapter"
EMAIL_CONFIG = env.email_url("EMAIL_URL", default="consolemail://")
vars().update(EMAIL_CONFIG)

# -- Language, time, logs ------------------------------------------------------------------------

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": "WARNING"},
    "loggers": {"agents": {"level": env.str("LOG_LEVEL", default="INFO")}},
}
