"""How much a piece of code does, told by what it calls: the same on a quick machine and a slow."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

from tests.support.server import ROOT


class TooMuch(AssertionError):
    """More calls than were allowed."""


def calls_of(function: Callable[..., Any], *given: Any, most: int) -> int:
    """Run a function and count what it calls, in Python and in C; TooMuch as soon as it is more."""
    count = 0

    def watch(_frame: object, event: str, _value: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")
        if count > most:
            sys.setprofile(None)
            raise TooMuch(f"more than {most:,} calls")

    sys.setprofile(watch)
    try:
        function(*given)
    finally:
        sys.setprofile(None)
    return count


def killed_after(seconds: int, *lines: str) -> None:
    """Run lines of Python, with Django, in a process of their own, which is killed if it takes so
    much of a core.

    A match of a regular expression cannot be interrupted, nor counted, in any other way.
    """
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_CPU, ({seconds}, {seconds}))"
    done = subprocess.run(
        [sys.executable, "-c", "\n".join([limit, "import django", "django.setup()", *lines])],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr or f"killed after {seconds} s of work"
