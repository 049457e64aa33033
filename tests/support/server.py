"""A real server for tests: `manage.py serve` as a child process, on a port and data of its own.

    with MemoryWeb(tmp_path, model) as server:
        agent = server.make_agent("Tutor", human="Name: Bob")
        with server.page(agent) as page:
            page.send("Hello")
        server.kill()  # SIGKILL
        server.start()  # again, on the same data and port

It always serves from SQLite, whatever DATABASE_URL the tests were started with.
"""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any, Self, TypeVar
from urllib.parse import urlencode
from zlib import crc32

from tests.support.fake_openai import FakeOpenAI
from tests.support.processes import free_port
from tests.support.socket_page import Page

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[2]
START_WITHIN = 180.0  # seconds; it takes three, unless the machine is busy
# One place for the static files of all servers that tests start, of this tree and this account.
STATIC = Path(tempfile.gettempdir()) / f"memoryweb-{os.getuid()}-{crc32(bytes(ROOT)):x}"
CSRF = "t" * 32  # a cookie and a header that say the same are what Django asks for

# The database of the first server that was started on nothing, by whether it has accounts: those
# after it start on a copy, as migrating takes longer than all else at a start.
_as_started: dict[str, bytes] = {}


def eventually(check: Callable[[], T], within: float = 60.0) -> T:
    """What `check` gives as soon as that is true and it raises no AssertionError."""
    deadline = time.monotonic() + within
    while True:
        try:
            if value := check():
                return value
            failure = AssertionError(f"After {within:g} s it is still {value!r}.")
        except AssertionError as error:
            failure = error
        if time.monotonic() > deadline:
            raise failure
        time.sleep(0.02)


