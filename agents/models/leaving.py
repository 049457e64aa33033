"""Leaving: a worker that was asked to end hands its runs on to others.

A step in hand may end; what takes longer is cut off, and goes on elsewhere from what is stored.
"""

from __future__ import annotations

import time

STEP_SECONDS = 10.0  # that a step in hand has from then on
_asked_at: float | None = None


class RunHandedOn(Exception):
    """This process ends: whoever works on the run stores what there is and lets go."""


def leave() -> None:
    """This process was asked to end."""
    global _asked_at
    _asked_at = _asked_at or time.monotonic()


def stay() -> None:
    """Forget that it was."""
    global _asked_at
    _asked_at = None


def is_leaving() -> bool:
    """Whether nothing new is to be begun here."""
    return _asked_at is not None


def is_overdue() -> bool:
    """Whether what goes on here is to be cut off."""
    return _asked_at is not None and time.monotonic() - _asked_at > STEP_SECONDS
