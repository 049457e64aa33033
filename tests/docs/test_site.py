"""The documentation as a site: it builds in strict mode, with the pictures of the script."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from docs.screenshots import Tour
from tests.docs.commands import PAGES, ROOT

pytestmark = pytest.mark.slow


def test_the_site_builds_without_a_broken_link_and_asks_nobody_for_anything(tmp_path: Path) -> None:
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr
    pages = {page.name: page.read_text() for page in tmp_path.glob("*.html")}
    assert {"start.html", "memory.html", "security.html", "contributing.html"} <= pages.keys()
    asked = re.compile(r'<(?:script|img|link rel="stylesheet")[^>]+(?:src|href)="(?:https?:)?//')
    assert [name for name, page in pages.items() if asked.search(page)] == []


def test_every_picture_of_the_pages_is_one_that_the_script_takes_or_a_drawing() -> None:
    shown = {name for page in PAGES for name in re.findall(r"\]\((\S+\.png)\)", page.read_text())}
    taken = {f"{each.replace('_', '-')}.png" for each in Tour.PICTURES}
    assert {Path(each).name for each in shown} == taken
    assert {each.name for each in (ROOT / "docs").glob("*.png")} == taken
