"""The pictures of the documentation can be taken anew from the running application."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page

from docs.screenshots import Tour, application

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.sqlite_only]


def test_all_pictures_are_taken(page: Page, tmp_path: Path) -> None:
    with application() as (server, model):
        Tour(server, model, page, tmp_path).take_all()
    assert len([*tmp_path.glob("*.png")]) == len(Tour.PICTURES)
