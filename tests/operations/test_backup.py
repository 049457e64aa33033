"""A backup is whole or is none, overwrites nothing, and is for this user alone."""

from __future__ import annotations

import json
import shutil
import sqlite3
import stat
import tarfile
from contextlib import closing
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from pytest_django import Settings

from agents.management import archive, copying
from agents.management.commands.backup import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def source(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A SQLite database with a thousand rows, of which the last are in the log beside it."""
    path = tmp_path / "memoryweb.sqlite3"
    monkeypatch.setitem(settings.DATABASES["default"], "NAME", path)
    monkeypatch.setattr(connection, "vendor", "sqlite")
    settings.HOSTED = False
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("CREATE TABLE said (words)")
        database.executemany("INSERT INTO said VALUES (?)", [("Hello " * 100,)] * 1000)
        database.commit()
    return path


def backup(path: Path, *options: str) -> str:
    told = StringIO()
    call_command("backup", str(path), *options, stdout=told)
    return told.getvalue()


def rows(backup: Path, folder: Path) -> int:
    """How many rows the database in a backup has."""
    folder.mkdir(exist_ok=True)
    archive.unpack(backup, folder)
    with closing(sqlite3.connect(folder / "database.sqlite3")) as database:
        return int(database.execute("SELECT count(*) FROM said").fetchone()[0])


@pytest.mark.sqlite_only
def test_a_backup_has_all_rows_and_the_key_and_is_for_this_user_alone(
    source: Path, tmp_path: Path, settings: Settings
) -> None:
    copy = tmp_path / "copy.backup"
    with closing(sqlite3.connect(source)) as writing:
        writing.execute("INSERT INTO said VALUES ('not committed')")
        assert "checked, and the secret key" in backup(copy)
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert rows(copy, tmp_path / "out") == 1000
    assert (tmp_path / "out" / "secret_key").read_text() == settings.SECRET_KEY
    assert [path.name for path in tmp_path.glob(".memoryweb-*")] == []


@pytest.mark.sqlite_only
def test_a_key_may_be_left_out_and_is_in_no_other_part(
    source: Path, tmp_path: Path, settings: Settings
) -> None:
    assert "not the secret key" in backup(tmp_path / "copy.backup", "--without-key")
    manifest = archive.unpack(tmp_path / "copy.backup", tmp_path)
    assert not manifest.has_key
    assert manifest.key_sha256 == archive.fingerprint(settings.SECRET_KEY)
    assert settings.SECRET_KEY.encode() not in (tmp_path / "copy.backup").read_bytes()


@pytest.mark.sqlite_only
def test_a_backup_overwrites_nothing_and_is_named_by_the_time_in_a_directory(
    source: Path, tmp_path: Path
) -> None:
    backups = tmp_path / "backups"
    backups.mkdir()
    backup(backups)
    (made,) = backups.iterdir()
    with pytest.raises(CommandError, match="already exists"):
        backup(made)
    assert rows(made, tmp_path / "out") == 1000


@pytest.mark.sqlite_only
def test_a_backup_of_a_damaged_database_is_not_left_behind(source: Path, tmp_path: Path) -> None:
    whole = source.read_bytes()
    source.write_bytes(whole[:8192] + b"\xff" * 40_960 + whole[49_152:])
    with pytest.raises(CommandError, match=r"No backup was made.*(damaged|malformed)"):
        backup(tmp_path / "copy.backup")
    assert not list(tmp_path.glob("copy*"))


@pytest.mark.sqlite_only
@pytest.mark.parametrize("place", ["missing/copy.backup", "memoryweb.sqlite3/copy.backup"])
def test_a_backup_to_where_nothing_can_be_written_is_refused(
    place: str, source: Path, tmp_path: Path
) -> None:
    with pytest.raises(CommandError, match="cannot be written"):
        backup(tmp_path / place)


# -- what is not a whole backup --------------------------------------------------------------------


@pytest.fixture
def made(source: Path, tmp_path: Path) -> Path:
    file, folder = tmp_path / "made.backup", tmp_path / "parts"
    folder.mkdir()
    file.touch()
    make(file, folder, with_key=True)
    return file


def changed(made: Path, name: str, content: bytes) -> Path:
    """The backup with another content of one of its parts."""
    folder = made.with_name("changed")
    folder.mkdir()
    with tarfile.open(made) as tar:
        for member in tar.getmembers():
            opened = tar.extractfile(member)
            assert opened
            (folder / member.name).write_bytes(opened.read())
    (folder / name).write_bytes(content)
    other = made.with_name("other.backup")
    with tarfile.open(other, "w") as tar:
        for path in folder.iterdir():
            tar.add(path, path.name)
    return other


@pytest.mark.sqlite_only
@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("database.sqlite3", b"another", "does not have the SHA-256"),
        ("secret_key", b"another", "does not have the SHA-256"),
        ("manifest.json", b"{", "not a whole backup"),
        ("manifest.json", json.dumps({"format": 2}).encode(), "its format is 2"),
    ],
)
def test_what_was_changed_is_refused(made: Path, name: str, content: bytes, words: str) -> None:
    other = changed(made, name, content)
    with pytest.raises(CommandError, match=words):
        archive.unpack(other, made.with_name("parts"))


@pytest.mark.sqlite_only
def test_what_is_no_backup_or_cut_short_is_refused(made: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.backup"
    cut.write_bytes(made.read_bytes()[:-50_000])
    for file in (cut, Path(__file__), tmp_path):
        with pytest.raises(CommandError, match=r"not a whole backup|cannot be read|is damaged"):
            archive.unpack(file, tmp_path / "parts")
    with pytest.raises(CommandError, match="There is no file"):
        archive.unpack(tmp_path / "none", tmp_path)


def test_without_postgres_programs_it_is_said_where_they_are(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(CommandError, match=r"There is no pg_dump here.*postgresql-client"):
        copying.dump_postgres(tmp_path / "dump")
