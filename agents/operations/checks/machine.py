"""This machine: its disk, its files, its key."""

from __future__ import annotations

import shutil
from pathlib import Path

from django.conf import settings

from memoryweb.static_files import is_gathered
from memoryweb.variables import unknown_variables

from .check import Found, failed, ok, warning

GIGABYTE = 10**9
LITTLE, TOO_LITTLE = GIGABYTE, GIGABYTE // 10  # bytes free
SHORT_KEY = 40  # characters


def disk() -> Found:
    """Whether there is room for the data."""
    usage = shutil.disk_usage(settings.DATA)
    words = (
        f"{usage.free / GIGABYTE:,.1f} GB free of {usage.total / GIGABYTE:,.1f} at {settings.DATA}"
    )
    advice = "Free some, or move MEMORYWEB_DATA."
    if usage.free < TOO_LITTLE:
        return failed("disk", words, advice)
    return warning("disk", words, advice) if usage.free < LITTLE else ok("disk", words)


def static_files() -> Found:
    """Whether styles and scripts are where they are served from."""
    root = Path(settings.STATIC_ROOT)
    if settings.DEBUG:
        return ok("static files", "served from where they lie, as DEBUG is set")
    if is_gathered(root):
        return ok("static files", f"gathered in {root}")
    words = f"those of this version are not in {root}"
    return failed(
        "static files",
        words,
        f"`{settings.COMMAND} prepare` and each start of `serve` put them there.",
    )


def secret_key() -> Found:
    """Whether there is a key that all processes share."""
    from_environment = bool(settings.SECRET_KEY_NAMED)
    if len(settings.SECRET_KEY) < SHORT_KEY:
        words = f"MEMORYWEB_SECRET_KEY has {len(settings.SECRET_KEY)} characters"
        return warning("secret key", words, f"Choose a random one of {SHORT_KEY} or more.")
    if settings.HOSTED and not from_environment:
        words = f"made at the first start and kept in {settings.DATA}"
        advice = "Processes with other data have another: set MEMORYWEB_SECRET_KEY for all of them."
        return warning("secret key", words, advice)
    if settings.SECRET_KEY_FALLBACKS:
        words = f"there are {len(settings.SECRET_KEY_FALLBACKS)} older ones beside it"
        advice = f"Run `{settings.COMMAND} rotate_keys`, then unset MEMORYWEB_SECRET_KEY_FALLBACKS."
        return warning("secret key", words, advice)
    place = "MEMORYWEB_SECRET_KEY" if from_environment else str(settings.DATA)
    return ok("secret key", f"of {place}")


def variables() -> Found:
    """Whether each variable that is meant for memoryweb is one that it reads."""
    if words := unknown_variables():
        return warning("variables", " ".join(words), "`.env.example` names them all.")
    return ok("variables", "memoryweb reads each one that is set for it")
