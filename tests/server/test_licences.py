"""What memoryweb needs to run: nothing under the GPL or AGPL, through all dependencies."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
# LGPL is none of these: a library under it may be used by any program
COPYLEFT = re.compile(r"(?<![A-Za-z])A?GPL|(?<!Lesser )General Public License", re.IGNORECASE)
BEGINNING = 200  # characters of a licence's text, where somebody put the whole of it


def project() -> dict[str, Any]:
    stated: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return stated


def needed() -> Iterator[Distribution]:
    """Everything that is installed with the project and with its `hosted` extra."""
    stated = project()
    waiting = [Requirement(line) for line in stated["dependencies"]]
    waiting += [Requirement(line) for line in stated["optional-dependencies"]["hosted"]]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        asked = waiting.pop()
        key = (canonicalize_name(asked.name), frozenset(asked.extras))
        if key in seen:
            continue
        seen.add(key)
        try:
            found = distribution(asked.name)
        except PackageNotFoundError:
            pytest.fail(f"{asked.name} is needed and not installed, so nobody can tell its licence")
        yield found
        for line in found.requires or []:
            further = Requirement(line)
            extras = asked.extras or {""}
            if not further.marker or any(further.marker.evaluate({"extra": e}) for e in extras):
                waiting.append(further)


def licences(of: Distribution) -> list[str]:
    """What a package says of its licence, in whichever of the three ways."""
    told = of.metadata.get_all("License-Expression") or []
    told += [text[:BEGINNING] for text in of.metadata.get_all("License") or []]
    told += [c for c in of.metadata.get_all("Classifier") or [] if c.startswith("License ::")]
    return [text for text in told if text.strip()]


def test_nothing_that_runs_is_under_the_gpl() -> None:
    found = {each.name: licences(each) for each in needed()}
    assert len(found) > 50
    assert not [name for name, told in found.items() if not told], "these say no licence"
    assert not {n: told for n, told in found.items() if any(map(COPYLEFT.search, told))}


@pytest.mark.parametrize(
    ("told", "copyleft"),
    [
        ("GPL-2.0-or-later", True),
        ("AGPL-3.0", True),
        ("License :: OSI Approved :: GNU General Public License v3 (GPLv3)", True),
        ("License :: OSI Approved :: GNU Affero General Public License v3", True),
        ("LGPL-3.0-only", False),
        ("License :: OSI Approved :: GNU Lesser General Public License v3 (LGPLv3)", False),
        ("MIT", False),
    ],
)
def test_the_gpl_is_known_by_its_names(told: str, copyleft: bool) -> None:
    assert bool(COPYLEFT.search(told)) is copyleft


def test_the_project_says_its_own_licence() -> None:
    stated = project()
    assert stated["license"] == "MIT"
    (name,) = stated["license-files"]
    text = (ROOT / name).read_text()
    assert text.startswith("MIT License")
    assert "2026 memoryweb contributors" in text
