"""Child processes of tests: started on free ports, waited for, and stopped."""

from __future__ import annotations

import contextlib
import functools
import os
import pwd
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import SystemRandom

START_WITHIN = 30.0  # seconds
STOP_WITHIN = 10.0  # seconds
ATTEMPTS = 3  # a port that was free may be taken before the server binds it


class Unavailable(Exception):
    """A server that cannot be had here; the message says what to do about it."""


@contextlib.contextmanager
def running_server(
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
    """A port that nobody listens on, below those that systems give to outgoing connections: one of
    these could be taken again before a server binds it, or while it is stopped."""
    while True:
        port = SystemRandom().randrange(20_000, 32_000)
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port
