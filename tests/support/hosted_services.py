"""A Postgres and a Redis of one's own for as long as a command runs.

    python -m tests.support.hosted_services -- pytest tests

runs the command with DATABASE_URL and REDIS_URL set, stops both servers when it ends, however it
ends, and exits as it did. Both listen on free ports of 127.0.0.1, with a password made for the
occasion, and keep their files in a temporary directory.

MEMORYWEB_TEST_DATABASE_URL and MEMORYWEB_TEST_REDIS_URL name servers to use instead.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import FrameType

from tests.support.own_postgres import postgres_url
from tests.support.own_redis import redis_server_url
from tests.support.processes import STOP_WITHIN, Unavailable, stop


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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
