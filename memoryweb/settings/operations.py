"""How it is run: how long things are kept, who may read the metrics."""

from django.core.exceptions import ImproperlyConfigured

from .environment import HOSTED, env

# With this as a bearer token, /metrics answers; without, only to this machine.
METRICS_TOKEN = env.str("MEMORYWEB_METRICS_TOKEN", default="")
# Days that things are kept (agents/runs/retention.py); 0 is for ever.
KEEP_DAYS = {
    "jobs": env.float("MEMORYWEB_KEEP_JOBS", default=7),
    "sessions": env.float("MEMORYWEB_KEEP_SESSIONS", default=1),
    "events": env.float("MEMORYWEB_KEEP_EVENTS", default=7),
    "requests": env.float("MEMORYWEB_KEEP_REQUESTS", default=90 if HOSTED else 0),
    "audit": env.float("MEMORYWEB_KEEP_AUDIT", default=365),
}
for _name, _days in KEEP_DAYS.items():
    if _days < 0 or 0 < _days < 1:
        raise ImproperlyConfigured(
            f"MEMORYWEB_KEEP_{_name.upper()} is a number of days: 1 or more, or 0 for ever."
        )
