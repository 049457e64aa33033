"""The tools that read and search the web, and the one that computes, against servers on sockets."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from pytest_django import Settings

from agents import tools
from agents.tools import Caller, ToolError
from tests.support.web_servers import Answer, says, web_server

PAGE = """<html><head><title>Pie</title><script>alert(1)</script></head><body><nav>Menu</nav><main>
<h1>Pie</h1><p>Take <b>apples</b> and <a href="/dough">dough</a>.</p></main></body></html>"""
FOUND = {
    "results": [
        {"title": "Pie", "url": "https://pie.example.org/1", "content": "Apples", "score": 2},
        {"title": "Cake", "url": "https://cake.example/", "content": "", "publishedDate": "2026"},
        {"title": "Notpie", "url": "https://notpie.example.org.evil/", "content": "x"},
    ]
}


@pytest.fixture(autouse=True)
def this_machine_is_allowed(settings: Settings) -> None:
    settings.OUTGOING_ALLOW = ["127.0.0.1"]


def call(caller: Caller, name: str, **arguments: Any) -> str:
    tool = tools.get(name)
    return tool.call(caller, tool.parse(json.dumps(arguments))).content


# -- a page ----------------------------------------------------------------------------------------


def test_a_page_is_read_as_markdown_with_complete_links(caller: Caller) -> None:
    with web_server(says(PAGE)) as server:
        read = call(caller, "fetch_webpage", url=server.url("/recipes"))
        assert read == f"# Pie\n\nTake **apples** and [dough]({server.url('/dough')})."


@pytest.mark.parametrize("kind", ["text/plain", "application/json", "application/ld+json"])
def test_a_text_is_read_as_it_is(kind: str, caller: Caller) -> None:
    with web_server(says('{"a": "<b>"}', kind)) as server:
        assert call(caller, "fetch_webpage", url=server.url()) == '{"a": "<b>"}'


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (says("Gone", status=404), "answered with an error, 404"),
        (says(b"%PDF", "application/pdf"), "is 'application/pdf', of which no text"),
        (says("<html><body><script>x</script></body></html>"), "has no text"),
    ],
)
def test_a_page_that_cannot_be_read_is_said(answer: Answer, sentence: str, caller: Caller) -> None:
    with web_server(answer) as server, pytest.raises(ToolError, match=sentence):
        call(caller, "fetch_webpage", url=server.url())


def test_a_page_of_this_machine_is_not_read(caller: Caller, settings: Settings) -> None:
    settings.OUTGOING_ALLOW = []
    with pytest.raises(ToolError, match="not public"):
        call(caller, "fetch_webpage", url="http://127.0.0.1:8000/")
    with pytest.raises(ToolError, match="must begin with http"):
        call(caller, "fetch_webpage", url="file:///etc/passwd")


def test_a_page_of_many_levels_or_strange_characters_breaks_nothing(caller: Caller) -> None:
    strange = "<ul><li>" * 20_000 + "deep\ud800\0".encode("utf-8", "surrogatepass").decode(
        "utf-8", "replace"
    )
    with web_server(says(strange)) as server:
        assert isinstance(call(caller, "fetch_webpage", url=server.url()), str)


# -- a search --------------------------------------------------------------------------------------


def test_a_search_asks_the_operators_searxng_wherever_it_is(
    caller: Caller, settings: Settings
) -> None:
    settings.OUTGOING_ALLOW = []
    with web_server(says(json.dumps(FOUND), "application/json")) as server:
        settings.SEARXNG_URL = server.url("/")
        found = json.loads(call(caller, "web_search", query="pie", category="news"))

    assert found["query"] == "pie"
    assert found["results"][0] == {
        "title": "Pie",
        "url": "https://pie.example.org/1",
        "published_date": None,
        "author": None,
        "highlights": ["Apples"],
    }
    asked = parse_qs(urlsplit(server.asked[0][1]).query)
    assert asked == {"q": ["pie"], "format": ["json"], "categories": ["news"]}


def test_sites_can_be_chosen_and_left_out(caller: Caller, settings: Settings) -> None:
    with web_server(says(json.dumps(FOUND), "application/json")) as server:
        settings.SEARXNG_URL = server.url("")

        def titles(**arguments: Any) -> list[str]:
            found = json.loads(call(caller, "web_search", query="pie", **arguments))
            return [result["title"] for result in found["results"]]

        assert titles(include_domains=["example.org"]) == ["Pie"]
        assert titles(exclude_domains=["example.org", "cake.example"]) == ["Notpie"]
        assert titles(num_results=1) == ["Pie"]

    assert parse_qs(urlsplit(server.asked[0][1]).query)["q"] == ["pie site:example.org"]


def test_a_search_that_is_not_set_up_or_fails_says_so(caller: Caller, settings: Settings) -> None:
    settings.SEARXNG_URL = ""
    with pytest.raises(ToolError, match="not set up on this server"):
        call(caller, "web_search", query="pie")
    for answer, sentence in (
        (says("no", status=403), "have to allow the format json"),
        (says("<html>"), "no list of results"),
        (says('{"results": [3]}'), "no list of results"),
    ):
        with web_server(answer) as server:
            settings.SEARXNG_URL = server.url("")
            with pytest.raises(ToolError, match=sentence):
                call(caller, "web_search", query="pie")


# -- code ------------------------------------------------------------------------------------------


def test_code_is_run_and_its_prints_and_its_value_come_back(caller: Caller) -> None:
    ran = json.loads(call(caller, "run_code", code="print('hi')\n6 * 7", language="python"))

    assert ran == {"results": ["42"], "logs": {"stdout": ["hi\n"], "stderr": []}}


def test_code_that_fails_says_where(caller: Caller) -> None:
    ran = json.loads(call(caller, "run_code", code="x = 1\nx / 0"))

    assert ran["results"] == []
    assert ran["error"] == "ZeroDivisionError: division by zero (line 2)"


def test_code_in_another_language_is_refused_in_words(caller: Caller) -> None:
    with pytest.raises(ToolError, match="Only Python can be run here, not js"):
        call(caller, "run_code", code="1", language="js")


def test_code_reaches_no_file_no_network_and_no_memory(caller: Caller) -> None:
    for code in ("open('/etc/passwd').read()", "import socket", "import letta_client"):
        assert "error" in json.loads(call(caller, "run_code", code=code))
