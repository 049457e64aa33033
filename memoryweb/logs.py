"""Lines of the log as JSON, with the ids of what they belong to.

What people say and what they keep secret is in no line: an exception is shown by its type and
where it came from, and by its words only where these come from the system and not from rows,
requests or answers. Secrets of the settings are masked wherever they turn up.
"""

from __future__ import annotations

import logging
import sys
import traceback
from functools import cache
from typing import Any
from urllib.parse import unquote, urlsplit

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from structlog.contextvars import merge_contextvars
from structlog.processors import JSONRenderer, TimeStamper
from structlog.stdlib import ProcessorFormatter, add_log_level, add_logger_name
from structlog.typing import EventDict, Processor

MOST_FRAMES = 30
MASK = "***"
SHORTEST_SECRET = 6  # characters; what is shorter stands anywhere
SYSTEM_MODULES = ("redis.", "psycopg.errors", "psycopg_pool")
DETAIL = ("DETAIL:", "CONTEXT:", "LINE ")  # of Postgres: what follows quotes rows


class JsonLines(ProcessorFormatter):
    """A line is an object: timestamp, level, logger, event, ids, exception."""

    def __init__(self, **options: Any) -> None:
        time = TimeStamper(fmt="iso", utc=True)
        first: list[Processor] = [merge_contextvars, add_logger_name, add_log_level, time]
        bare = ProcessorFormatter.remove_processors_meta
        last: list[Processor] = [bare, shown_exception, masked, JSONRenderer()]
        super().__init__(foreign_pre_chain=first, processors=last, **options)

    def format(self, record: logging.LogRecord) -> str:
        """An exception that is named in a line is shown as elsewhere."""
        if isinstance(record.args, tuple):
            record = logging.makeLogRecord(record.__dict__)
            assert isinstance(record.args, tuple)
            record.args = tuple(map(without_words, record.args))
        return super().format(record)


def without_words(value: Any) -> Any:
    return named(value) if isinstance(value, BaseException) else value


def shown_exception(logger: Any, method: str, event: EventDict) -> EventDict:
    """The exception of a line as an object."""
    info = event.pop("exc_info", None)
    if info is True:
        info = sys.exc_info()
    error = info[1] if isinstance(info, tuple) else info
    if isinstance(error, BaseException):
        event["event"] = str(event["event"]).replace(str(error) or MASK, named(error))
        event["exception"] = as_object(error)
    event.pop("stack_info", None)
    return event


def as_object(error: BaseException, depth: int = 0) -> dict[str, Any]:
    """What an exception is and where it came from, with its causes."""
    frames = traceback.extract_tb(error.__traceback__)[-MOST_FRAMES:]
    shown: dict[str, Any] = {
        "type": named(error),
        "at": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
    }
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None and depth < 5:
        shown["cause"] = as_object(cause, depth + 1)
    return shown


def named(error: BaseException) -> str:
    """An exception's type; with its words, where these are the system's."""
    kind = type(error)
    name = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
    from_system = isinstance(error, (OSError, ImproperlyConfigured)) or (
        kind.__module__.startswith(SYSTEM_MODULES) and "Violation" not in kind.__name__
    )
    words = str(error).partition("\n")[0] if from_system else ""
    return f"{name}: {words}" if words and not words.startswith(DETAIL) else name


def masked(logger: Any, method: str, event: EventDict) -> EventDict:
    """Without the settings' secrets."""
    return {name: _masked(value) for name, value in event.items() if value is not None}


def _masked(value: Any) -> Any:
    if isinstance(value, str):
        for secret in secrets():
            value = value.replace(secret, MASK)
        return value
    if isinstance(value, dict):
        return {name: _masked(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_masked(each) for each in value]
    return value


@cache
def secrets() -> list[str]:
    """What no line may have."""
    urls = (settings.DATABASE_URL, settings.REDIS_URL, settings.OPENAI_BASE_URL)
    passwords = [urlsplit(url).password or "" for url in urls]
    values = [settings.SECRET_KEY, settings.OPENAI_API_KEY, settings.METRICS_TOKEN]
    values += settings.SECRET_KEY_FALLBACKS
    values += [*settings.ENDPOINT_KEYS.values(), getattr(settings, "EMAIL_HOST_PASSWORD", "")]
    values += passwords + [unquote(password) for password in passwords]
    return sorted({v for v in values if v and len(v) >= SHORTEST_SECRET}, key=len, reverse=True)
