"""What is counted of people: attempts to log in, and requests."""

from __future__ import annotations

from uuid import uuid4

from pytest_django import Settings


def count_anew(settings: Settings) -> None:
    """Begin at nothing; other processes of the tests go on counting in the same Redis."""
    settings.CACHES = {
        name: options | {"KEY_PREFIX": uuid4().hex} for name, options in settings.CACHES.items()
    }
