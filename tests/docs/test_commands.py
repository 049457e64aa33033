"""Every command of the documentation is run by a test, or listed here with why it is not."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.docs.commands import ROOT, commands
from tests.support.server import MemoryWeb

PYTHON = ".venv/bin/python"
MANAGE = f"{PYTHON} manage.py"
# Run below, on SQLite, one after the other.
HERE = [
    f"{MANAGE} prepare",
    f"{MANAGE} create_admin carol",
    f"{MANAGE} doctor",
    f"{MANAGE} backup /backups/",
    f"{MANAGE} backup FILE --without-key",
    f"{MANAGE} restore FILE",
    f"{MANAGE} restore FILE --replace",
    f"{MANAGE} rotate_keys",
]
# Run by another test, or as every test.
ELSEWHERE = {
    f"{MANAGE} serve": "tests/support/server.py",
    f"{MANAGE} procrastinate worker": "tests/support/operated_site.py",
    "memoryweb": "tests/browser/test_package.py",
    "pip install memoryweb": "tests/support/package.py",
    "pip install letta-client": "tests/sdk/interpreters.py",
    "curl http://127.0.0.1:8283/v1/agents/": "tests/sdk/operations.py",
    "docker compose exec web-1 .venv/bin/python manage.py doctor": "tests/slow/test_doctor.py",
}
NO_CONTAINERS = "needs a container engine; tests/deploy runs what the images run"
NO_SYSTEMD = "needs systemd and root; tests/deploy runs what the units run"
INSTALLS = "changes the environment in which the tests run"
A_RUN = "is a run of the tests or of the measurements itself"
NOT_RUN = {
    "cd /opt/memoryweb": NO_SYSTEMD,
    "cd deploy": NO_CONTAINERS,
    "cp env.example .env": NO_CONTAINERS,
    "cp deploy/systemd/* /etc/systemd/system/": NO_SYSTEMD,
    "docker compose logs web-1": NO_CONTAINERS,
    "docker compose run --rm backup": NO_CONTAINERS,
    "docker compose up -d --build": NO_CONTAINERS,
    "install -D -m 600 .env.example /etc/memoryweb/env": NO_SYSTEMD,
    "systemctl daemon-reload": NO_SYSTEMD,
    "systemctl enable --now memoryweb.target": NO_SYSTEMD,
    "systemd-run --pty --uid=memoryweb -p EnvironmentFile=/etc/memoryweb/env"
    " -p WorkingDirectory=/opt/memoryweb -E MEMORYWEB_DATA=/var/lib/memoryweb"
    " /opt/memoryweb/.venv/bin/python manage.py doctor": NO_SYSTEMD,
    "useradd --system --home-dir /var/lib/memoryweb memoryweb": NO_SYSTEMD,
    "make run": INSTALLS,
    "make install-hosted": INSTALLS,
    "make format": "rewrites the code",
    "make docs": "tests/docs builds the site, and tests/browser takes its pictures",
    **dict.fromkeys(
        ("make test", "make test-fast", "make test-hosted", "make lint", "make bench"), A_RUN
    ),
    "make messages": "tests/server/test_languages.py",
    "make bench-hosted": A_RUN,
    f"{PYTHON} -m pytest -m browser tests/browser/test_blocks.py": A_RUN,
    f"{PYTHON} -m pytest tests/models/test_blocks.py -k replace": A_RUN,
    f"{PYTHON} -m tests.support.hosted_services -- {PYTHON} -m pytest tests/runs/test_hosted.py": (
        A_RUN
    ),
}


def test_every_command_of_the_documentation_is_run_or_listed_with_a_reason() -> None:
    named, known = commands(), {*HERE, *ELSEWHERE, *NOT_RUN}
    assert named - known == set(), "run these, or say here why they cannot be"
    assert known - named == set(), "no page names these any more"
    assert all((ROOT / file).exists() for file in ELSEWHERE.values())


@pytest.mark.parametrize("command", sorted(each for each in NOT_RUN if each.startswith("make ")))
def test_what_is_asked_of_make_is_there(command: str) -> None:
    ended = subprocess.run(
        [*shlex.split(command), "--dry-run"], cwd=ROOT, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr


@pytest.mark.slow
@pytest.mark.sqlite_only
def test_the_commands_for_operators_do_what_the_pages_say(tmp_path: Path) -> None:
    server = MemoryWeb(tmp_path / "data", MEMORYWEB_ACCOUNTS="1")
    backups, file = tmp_path / "backups", tmp_path / "file"
    backups.mkdir()
    for command in HERE:
        words = shlex.split(command.removeprefix(f"{MANAGE} "))
        places = {"/backups/": f"{backups}/", "FILE": str(file)}
        if command.endswith("restore FILE"):  # into an empty database
            shutil.rmtree(server.data)
        ended = server.command(*[places.get(each, each) for each in words], said="a long secret 7")
        assert ended.returncode == 0, f"{command}\n{ended.stdout}{ended.stderr}"
    (made,) = backups.iterdir()
    assert made.stat().st_size > 0
