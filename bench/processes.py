"""The processes of a benchmark: the stub, the server on a data directory of its own, its set-up."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench.cast import Cast
from bench.stub import MODEL
from memoryweb.data_folder import DATABASE
from tests.support.processes import free_port

ROOT = Path(__file__).resolve().parent.parent
START_SECONDS = 30.0
STOP_SECONDS = 10.0
SEARCH_SECONDS = 600.0
LOG = "server.log"


class BenchError(Exception):
    """Something could not be measured, and why."""


@contextlib.contextmanager
def stub() -> Iterator[str]:
    """The stub's base URL."""
    with stub_process() as (url, _):
        yield url


@contextlib.contextmanager
def stub_process() -> Iterator[tuple[str, int]]:
    """The stub's base URL, and its process."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.stub"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1", process.pid
    finally:
        stop(process)


def environment(data: Path, base_url: str) -> dict[str, str]:
    """Settings of the server: nothing of the person's own environment or `.env` gets in."""
    empty = ("DATABASE_URL", "REDIS_URL", "MEMORYWEB_ENDPOINTS", "MEMORYWEB_URL")
    return (
        os.environ
        | dict.fromkeys(empty, "")
        | {
            "DJANGO_SETTINGS_MODULE": "memoryweb.settings",
            "MEMORYWEB_DATA": str(data),
            "MEMORYWEB_ACCOUNTS": "0",
            "MEMORYWEB_MODEL": MODEL,
            "OPENAI_BASE_URL": base_url,
            "OPENAI_API_KEY": "bench",
            "NO_PROXY": "127.0.0.1",
            "DEBUG": "0",
            "LOG_LEVEL": "WARNING",
        }
    )


def make_cast(settings: dict[str, str]) -> Cast:
    """The agents, made by a process of its own before the server has the database."""
    made = subprocess.run(
        [sys.executable, "-m", "bench.cast"],
        cwd=ROOT,
        env=settings,
        stdout=subprocess.PIPE,
        check=True,
        timeout=60,
    )
    return Cast(**json.loads(made.stdout))


def search(data: Path, samples: int, vectors: bool) -> list[Any]:
    """The figures of `bench.search`: name, unit, samples and aim of each."""
    options = ["--samples", str(samples), *([] if vectors else ["--no-vectors"])]
    try:
        told = subprocess.run(
            [sys.executable, "-m", "bench.search", *options],
            cwd=ROOT,
            env=environment(data, ""),
            stdout=subprocess.PIPE,
            check=True,
            timeout=SEARCH_SECONDS,
        )
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        raise BenchError(f"Search was not measured: {error}") from error
    figures: list[Any] = json.loads(told.stdout)
    return figures


class Server:
    """`manage.py serve` as a child process."""

    def __init__(self, process: subprocess.Popen[bytes], port: int, data: Path) -> None:
        self.process, self.port, self.data = process, port, data
        self.address = f"127.0.0.1:{port}"

    def get(self, path: str, cookie: str = "") -> bytes:
        """A page, uncompressed."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request("GET", path, headers={"Cookie": cookie} if cookie else {})
            response = connection.getresponse()
            body = response.read()
        except OSError as error:
            log = (self.data / LOG).read_text(errors="replace")
            raise BenchError(
                f"GET {path}: {error}. The server's log ends:\n{log[-2000:]}"
            ) from error
        finally:
            connection.close()
        if response.status != 200:
            raise BenchError(f"GET {path} gave {response.status}.")
        return body

    def memory(self) -> float:
        """Resident memory in MB (10⁶ bytes)."""
        return memory(self.process.pid)

    def stored(self) -> int:
        """Bytes that the database takes, without what is free in it."""
        with contextlib.closing(sqlite3.connect(self.data / DATABASE)) as connection:
            pages = [
                connection.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("page_count", "freelist_count", "page_size")
            ]
        return int((pages[0] - pages[1]) * pages[2])

    def cpu_seconds(self) -> float | None:
        """Processor time it has used; None where there is no /proc."""
        return cpu_seconds(self.process.pid)


def memory(pid: int) -> float:
    """Resident memory of a process in MB (10⁶ bytes)."""
    told = subprocess.check_output(["ps", "-o", "rss=", "-p", str(pid)])
    return int(told) * 1024 / 1e6


def cpu_seconds(pid: int | str, *, children: bool = False) -> float | None:
    """Processor time that a process has used, or that its ended children had; None where there is
    no /proc."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = told.rpartition(")")[2].split()[11:15]
    user, system = fields[2:] if children else fields[:2]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def server(settings: dict[str, str], data: Path) -> Iterator[Server]:
    """The server on the data in a folder, when it answers."""
    log = data / LOG
    port = free_port()
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "serve", "--host", "127.0.0.1", "--port", str(port)],
            cwd=ROOT,
            env=settings,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    try:
        wait_until_up(process, port, log)
        yield Server(process, port, data)
    finally:
        stop(process)


def wait_until(holds: Callable[[], bool], words: str) -> None:
    """Wait until something holds; BenchError with these words if it does not in time."""
    deadline = time.monotonic() + START_SECONDS
    while not holds():
        if time.monotonic() > deadline:
            raise BenchError(words)
        time.sleep(0.1)


def wait_until_up(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.02)
    raise BenchError(f"The server does not start:\n{log.read_text(errors='replace')[-2000:]}")


def stop(process: subprocess.Popen[bytes] | subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
