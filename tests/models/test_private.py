"""What is one person's stays theirs: files on the disk, pages in caches, cookies behind TLS."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from agents.models import Agent
from memoryweb.data_folder import make_private
from tests.support.server import ROOT

# -- files -----------------------------------------------------------------------------------------


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def manage(data: Path, *command: str, **environment: str) -> str:
    """What a command of `manage.py` prints, on a data folder of its own."""
    named = {"MEMORYWEB_DATA": str(data), "DATABASE_URL": "", "REDIS_URL": ""}
    done = subprocess.run(
        [sys.executable, "manage.py", *command],
        cwd=ROOT,
        env=os.environ | named | environment,
        capture_output=True,
        text=True,
        check=True,
        umask=0o022,
    )
    return done.stdout


def test_the_data_is_readable_to_nobody_else(tmp_path: Path) -> None:
    data = tmp_path / "data"
    manage(data, "migrate", "--verbosity=0")
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


def test_the_file_of_a_running_database_has_private_files_beside_it(tmp_path: Path) -> None:
    code = (
        "from django.contrib.auth.models import User; User.objects.create_user('x');"
        "from django.conf import settings;"
        "print(*sorted(f'{p.name} {p.stat().st_mode & 0o777:o}' for p in settings.DATA.iterdir()))"
    )
    manage(tmp_path, "migrate", "--verbosity=0")
    files = manage(tmp_path, "shell", "--no-imports", "--verbosity=0", "--command", code)
    assert "memoryweb.sqlite3-wal 600 secret_key 600" in files


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
    assert f'action="{send}"' in page.content.decode()


# -- behind TLS ------------------------------------------------------------------------------------

ASK = """
import json
from allauth.account.adapter import get_adapter
from django.conf import settings
from django.test import Client, RequestFactory

settings.ALLOWED_HOSTS.append("testserver")
page = Client().get("/accounts/signup/", headers={"x-forwarded-proto": "https"})
asked = RequestFactory().get("/", headers={"x-forwarded-for": "6.6.6.6, 203.0.113.9"})
print(json.dumps({
    "cookies": [str(cookie) for cookie in page.cookies.values()],
    "session": settings.SESSION_COOKIE_NAME,
    "messages": settings.MESSAGE_STORAGE,
    "hsts": page.headers.get("Strict-Transport-Security"),
    "client": get_adapter().get_client_ip(asked),
}))
"""


def asked_of_a_server(data: Path, origins: str) -> dict[str, Any]:
    manage(data, "migrate", "--verbosity=0")
    names = {"MEMORYWEB_ACCOUNTS": "1", "MEMORYWEB_TRUSTED_ORIGINS": origins}
    command = ("shell", "--no-imports", "--verbosity=0", "--command", ASK)
    return dict(json.loads(manage(data, *command, **names)))


def test_behind_tls_cookies_are_this_hosts_alone_and_browsers_keep_to_tls(tmp_path: Path) -> None:
    said = asked_of_a_server(tmp_path, "https://memory.example.com")
    (csrf,) = said["cookies"]
    assert csrf.startswith("Set-Cookie: __Host-memoryweb_csrf=")
    assert csrf.endswith("; Secure")
    assert "Path=/;" in csrf
    assert "Domain" not in csrf
    assert said["session"] == "__Host-memoryweb_session"
    assert said["messages"] == "memoryweb.messages.HostMessages"
    assert said["hsts"] == "max-age=31536000"
    assert said["client"] == "203.0.113.9"


@pytest.mark.parametrize("origins", ["", "http://memory.example.com"])
def test_without_tls_nothing_asks_for_it(origins: str, tmp_path: Path) -> None:
    said = asked_of_a_server(tmp_path, origins)
    assert "Secure" not in said["cookies"][0]
    assert (said["session"], said["hsts"]) == ("memoryweb_session", None)
    assert said["client"] == "127.0.0.1"
