"""What is one person's stays theirs: files on the disk, pages in caches."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

from django.test import Client
from django.urls import reverse

from agents.models import Agent
from memoryweb.data_folder import make_private
from tests.support.server import ROOT

# -- files -----------------------------------------------------------------------------------------


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


RUNNING = """
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command

call_command("migrate", verbosity=0)
User.objects.create_user("x")
print(*sorted(f"{p.name} {p.stat().st_mode & 0o777:o}" for p in settings.DATA.iterdir()))
"""


def test_the_data_is_readable_to_nobody_else(tmp_path: Path) -> None:
    """While the database runs, with its log beside it, and afterwards."""
    data = tmp_path / "data"
    done = subprocess.run(
        [sys.executable, "manage.py", "shell", "--no-imports", "--command", RUNNING],
        cwd=ROOT,
        env={**os.environ, "MEMORYWEB_DATA": str(data), "DATABASE_URL": "", "REDIS_URL": ""},
        capture_output=True,
        text=True,
        check=True,
        umask=0o022,
    )
    assert "memoryweb.sqlite3-wal 600 secret_key 600" in done.stdout
    assert mode(data) == 0o700
    made = {path.name: oct(mode(path)) for path in data.iterdir()}
    assert {"memoryweb.sqlite3", "lock", "secret_key"} <= made.keys()
    assert set(made.values()) == {"0o600"}


def test_data_of_an_older_version_is_closed_as_well(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o755)
    of_ours = ["secret_key", "lock", *(f"memoryweb.sqlite3{end}" for end in ("", "-wal", "-shm"))]
    for name in [*of_ours, "notes.sh"]:
        (data / name).write_text("")
        (data / name).chmod(0o755)
    make_private(data, "lock", "memoryweb.sqlite3")
    assert mode(data) == 0o700
    assert [mode(data / name) for name in of_ours] == [0o600] * 5
    assert mode(data / "notes.sh") == 0o755


def test_a_folder_that_is_everybodys_stays_so_and_the_files_in_it_are_private(
    tmp_path: Path,
) -> None:
    tmp_path.chmod(0o1777)
    make_private(tmp_path, "lock")
    assert mode(tmp_path) == 0o1777
    assert mode(tmp_path / "lock") == 0o600


# -- caches ----------------------------------------------------------------------------------------


def test_no_page_and_no_answer_is_kept(web: Client, agent: Agent) -> None:
    addresses = [reverse("agent", args=[agent.pk]), reverse("tokens"), "/v1/agents/", "/nowhere/"]
    addresses += [reverse("account_login"), reverse("account_change_password"), "/admin/"]
    for address in addresses:
        assert "no-store" in web.get(address).headers["Cache-Control"], address
    refused = web.post(reverse("message_send", args=[agent.pk]), {"text": ""})
    assert "no-store" in refused.headers["Cache-Control"]


def test_static_files_may_be_kept(web: Client) -> None:
    page = web.get("/static/icon.svg")
    assert page.status_code == 200
    assert "no-store" not in page.headers.get("Cache-Control", "")


def test_a_message_that_is_refused_without_a_socket_comes_back_to_be_sent_again(
    web: Client, agent: Agent
) -> None:
    send = reverse("message_send", args=[agent.pk])
    page = web.post(send, {"text": "x" * 100_001})
    assert page.status_code == 422
    assert "x" * 100_001 in page.content.decode()
    again = reverse("message_send", args=[agent.pk, agent.pk])
    assert f'action="{again}"' in page.content.decode()
