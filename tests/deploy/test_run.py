"""What the image, compose and the units run, run in a copy of the files that the image takes."""

from __future__ import annotations

import os
import signal
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import psycopg
import pytest

from tests.support.deploy_samples import (
    HOME,
    copy_of_the_image,
    environment_of,
    exec_form,
    own_services,
    settings_of_the_image,
    stages,
    the_only,
    unit,
)
from tests.support.own_postgres import postgres_installation
from tests.support.processes import free_port
from tests.support.server import START_WITHIN, eventually
from tests.support.site import own_database

pytestmark = [pytest.mark.hosted_only, pytest.mark.slow]
STOPS_WITHIN = 25.0  # what compose and the units give


class Copy:
    """The files of the image in a folder of their own, built as the Containerfile says."""

    def __init__(self, folder: Path, database: str) -> None:
        self.home, self.port = folder / "home", free_port()
        self.folder, self.database = folder, database
        copy_of_the_image(self.home)
        for word, rest in stages()[0]:
            if word == "RUN" and ".venv/bin/python" in rest:
                self.run("sh", "-c", rest, MEMORYWEB_STATIC=str(self.home / "collected"))

    def environment(self, service: str) -> dict[str, str]:
        """As the image and compose set it, with the places of the test."""
        programs = postgres_installation() / "bin"  # of the server's own version
        return (
            {"PATH": f"{programs}:{os.environ['PATH']}"}
            | settings_of_the_image(self.home)
            | environment_of(own_services()[service])
            | {"DATABASE_URL": self.database, "REDIS_URL": os.environ["REDIS_URL"]}
            | {"MEMORYWEB_DATA": str(self.folder / "data"), "PORT": str(self.port)}
        )

    def command(self, service: str) -> list[str]:
        words = own_services()[service].get("command") or exec_form(the_only("CMD"))
        return [*exec_form(the_only("ENTRYPOINT"), self.home), *words]

    def run(self, *command: str, **environment: str) -> str:
        """What it writes; it has to succeed."""
        ended = subprocess.run(
            command,
            cwd=self.home,
            env={"PATH": os.environ["PATH"]} | environment,
            capture_output=True,
            text=True,
            timeout=START_WITHIN,
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout

    def healthy(self, port: int) -> bool:
        words = exec_form(the_only("HEALTHCHECK"), self.home)
        at_port = [word.replace("127.0.0.1:8283", f"127.0.0.1:{port}") for word in words]
        assert at_port != words
        return subprocess.run(at_port, cwd=self.home, stderr=subprocess.DEVNULL).returncode == 0

    @contextmanager
    def running(self, command: list[str], environment: dict[str, str]) -> Iterator[None]:
        """It runs until the end of the block, and then ends well at SIGTERM."""
        log = self.folder / f"{len(list(self.folder.glob('*.log')))}.log"
        with log.open("wb") as output:
            child = subprocess.Popen(
                command, cwd=self.home, env=environment, stdout=output, stderr=output
            )
        try:
            yield
            assert child.poll() is None, log.read_text()
            child.send_signal(signal.SIGTERM)
            assert child.wait(STOPS_WITHIN) == 0, log.read_text()
        finally:
            child.kill()
            child.wait()


@pytest.fixture
def copy(tmp_path: Path) -> Iterator[Copy]:
    with own_database() as database:
        yield Copy(tmp_path, database)


def unit_command(name: str, home: Path, instance: str) -> list[str]:
    """ExecStart of a unit, for an instance and code that is elsewhere."""
    command: str = unit(name)["Service"]["ExecStart"]
    return command.replace(HOME, str(home)).replace("%i", instance).split()


def workers(copy: Copy) -> int:
    """How many have taken up their work."""
    with psycopg.connect(copy.database) as connection:
        found = connection.execute("SELECT count(*) FROM procrastinate_workers").fetchone()
    return int(found[0]) if found else 0


def test_the_commands_of_image_compose_and_units_work(copy: Copy) -> None:
    collected = copy.home / "collected"
    before = sorted(collected.rglob("*"))
    assert before
    assert all(file.stat().st_mode & 0o004 for file in before)  # another account serves them
    run = copy.environment
    assert "is prepared" in copy.run(*copy.command("prepare"), **run("prepare"))
    other = free_port()
    secrets = run("worker")
    for name in ("DATABASE_URL", "MEMORYWEB_SECRET_KEY"):
        (copy.folder / name).write_text(secrets.pop(name) + "\n")
        secrets[f"{name}_FILE"] = str(copy.folder / name)
    worker = unit_command("memoryweb-worker@.service", copy.home, "1")
    web = unit_command("memoryweb-web@.service", copy.home, str(other))
    with (
        copy.running(copy.command("web-1"), run("web-1")),
        copy.running(web, run("web-2")),
        copy.running(copy.command("worker"), secrets),
        copy.running(worker, run("worker")),
    ):
        for port in (copy.port, other):
            eventually(partial(copy.healthy, port), within=START_WITHIN)
        eventually(lambda: workers(copy) == 2)
        words = copy.command("backup")
        backups = copy.folder / "backups"
        backups.mkdir()
        assert words[-1] == "/backups/"
        copy.run(*words[:-1], f"{backups}/", **run("backup"))
        (backup,) = backups.iterdir()
        assert tarfile.is_tarfile(backup)
    # again, as Restart and a second `up` do
    prepare = unit_command("memoryweb-prepare.service", copy.home, "")
    assert "is prepared" in copy.run(*prepare, **run("prepare"))
    assert sorted(collected.rglob("*")) == before  # nothing was gathered anew
