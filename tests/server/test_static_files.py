"""Static files: gathered once for each version, and named so that browsers keep them for good."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django import Settings

from memoryweb import static_files
from memoryweb.static_files import MARK, gather


@pytest.fixture
def as_served(settings: Settings, tmp_path: Path) -> Path:
    """The settings of a server; where it puts the files."""
    settings.STATIC_ROOT = tmp_path / "static"
    settings.WHITENOISE_USE_FINDERS = settings.WHITENOISE_AUTOREFRESH = False
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "memoryweb.static_files.HashedFiles"}
    }
    return tmp_path / "static"


def test_a_page_names_files_that_are_compressed_and_kept_for_good(
    as_served: Path, accounts: None, db: None
) -> None:
    gather()
    client = Client()
    page = client.get("/accounts/login/").content.decode()
    paths = re.findall(r'(?:href|src)="(/static/[^"]+)"', page)
    assert paths
    for path in paths:
        assert re.search(r"\.[0-9a-f]{12}\.", path), path
        file = client.get(path, headers={"accept-encoding": "gzip"})
        assert file.status_code == 200
        assert re.fullmatch(r"max-age=\d{8,}, public, immutable", file.headers["Cache-Control"])
        if not path.endswith(".png"):  # which is compressed by itself
            assert file.headers["Content-Encoding"] == "gzip"
        file.close()


def test_they_are_gathered_again_only_where_they_changed(
    as_served: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gathered: list[Any] = []

    def collect(*args: Any, **options: Any) -> None:
        gathered.append(args)
        call_command(*args, **options)

    monkeypatch.setattr(static_files, "call_command", collect)
    gather()
    gather()
    assert len(gathered) == 1
    (as_served / MARK).write_text("of another version")
    gather()
    assert len(gathered) == 2


def test_collectstatic_by_itself_is_enough_for_an_image(
    as_served: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call_command("collectstatic", interactive=False, verbosity=0)
    monkeypatch.setattr(static_files, "call_command", None)
    gather()
    assert staticfiles_storage.url("icon.svg") != "/static/icon.svg"


@pytest.mark.skipif(os.getuid() == 0, reason="root writes everywhere")
def test_a_place_that_cannot_be_written_is_named(as_served: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(CommandError, match="MEMORYWEB_STATIC"):
        gather()


def test_a_file_in_the_way_is_named(as_served: Path) -> None:
    as_served.write_text("")
    with pytest.raises(CommandError, match="set MEMORYWEB_STATIC to another directory"):
        gather()
