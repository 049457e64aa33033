"""A backup of a real server, restored into an empty database: with its key, and without."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.fake_openai import FakeOpenAI
from tests.support.own_postgres import postgres_installation
from tests.support.server import MemoryWeb
from tests.support.site import own_database

pytestmark = pytest.mark.slow
KEY = "the key of the first server, which is long enough"
OTHER = "another key, which is as long as the first one"
STORE_SECRET = (
    "from agents.models import Agent; a = Agent.objects.get(); from agents.models.secrets import"
    " encrypted; a.secrets = encrypted({'API_KEY': 'sesame'}); a.save();"
    " from allauth.mfa.models import Authenticator;"
    " from agents.models.encryption import SECOND_FACTORS as kept; Authenticator.objects.create("
    "user=a.owner, type='totp', data={'secret': kept.encrypt('s'), 'more': 1});"
    " from agents.models import ModelEndpoint; e = ModelEndpoint(name='lab', base_url='http://lab');"
    " e.set_key('lab-key'); e.save()"
)
READ_SECRET = (
    "from agents.models import Agent; from agents.models.secrets import decrypted;"
    " print(decrypted(Agent.objects.get().secrets))"
)


@contextmanager
def server(data: Path, model: FakeOpenAI | None, **environment: str) -> Iterator[MemoryWeb]:
    """A server of the form that the tests are run for, with an empty database; not started."""
    if not os.environ.get("DATABASE_URL"):
        yield MemoryWeb(data, model, **environment)
        return
    programs = postgres_installation() / "bin"  # of the server's own version
    path = f"{programs}:{os.environ['PATH']}"
    with own_database() as url:
        yield MemoryWeb(data, model, DATABASE_URL=url, PATH=path, **environment)


def told(server: MemoryWeb, *words: str) -> str:
    ended = server.command(*words)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


@pytest.fixture
def first(tmp_path: Path, model: FakeOpenAI) -> Iterator[MemoryWeb]:
    """A server with an agent that has a secret."""
    with server(tmp_path / "first", model, MEMORYWEB_SECRET_KEY=KEY) as made:
        told(made, "prepare")
        with made:
            made.make_agent(human="Name: Bob")
        told(made, "shell", "-c", STORE_SECRET)
        yield made


def test_a_backup_is_restored_into_an_empty_database_with_its_key(
    first: MemoryWeb, tmp_path: Path, model: FakeOpenAI
) -> None:
    file = str(tmp_path / "made.backup")
    told(first, "backup", file)
    with server(tmp_path / "second", model) as second:
        assert "all secrets can be read" in told(second, "restore", file)
        assert "sesame" in told(second, "shell", "-c", READ_SECRET)
        refused = second.command("restore", file)
        assert refused.returncode == 1
        assert "The database has data already; nothing was restored." in refused.stderr
        told(second, "shell", "-c", "from agents.models import Agent; Agent.objects.get().purge()")
        assert "all secrets can be read" in told(second, "restore", file, "--replace")
        assert "sesame" in told(second, "shell", "-c", READ_SECRET)
        with second:
            assert second.get("/").status in (200, 302)


def test_without_its_key_it_is_said_what_cannot_be_read(
    first: MemoryWeb, tmp_path: Path, model: FakeOpenAI
) -> None:
    bare, whole = str(tmp_path / "bare.backup"), str(tmp_path / "whole.backup")
    told(first, "backup", bare, "--without-key")
    told(first, "backup", whole)
    with server(tmp_path / "second", model) as second:
        words = told(second, "restore", bare)
        assert (
            "people log in again, and these cannot be read: 1 secret of an agent, 1 key of an"
            " endpoint, 1 authenticator app or set of recovery codes." in words
        )
        assert "Passwords, passkeys and tokens of scripts hold" in words
        assert "sesame" not in told(second, "shell", "-c", READ_SECRET)
        second.environment["MEMORYWEB_SECRET_KEY"] = OTHER
        words = told(second, "restore", whole, "--replace")
        assert "MEMORYWEB_SECRET_KEY is another key than that of the backup" in words
        second.environment["MEMORYWEB_SECRET_KEY_FALLBACKS"] = KEY
        assert "sesame" in told(second, "shell", "-c", READ_SECRET)
        words = told(second, "rotate_keys")
        assert "Secrets of agents: 1 of 1 encrypted anew." in words
        assert "All is under the present key; MEMORYWEB_SECRET_KEY_FALLBACKS can go." in words
        del second.environment["MEMORYWEB_SECRET_KEY_FALLBACKS"]
        assert "sesame" in told(second, "shell", "-c", READ_SECRET)


@pytest.mark.hosted_only
def test_a_backup_of_another_form_is_refused(first: MemoryWeb, tmp_path: Path) -> None:
    file = str(tmp_path / "made.backup")
    told(first, "backup", file)
    refused = MemoryWeb(tmp_path / "sqlite").command("restore", file)
    assert refused.returncode == 1
    assert "The backup is of postgresql, and this server is on sqlite." in refused.stderr