class MemoryWeb:
    """The server. `model` answers for it; without one, the demo model does."""

    program, cwd = [sys.executable, "manage.py"], ROOT

    def __init__(self, data: Path, model: FakeOpenAI | None = None, **environment: str) -> None:
        self.data, self.port = data, free_port()
        self.log = data / "server.log"
        self.serve = ["serve", "--port", str(self.port)]
        self.cookies = {"memoryweb_csrf": CSRF}  # to send along
        self._child: subprocess.Popen[bytes] | None = None
        # Named here, each wins over a .env in the project's directory.
        self.environment = (
            os.environ
            | {
                "DATABASE_URL": "",
                "DEBUG": "0",
                "HOST": "127.0.0.1",
                "MEMORYWEB_ACCOUNTS": "0",
                "MEMORYWEB_DATA": str(data),
                "MEMORYWEB_ENDPOINTS": "",
                "MEMORYWEB_MODEL": "fake-model" if model else "",
                "MEMORYWEB_MODEL_TIMEOUT": "60",
                "MEMORYWEB_STATIC": str(STATIC),
                "MEMORYWEB_URL": "",
                "OPENAI_API_KEY": "",
                "OPENAI_BASE_URL": model.base_url if model else "",
                "PYTHONUNBUFFERED": "1",
                "REDIS_URL": "",
            }
            | environment
        )

    # -- the process -----------------------------------------------------------------------------

    def start(self) -> Self:
        """Start it and wait until it answers."""
        kind, path = self.environment.get("MEMORYWEB_ACCOUNTS", ""), self.data / "memoryweb.sqlite3"
        fresh = not self.environment["DATABASE_URL"] and not path.exists()
        if fresh and kind in _as_started:
            self.data.mkdir(parents=True, exist_ok=True)
            path.write_bytes(_as_started[kind])
        self.launch()
        try:
            eventually(self.answers, within=START_WITHIN)
        except BaseException:
            self.kill()  # or it would outlive the tests
            raise
        if fresh and kind not in _as_started:
            with closing(sqlite3.connect(path, timeout=20)) as database:
                _as_started[kind] = database.serialize()
        return self

    def launch(self) -> None:
        """Start it, and wait for nothing."""
        self.data.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            self._child = subprocess.Popen(
                [*self.program, *self.serve],
                cwd=self.cwd,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def answers(self) -> bool:
        """Whether it serves; RuntimeError if it has ended."""
        if self._child and self._child.poll() is not None:
            raise RuntimeError(f"The server ended at once:\n{self.log.read_text()}")
        with suppress(OSError):
            return self.get("/static/icon.svg").status < 400  # or sent to where TLS is
        return False

    def command(self, *words: str, said: str = "") -> subprocess.CompletedProcess[str]:
        """Another command, beside it or while it is stopped; `said` is its input."""
        return subprocess.run(
            [*self.program, *words],
            cwd=self.cwd,
            env=self.environment,
            input=said,
            capture_output=True,
            text=True,
            timeout=START_WITHIN,
            check=False,
        )

    def kill(self) -> None:
        """SIGKILL: it has no moment to put anything in order."""
        if self._child:
            self._child.kill()
            self._child.wait()
            self._child = None

    def terminate(self) -> None:
        """SIGTERM, as a supervisor sends it."""
        assert self._child
        self._child.send_signal(signal.SIGTERM)

    def interrupt(self, within: float = 15.0, by: signal.Signals = signal.SIGINT) -> int:
        """Ctrl-C, or another signal that asks it to end; the exit status once it has."""
        assert self._child
        self._child.send_signal(by)
        status = self._child.wait(within)
        self._child = None
        return status

    @property
    def pid(self) -> int:
        assert self._child
        return self._child.pid

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *exc: object) -> None:
        self.kill()

    # -- asking it -------------------------------------------------------------------------------

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def get(self, path: str) -> HTTPResponse:
        return self._request("GET", path, None)

    def post(self, path: str, **form: str | int) -> HTTPResponse:
        """POST a form as htmx would; redirects are not followed."""
        return self._request("POST", path, urlencode(form))

    def _request(self, method: str, path: str, body: str | None) -> HTTPResponse:
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items()),
            "HX-Request": "true",
            "X-CSRFToken": CSRF,
        }
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=20)) as connection:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            response.read()
            return response

    def make_agent(self, name: str = "Tutor", human: str = "", limit: int = 2000) -> str:
        """Make an agent with a persona and a human block, by the form; its id."""
        form: dict[str, str | int] = {
            "name": name,
            "template": "assistant",
            "model": "",
            "system_prompt": "You are a tutor.",
            "blocks-TOTAL_FORMS": 2,
            "blocks-INITIAL_FORMS": 0,
        }
        blocks = [("persona", "You are a helpful assistant"), ("human", human)]
        for number, (label, value) in enumerate(blocks):
            form |= {
                f"blocks-{number}-label": label,
                f"blocks-{number}-value": value,
                f"blocks-{number}-limit": limit,
                f"blocks-{number}-kind": "text",
            }
        response = self.post("/agents/new/", **form)
        made = re.search(r"/agents/([0-9a-f-]{36})/", response.getheader("Location", ""))
        assert made, f"No agent was made: {response.status}\n{self.log.read_text()}"
        return made[1]

    def page(self, agent: str, after: int = 0) -> Page:
        """A page of the agent, as far as the server can tell."""
        return Page(self.url, agent, after)

    # -- what is stored --------------------------------------------------------------------------

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Read its database, whether it runs or not."""
        path = self.data / "memoryweb.sqlite3"
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=20)) as database:
            return database.execute(sql, values).fetchall()

    def one(self, sql: str, *values: Any) -> Any:
        """The one value that a query gives."""
        ((value,),) = self.rows(sql, *values)
        return value

    def runs(self, agent: str) -> list[tuple[str, str]]:
        """The agent's runs in order: text and status."""
        sql = "SELECT text, status FROM agents_run WHERE agent_id = ? ORDER BY id"
        return [(text, status) for text, status in self.rows(sql, key_of(agent))]

    def is_idle(self, agent: str) -> bool:
        return all(status not in ("queued", "running") for _, status in self.runs(agent))

    def last_seq(self, agent: str) -> int:
        seq: int = self.one("SELECT last_seq FROM agents_agent WHERE id = ?", key_of(agent))
        return seq

    def kinds_after(self, agent: str, seq: int) -> set[str]:
        """The kinds of the events in the agent's log after one of them."""
        sql = "SELECT kind FROM agents_event WHERE agent_id = ? AND seq > ?"
        return {kind for (kind,) in self.rows(sql, key_of(agent), seq)}

    def block(self, agent: str, label: str = "human") -> tuple[str, str, int]:
        """A block's id, value and version."""
        ((block, value, version),) = self.rows(
            "SELECT b.id, b.value, b.version FROM agents_block b"
            " JOIN agents_attachment a ON a.block_id = b.id WHERE a.agent_id = ? AND a.label = ?",
            key_of(agent),
            label,
        )
        return block, value, version

    def edit_block(self, agent: str, value: str, label: str = "human") -> None:
        """Edit a block by hand, from the version it has now."""
        block, _, version = self.block(agent, label)
        answer = self.post(f"/agents/{agent}/blocks/{dashed(block)}/", value=value, version=version)
        assert answer.status == 200


def key_of(agent: str) -> str:
    """A UUID as SQLite has it."""
    return agent.replace("-", "")


def dashed(key: str) -> str:
    return "-".join((key[:8], key[8:12], key[12:16], key[16:20], key[20:]))
