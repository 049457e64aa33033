"""An attached file over `kill -9`: each of its passages comes once."""

from __future__ import annotations

from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path

import pytest

from tests.support.server import CSRF, MemoryWeb, eventually
from tests.support.site import own_site

from .test_killed_imports import WITHIN, Ask

pytestmark = pytest.mark.slow

COUNT = 600  # passages, 20 in a transaction; a pause follows on each
STATE = "SELECT status, passages, total FROM agents_attachedfile"


def attach(server: MemoryWeb, agent: str) -> None:
    """Attach a text as the page does."""
    text = "".join(
        f"Paragraph {number}. {'They sail at dawn. ' * 80}\n\n" for number in range(COUNT)
    )
    body = (
        '--b\r\nContent-Disposition: form-data; name="file"; filename="long.txt"\r\n\r\n'
        f"{text}\r\n--b--\r\n"
    )
    headers = {
        "Content-Type": "multipart/form-data; boundary=b",
        "Cookie": "; ".join(f"{name}={value}" for name, value in server.cookies.items()),
        "X-CSRFToken": CSRF,
    }
    with closing(HTTPConnection("127.0.0.1", server.port, timeout=20)) as connection:
        connection.request("POST", f"/agents/{agent}/files/", body.encode(), headers)
        assert connection.getresponse().status == 201


def is_half_way(rows: Ask) -> bool:
    ((status, stored, _),) = rows(STATE)
    assert status == "reading", "it was too quick to be interrupted"
    return bool(stored)


def check_half(rows: Ask) -> None:
    """What was stored until it was killed is what it says."""
    ((status, stored, total),) = rows(STATE)
    assert (status, total) == ("reading", COUNT)
    assert 0 < stored < COUNT
    assert rows("SELECT count(*) FROM agents_passage")[0][0] == stored


def is_whole(rows: Ask) -> bool:
    """Each passage is there once."""
    if rows(STATE)[0][0] == "reading":
        return False
    assert [tuple(row) for row in rows(STATE)] == [("done", COUNT, COUNT)]
    found = [text for (text,) in rows("SELECT text FROM agents_passage ORDER BY id")]
    leads = [text.partition(". They")[0] for text in found]
    assert leads == [f"From long.txt.\nParagraph {number}" for number in range(COUNT)]
    return True


@pytest.mark.sqlite_only
def test_reading_goes_on_where_a_server_was_killed(tmp_path: Path) -> None:
    with MemoryWeb(tmp_path) as server:
        attach(server, server.make_agent())
        eventually(lambda: is_half_way(server.rows), within=WITHIN)
        server.kill()
        check_half(server.rows)
        server.start()
        eventually(lambda: is_whole(server.rows), within=WITHIN)


@pytest.mark.hosted_only
def test_a_worker_reads_and_another_goes_on_where_it_was_killed(tmp_path: Path) -> None:
    with own_site(tmp_path) as site:
        attach(site.web[0], site.web[0].make_agent())
        assert site.ask(STATE) == [("reading", 0, 0)], "no web process reads it"
        assert site.ask(
            "SELECT count(*) FROM procrastinate_jobs WHERE task_name = 'read_attached_files'"
        ) == [(1,)]
        site.worker()
        eventually(lambda: is_half_way(site.ask), within=WITHIN)
        site.stop_workers()
        check_half(site.ask)
        site.worker()
        eventually(lambda: is_whole(site.ask), within=WITHIN)
