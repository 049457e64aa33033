"""An import of a history over `kill -9`: each conversation comes once, and it can be undone."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from tests.support.server import CSRF, MemoryWeb, eventually
from tests.support.site import Site, own_site

pytestmark = pytest.mark.slow
Ask = Callable[[str], list[Any]]

COUNT = 150  # conversations, of two messages each; a pause follows on each
FEW = 10
WITHIN = 120.0
STATE = "SELECT status, conversations, messages, read FROM agents_historyimport"


def export() -> bytes:
    """What Claude exports of many conversations."""

    def said(number: int, sender: str) -> dict[str, Any]:
        at = f"2024-05-03T10:00:{number % 60:02}.000000Z"
        words = f"{sender} says {number}"
        return {"uuid": words, "text": words, "sender": sender, "created_at": at}

    talks = [
        {
            "uuid": str(number),
            "name": f"Talk {number}",
            "created_at": "2024-05-03T10:00:00.000000Z",
            "chat_messages": [said(number, "human"), said(number, "assistant")],
        }
        for number in range(COUNT)
    ]
    return json.dumps(talks).encode()


def upload(server: MemoryWeb, agent: str) -> str:
    """Upload the export as the page does; the address of the import."""
    data = export()
    server.post(f"/agents/{agent}/imports/", name="conversations.json", size=len(data))
    listing = f"/agents/{agent}/imports/"
    (found,) = set(re.findall(rf"{listing}\d+/", ask(server, "GET", listing)))
    ask(server, "POST", f"{found}part/?start=0", data)
    return str(found)


def ask(server: MemoryWeb, method: str, path: str, body: bytes = b"") -> str:
    headers = {
        "Content-Type": "application/octet-stream",
        "Cookie": "; ".join(f"{name}={value}" for name, value in server.cookies.items()),
        "X-CSRFToken": CSRF,
    }
    with closing(HTTPConnection("127.0.0.1", server.port, timeout=20)) as connection:
        connection.request(method, path, body or None, headers)
        response = connection.getresponse()
        words = response.read().decode()
    assert response.status < 300, words
    return words


def is_half_way(rows: Ask) -> bool:
    ((status, conversations, *_),) = rows(STATE)
    assert status in ("uploading", "reading"), "it was too quick to be interrupted"
    return bool(conversations >= FEW)


def check_whole(rows: Ask) -> None:
    """Each conversation is there once, with its messages in order."""
    assert [tuple(row) for row in rows(STATE)] == [("done", COUNT, 2 * COUNT, COUNT)]
    said = rows("SELECT content FROM agents_message ORDER BY number")
    wanted = [f"{who} says {n}" for n in range(COUNT) for who in ("human", "assistant")]
    assert [words for (words,) in said] == wanted
    titles = rows("SELECT title FROM agents_conversation WHERE title LIKE 'Talk%' ORDER BY title")
    assert [title for (title,) in titles] == sorted(f"Talk {n}" for n in range(COUNT))
    assert rows("SELECT count(*) FROM agents_importpart")[0][0] == 0


def status_is(rows: Ask, status: str) -> bool:
    return bool(rows(STATE)[0][0] == status)


@pytest.mark.sqlite_only
def test_what_was_killed_in_the_middle_goes_on_and_so_does_its_undoing(tmp_path: Path) -> None:
    with MemoryWeb(tmp_path) as server:
        agent = server.make_agent()
        page = upload(server, agent)
        eventually(lambda: is_half_way(server.rows))
        server.kill()
        ((status, conversations, messages, read),) = server.rows(STATE)
        assert (status, messages, read) == ("reading", 2 * conversations, conversations)
        assert FEW <= conversations < COUNT
        server.start()
        eventually(lambda: status_is(server.rows, "done"), within=WITHIN)
        check_whole(server.rows)

        server.post(f"{page}undo/")
        eventually(lambda: server.one("SELECT conversations FROM agents_historyimport") < COUNT - 3)
        server.kill()
        assert status_is(server.rows, "undoing")
        server.start()
        eventually(lambda: status_is(server.rows, "undone"), within=WITHIN)
        assert server.one("SELECT count(*) FROM agents_message") == 0
        assert server.one("SELECT count(*) FROM agents_importedconversation") == 0


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with own_site(tmp_path) as started:
        yield started


@pytest.mark.hosted_only
def test_a_worker_imports_and_another_goes_on_where_it_was_killed(site: Site) -> None:
    one, two = site.web
    agent = one.make_agent()
    upload(one, agent)
    assert site.ask(STATE) == [("reading", 0, 0, 0)], "no web process reads it"
    site.worker()
    eventually(lambda: is_half_way(site.ask), within=WITHIN)
    site.stop_workers()
    ((status, conversations, *_),) = site.ask(STATE)
    assert status == "reading"
    assert isinstance(conversations, int)
    assert FEW <= conversations < COUNT
    site.worker()
    eventually(lambda: status_is(site.ask, "done"), within=WITHIN)
    check_whole(site.ask)
    assert "Talk 149" in ask(two, "GET", f"/agents/{agent}/conversations/")
