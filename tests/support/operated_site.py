"""A site as an operator runs it: by the commands of docs/hosting.md, behind nginx with TLS."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import psycopg

from tests.support.fake_openai import FakeOpenAI
from tests.support.own_postgres import postgres_installation
from tests.support.processes import free_port
from tests.support.proxies import nginx_sample, running_nginx
from tests.support.server import ROOT, START_WITHIN, MemoryWeb, eventually
from tests.support.visitor import Visitor
from tests.support.web_servers import certificate_for

ENDS_WITHIN = 25.0  # seconds, which docs/hosting.md has supervisors give
COMMANDS = re.findall(
    r"^    \.venv/bin/python manage\.py (.+?)(?: +#.*)?$",
    (ROOT / "docs" / "hosting.md").read_text(),
    re.MULTILINE,
)


def documented(begins: str) -> list[str]:
    """The words of the first command of docs/hosting.md that begins so."""
    return shlex.split(next(command for command in COMMANDS if command.startswith(begins)))


class Operated:
    """Two web processes and workers, each started by the operator; nothing runs at first."""

    def __init__(self, folder: Path, model: FakeOpenAI, database: str) -> None:
        self.folder, self.database = folder, database
        self.ports, self.port = (free_port(), free_port()), free_port()
        self.url = f"https://localhost:{self.port}"
        folder.mkdir(exist_ok=True)
        _, self.trusted = certificate_for("localhost", folder)
        self.certificate = folder / "localhost.pem"
        self.environment = MemoryWeb(
            folder / "data",
            model,
            MEMORYWEB_ACCOUNTS="1",  # the address is this machine's
            DATABASE_URL=database,
            REDIS_URL=os.environ["REDIS_URL"],
            MEMORYWEB_URL=self.url,
            MEMORYWEB_SIGNUP="invitation",
            PATH=f"{postgres_installation() / 'bin'}:{os.environ['PATH']}",  # has pg_dump
            SSL_CERT_FILE=str(self.certificate),
        ).environment
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def visitor(self) -> Visitor:
        """Somebody's browser."""
        return Visitor(self.url, self.trusted)

    def run(self, begins: str, *, said: str = "", **places: Path) -> str:
        """Run a command of the docs to its end; what it writes. `places` stand in for its words."""
        words = [str(places.get(word.strip("/"), word)) for word in documented(begins)]
        ended = subprocess.run(
            [sys.executable, "manage.py", *words],
            cwd=ROOT,
            env=self.environment,
            input=said,
            capture_output=True,
            text=True,
            timeout=START_WITHIN,
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout

    def start(self, *names: str) -> None:
        """Start `web1`, `web2`, workers `worker1` and so on, and wait until all do their work."""
        there = {row for (row,) in self.ask("SELECT id FROM procrastinate_workers")}
        for name in names:
            self.launch(name)
        workers = sum(name.startswith("worker") for name in names)

        def all_work() -> bool:
            for name in names:
                if self.running[name].poll() is not None:
                    raise RuntimeError(f"{name} ended at once:\n{self.log_of(name)}")
            now = {row for (row,) in self.ask("SELECT id FROM procrastinate_workers")}
            return len(now - there) == workers and all(
                self.is_ready(name) for name in names if name.startswith("web")
            )

        eventually(all_work, within=START_WITHIN)

    def launch(self, name: str) -> None:
        web = name.startswith("web")
        words = documented("serve" if web else "procrastinate worker")
        environment = {"PORT": str(self.port_of(name))} if web else {}
        with (self.folder / f"{name}.log").open("ab") as log:
            self.running[name] = subprocess.Popen(
                [sys.executable, "manage.py", *words],
                cwd=ROOT,
                env=self.environment | environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def port_of(self, name: str) -> int:
        return self.ports[int(name[-1]) - 1]

    def is_ready(self, name: str) -> bool:
        """Whether a web process is to be sent requests."""
        with suppress(OSError):
            probe = Visitor(f"http://127.0.0.1:{self.port_of(name)}").get("/readyz")
            return bool(probe.status == 200)
        return False

    def asks(self, name: str, model: FakeOpenAI) -> bool:
        """Whether a process waits for answers of the model."""
        port = urlsplit(model.base_url).port
        connections = psutil.Process(self.running[name].pid).net_connections("tcp")
        return any(each.raddr and each.raddr.port == port for each in connections)

    def kill(self, name: str) -> None:
        """kill -9"""
        child = self.running.pop(name)
        child.kill()
        child.wait()

    def ask_to_end(self) -> list[subprocess.Popen[bytes]]:
        """SIGTERM for all, as a supervisor sends it."""
        children, self.running = list(self.running.values()), {}
        for child in children:
            child.send_signal(signal.SIGTERM)
        return children

    def ask(self, sql: str) -> list[tuple[object, ...]]:
        with psycopg.connect(self.database) as connection:
            return connection.execute(sql).fetchall()

    def log_of(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text()


@contextmanager
def operated(folder: Path, model: FakeOpenAI, database: str) -> Iterator[Operated]:
    """The site behind its proxy; whatever runs in the end is killed."""
    site = Operated(folder, model, database)
    cert = site.certificate
    sample = nginx_sample(site.ports[1], site.port, cert, cert, other=site.ports[0])
    with running_nginx(folder, site.port, sample):
        try:
            yield site
        finally:
            for name in list(site.running):
                site.kill(name)
