"""A real server that finds its data in a bad state, or leaves it in a good one."""

from __future__ import annotations

import signal
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.fake_openai import FakeOpenAI, gated, text
from tests.support.server import MemoryWeb, eventually

pytestmark = [pytest.mark.slow, pytest.mark.sqlite_only]


def refusal(server: MemoryWeb) -> str:
    """What `serve` says before it ends at once, without a traceback."""
    ended = server.command("serve", "--port", str(server.port))
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr
    return ended.stderr


def test_a_data_directory_that_cannot_be_used_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    words = refusal(MemoryWeb(tmp_path / "file" / "data"))
    assert "The data directory" in words
    assert "set MEMORYWEB_DATA to another directory" in words


def test_a_data_directory_that_cannot_be_written_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "lock").mkdir()
    assert "cannot be written: Is a directory. Let this user" in refusal(MemoryWeb(tmp_path))


def test_a_damaged_database_is_told_in_a_sentence(tmp_path: Path) -> None:
    with MemoryWeb(tmp_path / "data") as server:
        server.interrupt()
    path = server.data / "memoryweb.sqlite3"
    whole = path.read_bytes()
    path.write_bytes(whole[:8192] + b"\xff" * (len(whole) - 16_384) + whole[-8192:])
    assert "The database is damaged" in refusal(server)
    path.write_bytes(b"\xff" * 100_000)
    assert "The database is damaged (file is not a database)" in refusal(server)


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT])
def test_a_server_that_is_asked_to_end_leaves_all_in_one_file(
    by: signal.Signals, tmp_path: Path, model: FakeOpenAI
) -> None:
    gate = gated(text("Once upon a time."))
    model.script(gate)
    with MemoryWeb(tmp_path / "data", model) as server:
        agent = server.make_agent()
        with server.page(agent) as page:
            page.send("Tell me a story")
            gate.release(2)
            page.wait_for("Once")
        assert server.interrupt(by=by) == 0
    path = server.data / "memoryweb.sqlite3"
    log = path.with_name("memoryweb.sqlite3-wal")
    assert not log.exists() or log.stat().st_size == 0
    with closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as alone:
        assert alone.execute("SELECT text, status FROM agents_run").fetchall() == [
            ("Tell me a story", "running")
        ]


def test_a_backup_is_made_while_a_server_writes_and_can_be_put_in_its_place(
    tmp_path: Path, model: FakeOpenAI
) -> None:
    model.default = text("Yes, it is so. " * 50)
    copy, ended = tmp_path / "copy.backup", threading.Event()
    with MemoryWeb(tmp_path / "data", model) as server:
        agent = server.make_agent()

        def talk() -> None:
            with server.page(agent) as page:
                while not ended.is_set():
                    page.send("Is it so?")
                    eventually(lambda: server.is_idle(agent))

        talking = threading.Thread(target=talk)
        talking.start()
        eventually(lambda: len(server.runs(agent)) > 3)
        before = len(server.runs(agent))
        made = server.command("backup", str(copy))
        assert made.returncode == 0, made.stderr
        eventually(lambda: len(server.runs(agent)) > before)
        ended.set()
        talking.join()
        after = len(server.runs(agent))
        server.interrupt()
    for path in server.data.glob("memoryweb.sqlite3*"):
        path.unlink()
    restored = server.command("restore", str(copy))
    assert restored.returncode == 0, restored.stderr
    with server:
        assert before <= len(server.runs(agent)) < after
        eventually(lambda: server.is_idle(agent))
        assert server.get(f"/agents/{agent}/").status == 200
