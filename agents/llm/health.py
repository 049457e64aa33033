"""How endpoints are doing, as their calls tell: noted at most once a minute, and waited for by
nobody."""

from __future__ import annotations

import logging
import time
from concurrent.futures import ThreadPoolExecutor

from django.db import DatabaseError, close_old_connections

from agents.models import ModelEndpoint
from agents.models.model_endpoint import NOTED_EVERY
from agents.text.stored import stored as _

from .endpoints import Endpoint, ModelError

logger = logging.getLogger(__name__)
ANSWERED = _("A call of an agent was answered.")
FAILED = _("A call of an agent: %(words)s.")
OF_THE_KEY = ("(401)", "(403)", "(429)")  # failures that concern whoever's key it is

_noted: dict[int, float] = {}  # when this process noted it last, by the row's key
_writer = ThreadPoolExecutor(1, thread_name_prefix="health")


def note(endpoint: Endpoint, error: ModelError | None) -> None:
    """Note how a call went, unless that was done of late or it says nothing about the endpoint."""
    if endpoint.row is None or (error and not error.trouble):
        return
    if error and endpoint.is_own_key and error.trouble.endswith(OF_THE_KEY):
        return
    now = time.monotonic()
    if now - _noted.get(endpoint.row, float("-inf")) < NOTED_EVERY.total_seconds():
        return
    _noted[endpoint.row] = now
    words = FAILED % {"words": error.trouble} if error else ANSWERED
    _writer.submit(write, endpoint.row, error is None, words)


def write(row: int, healthy: bool, words: str) -> None:
    """Store it, in a thread of its own."""
    try:
        ModelEndpoint.objects.filter(pk=row).note_health(healthy, words)
    except DatabaseError:
        logger.warning("The health of an endpoint could not be noted.", exc_info=True)
    finally:
        close_old_connections()
