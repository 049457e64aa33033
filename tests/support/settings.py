"""The settings as a server has them that is started with other variables."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

MODULES = ("site", "people", "sign_in", "storage")


def settings_of(data: Path, monkeypatch: pytest.MonkeyPatch, **variables: str) -> dict[str, Any]:
    """Read them anew, from these variables of the environment (without their MEMORYWEB_)."""
    for name, value in ({"DATA": str(data)} | variables).items():
        monkeypatch.setenv(f"MEMORYWEB_{name}", value)
    found: dict[str, Any] = {}
    with monkeypatch.context() as patch:
        for name in [each for each in sys.modules if each.startswith("memoryweb.settings.")]:
            patch.delitem(sys.modules, name)
        for name in MODULES:
            found |= vars(importlib.import_module(f"memoryweb.settings.{name}"))
        for name in [each for each in sys.modules if each.startswith("memoryweb.settings.")]:
            patch.delitem(sys.modules, name)  # put back is what was there before
    return {name: value for name, value in found.items() if name.isupper()}
