"""What is logged, and how."""

from django.core.exceptions import ImproperlyConfigured

from .environment import HOSTED, env

LOG_FORMAT = env.str("LOG_FORMAT", default="") or ("json" if HOSTED else "text")
if LOG_FORMAT not in ("json", "text"):
    raise ImproperlyConfigured(f"LOG_FORMAT is json or text, not '{LOG_FORMAT}'.")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "text": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"},
        "json": {"()": "memoryweb.logs.JsonLines"},
    },
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT},
        "counts": {"class": "agents.operations.counts.CountErrors", "level": "ERROR"},
    },
    "root": {"handlers": ["console", "counts"], "level": "WARNING"},
    "loggers": {
        "agents": {"level": env.str("LOG_LEVEL", default="INFO")},
        # Django's own handlers would write a second line, or mail what was sent with a request
        "django": {"handlers": [], "level": "WARNING"},
    },
}
