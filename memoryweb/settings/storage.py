"""Where things are kept: database, counters, static files."""

from pathlib import Path
from typing import Any

from memoryweb.data_folder import DATABASE

from .environment import DATA, DATABASE_URL, DEBUG, HOSTED, PARTS, REDIS_URL, env


def _database() -> dict[str, Any]:
    if not HOSTED:
        return {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": DATA / DATABASE,
            "OPTIONS": {
                "transaction_mode": "IMMEDIATE",
                "timeout": DATABASE_WAIT,
                "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
                " PRAGMA temp_store=MEMORY; PRAGMA mmap_size=134217728;"
                " PRAGMA cache_size=-16000;",
            },
        }
    pool = {
        "min_size": 1,
        "max_size": DATABASE_POOL,
        "timeout": DATABASE_WAIT,
        "reconnect_timeout": 5.0,  # longer, it comes to try only every other minute
    }
    named = env.db_url_config(DATABASE_URL)
    return {
        **named,
        "ENGINE": "memoryweb.postgresql",
        "OPTIONS": {**named.get("OPTIONS", {}), "pool": pool},
    }


# Jobs that a worker does at once; each run holds a connection while it goes on.
WORKER_CONCURRENCY = env.int("MEMORYWEB_WORKER_CONCURRENCY", default=16)
DATABASE_POOL = env.int("MEMORYWEB_DATABASE_POOL", default=WORKER_CONCURRENCY + 2)
DATABASE_WAIT = env.float("MEMORYWEB_DATABASE_WAIT", default=10.0)
# Whether Postgres keeps the plans of frequent statements, which not every pooler lets it.
PREPARED_STATEMENTS = env.bool("MEMORYWEB_PREPARED_STATEMENTS", default=True)
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
if REDIS_URL:  # then all processes count together
    _redis = {"LOCATION": REDIS_URL, "OPTIONS": {"socket_timeout": 1, "socket_connect_timeout": 1}}
    CACHES["default"] = {
        "BACKEND": "memoryweb.counters.SharedCounters",
        "KEY_PREFIX": "memoryweb.attempts",
        **_redis,
    }
    CACHES["requests"] = {
        "BACKEND": "memoryweb.counters.RequestCounters",
        "KEY_PREFIX": "memoryweb.requests",
        **_redis,
    }
STATIC_URL = "static/"
STATICFILES_DIRS = [PARTS / "static"]
# Where `manage.py serve` or `collectstatic` puts them, with hashes in their names, and compressed.
STATIC_ROOT = Path(env.str("MEMORYWEB_STATIC", default="") or DATA / "static").expanduser()
WHITENOISE_MIMETYPES = {".webmanifest": "application/manifest+json"}
WHITENOISE_USE_FINDERS = WHITENOISE_AUTOREFRESH = DEBUG
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "memoryweb.static_files.HashedFiles"
    },
}
