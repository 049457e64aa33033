"""Variables of the environment: read by type or from a file, and those that nothing reads named."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured
from environ.fileaware_mapping import FileAwareMapping

OURS = "MEMORYWEB_"
FOR_TESTS = f"{OURS}TEST_"
FILE = "_FILE"  # NAME_FILE names a file that holds the value of NAME

NOTSET = environ.Env.NOTSET
KINDS = {int: "a whole number", float: "a number", bool: "1 or 0"}
SWITCH = dict.fromkeys(("1", "true", "yes", "y", "on", "ok"), True) | dict.fromkeys(
    ("0", "false", "no", "n", "off"), False
)

known: set[str] = set()
"""The names that the settings asked for, set or not."""


class Variables(FileAwareMapping):  # type: ignore[misc]
    """Variables of the environment; NAME_FILE names a file that holds the value of NAME.

    ImproperlyConfigured if both are set, or the file cannot be read.
    """

    def __getitem__(self, name: str) -> str:
        known.add(name)
        file = self.env.get(f"{name}{FILE}")
        if not file:
            return str(self.env[name])
        if self.env.get(name):
            raise ImproperlyConfigured(f"{name} and {name}_FILE are both set. Keep one of them.")
        try:
            return Path(file).read_text(encoding="utf-8").rstrip("\r\n")
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            raise ImproperlyConfigured(
                f"{name}_FILE names {file}, which cannot be read: {why}. Name a file that this user"
                " can read, or unset it."
            ) from None


class FileAwareEnv(environ.FileAwareEnv):  # type: ignore[misc]
    """Reads the variables by type. An empty number or switch counts as not set.

    ImproperlyConfigured for a number that is none, and a switch that is neither on nor off.
    """

    ENVIRON = Variables()

    def get_value(self, var: str, cast: Any = None, default: Any = NOTSET, **others: Any) -> Any:
        if cast not in KINDS or default is NOTSET:
            return super().get_value(var, cast=cast, default=default, **others)
        given = str(self.ENVIRON.get(var, "")).strip()
        if not given:
            return default
        try:
            return SWITCH[given.lower()] if cast is bool else cast(given)
        except (KeyError, ValueError):
            raise ImproperlyConfigured(f"{var} is {KINDS[cast]}, not '{given}'.") from None


def unknown_variables(
    variables: Mapping[str, str] = os.environ, names: Iterable[str] = known
) -> list[str]:
    """A sentence for each variable that begins like one of ours and that nothing reads."""
    names = sorted(names)
    return [
        _sentence(each, names)
        for each in sorted(variables)
        if each.startswith(OURS)
        and not each.startswith(FOR_TESTS)
        and each.removesuffix(FILE) not in names
    ]


def _sentence(name: str, names: list[str]) -> str:
    near = get_close_matches(name.removeprefix(OURS), [n.removeprefix(OURS) for n in names], n=1)
    if not near:
        return f"{name} is set, and nothing reads it."
    prefix = OURS if f"{OURS}{near[0]}" in names else ""
    return f"{name} is set, and nothing reads it. Did you mean {prefix}{near[0]}?"
