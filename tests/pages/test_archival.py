"""Archival memory in the panel: browsed, filtered and searched."""

from __future__ import annotations

import html as entities
import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from agents.memory.classes import ChatMemory
from agents.models import Agent, Editor, Passage
from agents.pages import archival
from agents.pages.archival import PASSAGES_A_PAGE, as_typed, tags_typed
from agents.search import semantic
from agents.search.embedder import Embedder
from tests.support.archival_list import (
    START,
    get,
    kept,
    link_in,
    passages_in,
    plain,
    since,
    tab,
    version,
)
from tests.support.fake_openai import FakeOpenAI
from tests.support.ledger import step_of

# -- browsing --------------------------------------------------------------------------------------


def test_the_newest_come_first_and_older_ones_on_scrolling(
    agent: Agent, by: Editor, web: Client
) -> None:
    rows = [row.pk for row in kept(agent, 2 * PASSAGES_A_PAGE + 5, by)][::-1]
    html = tab(web, agent)
    assert f"{len(rows)} passages" in plain(html)
    seen = passages_in(html)
    assert len(seen) == PASSAGES_A_PAGE
    for _ in range(2):
        html = web.get(link_in(html, "archival_older")).content.decode()
        seen += passages_in(html)
    assert seen == rows
    assert reverse("archival_older", args=[agent.pk]) not in html


def test_of_one_moment_none_is_left_out_or_shown_twice(
    agent: Agent, by: Editor, web: Client
) -> None:
    rows = [Passage.insert(agent, f"Note {n}", by=by, created_at=START) for n in range(70)]
    html = tab(web, agent)
    seen = passages_in(html)
    while "archival/older" in html:
        html = web.get(link_in(html, "archival_older")).content.decode()
        seen += passages_in(html)
    assert seen == [row.pk for row in reversed(rows)]


@pytest.mark.parametrize("before", ["", "x", "2026-13-45T00:00", "2026-01-01", "9" * 30])
def test_a_page_before_nothing_is_the_first(
    before: str, agent: Agent, rex: Passage, web: Client
) -> None:
    assert passages_in(get(web, agent, "archival_older", before=before)) == [rex.pk]


def test_a_passage_tells_who_wrote_it_in_which_step_and_how_often_it_was_recalled(
    agent: Agent, rex: Passage, web: Client
) -> None:
    step = step_of(agent)
    Passage.insert(agent, "Tea is due", by=Editor.agent(step, "call-1"))
    assert plain(tab(web, agent)).count("never recalled") == 2
    Passage.count_recall(agent, [rex])
    html = tab(web, agent)
    assert "by alice" in plain(html)
    assert "recalled 1 time, last" in plain(html)
    assert f'href="/agents/{agent.pk}/?step={step.pk}#step-{step.pk}"' in html
    Passage.count_recall(agent, [rex])
    assert "recalled 2 times" in plain(tab(web, agent))


def test_a_long_text_is_folded_and_shown_when_asked_for(
    agent: Agent, by: Editor, web: Client
) -> None:
    text = "Long ago. " * 900 + "<b>The end</b>"
    long = Passage.insert(agent, text, by=by)
    html = tab(web, agent)
    assert f"Show all {len(text):,} characters" in plain(html)
    assert "The end" not in html
    whole = web.get(reverse("archival_whole", args=[agent.pk, long.pk])).content.decode()
    assert entities.escape(text) in whole
    lines = Passage.insert(agent, "\n".join("abcdefghijklmnop"), by=by)
    assert "Show all 31 characters" in plain(tab(web, agent))
    lines.edit(text="Short", by=by)
    assert "Show all 31 characters" not in plain(tab(web, agent))


def test_an_agent_with_nothing_put_away_says_so_and_what_is_missing(
    agent: Agent, web: Client
) -> None:
    agent.configure(tools=[])
    said = plain(tab(web, agent))
    assert "No passages yet" in said
    assert "does not have the tool archival_memory_search" in said
    agent.configure(tools=["archival_memory_search"])
    assert "does not have the tool" not in plain(tab(web, agent))


def test_the_page_counts_passages_in_the_tabs_label(
    agent: Agent, rex: Passage, web: Client
) -> None:
    html = web.get(reverse("agent", args=[agent.pk])).content.decode()
    found = re.search(r'id="tab-archival".*?</a>', html, re.DOTALL)
    assert found
    assert "Archival 1 passage" in plain("<" + found[0])
    order = re.findall(r'data-tab="(\w+)"', html)
    assert order == ["memory", "context", "archival", "history", "tools"]


# -- filtering and searching -----------------------------------------------------------------------


def test_tags_are_offered_with_how_often_and_filter(
    agent: Agent, rex: Passage, by: Editor, web: Client
) -> None:
    cat = Passage.insert(agent, "Tom is a cat", ["pets"], by=by)
    html = tab(web, agent)
    assert re.findall(r'name="tag" value="([^"]+)"', html) == ["pets", "Bob, too"]
    assert passages_in(get(web, agent, tag="pets")) == [cat.pk, rex.pk]
    both: dict[str, Any] = {"tag": ["pets", "Bob, too"]}
    assert passages_in(get(web, agent, **both)) == [cat.pk, rex.pk]
    html = get(web, agent, **both, all="1")
    assert passages_in(html) == [rex.pk]
    query = entities.unescape(re.findall(r'data-query="([^"]+)"', html)[0])
    again = web.get(f"/agents/{agent.pk}/panel/archival/?{query}").content.decode()
    assert passages_in(again) == [rex.pk]
    assert len(re.findall(r"checked", again)) == 3
    assert "No passage has this tag" in plain(get(web, agent, tag="cars"))


@pytest.mark.parametrize(
    "tags", [["a"], ["a", "b c"], ["x, y", 'say "no"', '"'], ["'", "日本"], [], ["a,b", ",", "\\"]]
)
def test_tags_are_read_as_they_are_written(tags: list[str]) -> None:
    assert tags_typed(as_typed(tags)) == tags


def test_tags_that_stand_in_old_passages_only_are_not_looked_for_but_kept_where_chosen(
    agent: Agent, rex: Passage, by: Editor, web: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archival, "TAGGED", 2)
    kept(agent, 3, by)
    Passage.objects.filter(pk=rex.pk).update(created_at=START)
    assert 'name="tag"' not in tab(web, agent)
    html = tab(web, agent, tags="pets")
    assert re.findall(r'name="tag" value="([^"]+)"', html) == ["pets"]
    assert passages_in(html) == [rex.pk]


def test_a_search_finds_the_best_first(agent: Agent, by: Editor, web: Client) -> None:
    kept(agent, 20, by)
    best = Passage.insert(agent, "A cherry tree, a cherry cake", ["garden"], by=by)
    other = Passage.insert(agent, "One cherry " + "and other fruit " * 20, by=by)
    html = get(web, agent, q="cherry")
    assert passages_in(html) == [best.pk, other.pk]
    assert passages_in(get(web, agent, q="cherry", tag="garden")) == [best.pk]
    assert "Nothing found" in plain(get(web, agent, q="zebra"))
    frame = tab(web, agent, q="cherry")
    assert passages_in(frame) == []
    assert passages_in(web.get(link_in(frame, "archival")).content.decode()) == [
        best.pk,
        other.pk,
    ]


def test_a_long_text_is_shown_where_it_says_what_was_searched_for(
    agent: Agent, by: Editor, web: Client
) -> None:
    Passage.insert(agent, "word " * 1000 + "zebra " + "word " * 1000, by=by)
    assert "zebra" in plain(get(web, agent, q="zebra")).partition("All 10,006")[0]


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "*",
        "AND",
        "'",
        "NEAR(",
        "a OR",
        "' --",
        "\\",
        "\0",
        "日本",
        "🎉",
        "(",
        "-",
        "x" * 9000,
        "%",
    ],
)
def test_any_text_searches(query: str, agent: Agent, rex: Passage, web: Client) -> None:
    get(web, agent, q=query, tags=query, tag=query, all="1")
    get(web, agent, q=query)
    tab(web, agent, q=query, tags=query)
    get(web, agent, "archival_older", tags=query, before=query, id=query)
    address = reverse("archival_newer", args=[agent.pk])
    given = {"q": query, "after": query, "known": query}
    assert web.get(address, given).status_code == 200


def test_blanks_are_no_search(agent: Agent, rex: Passage, web: Client) -> None:
    assert passages_in(get(web, agent, q="   ")) == [rex.pk]


# -- by meaning ------------------------------------------------------------------------------------


def test_without_an_embedding_model_search_is_by_words(agent: Agent, web: Client) -> None:
    assert "Search finds words only, because no embedding model is set." in plain(tab(web, agent))


def test_how_far_the_vectors_are_is_shown_and_refreshed_until_all_are_made(
    agent: Agent, by: Editor, web: Client, model: FakeOpenAI, settings: Settings
) -> None:
    settings.EMBEDDING_MODEL = "fake-embedding"
    semantic.forget()
    Passage.insert(agent, "Bob owns a hound", by=by)
    html = tab(web, agent)
    assert "Semantic search: 0 of 1 texts embedded with fake-embedding" in plain(html)
    assert '<progress id="embedded" value="0" max="1">' in html
    again = link = reverse("archival_embedding", args=[agent.pk])
    assert re.search(rf'hx-get="{link}"\s+hx-trigger="intersect once delay:2s"', html)
    Embedder().round()
    again = get(web, agent, "archival_embedding")
    assert "Semantic search: all 1 texts embedded with fake-embedding" in plain(again)
    assert "hx-get" not in again
    assert passages_in(get(web, agent, q="puppy")) != []


# -- others ----------------------------------------------------------------------------------------


def test_a_strangers_page_reaches_nothing_of_it(
    agent: Agent, rex: Passage, bob: User, settings: Settings
) -> None:
    settings.ACCOUNTS = True
    stranger = Client()
    stranger.force_login(bob)
    theirs = Agent.create(bob, "Bob's", ChatMemory())
    lists = ("archival", "archival_older", "archival_newer", "archival_embedding", "archival_add")
    rows = ("archival_edit", "archival_whole", "archival_delete")
    addresses = [reverse(name, args=[agent.pk]) for name in lists]
    addresses += [reverse(name, args=[a.pk, rex.pk]) for name in rows for a in (agent, theirs)]
    addresses.append(reverse("panel_tab", args=[agent.pk, "archival"]))
    for address in addresses:
        assert stranger.get(address).status_code == 404, address
        given = {"text": "x", "version": version(rex)}
        status = stranger.post(address, given).status_code
        assert status in (404, 405, 409), address
    assert Passage.objects.get().text == "Rex is a dog"
    edit = reverse("archival_edit", args=[theirs.pk, rex.pk])
    html = stranger.post(edit, {"text": "x", "version": version(rex)}).content.decode()
    assert "Rex" not in html
    known = {"known": str(rex.pk), "after": "0"}
    Passage.insert(theirs, "Own", by=Editor.person(bob))
    html = stranger.get(reverse("archival_newer", args=[theirs.pk]), known).content.decode()
    assert "Rex" not in html


def test_looking_changes_nothing(agent: Agent, rex: Passage, web: Client) -> None:
    with CaptureQueriesContext(connection) as captured:
        tab(web, agent)
        get(web, agent, q="dog")
        get(web, agent, tag="pets")
        for name in ("archival_edit", "archival_whole", "archival_delete"):
            web.get(reverse(name, args=[agent.pk, rex.pk]))
    writes = ("INSERT", "UPDATE", "DELETE")
    assert not [q["sql"] for q in captured if q["sql"].startswith(writes)]


# -- very many -------------------------------------------------------------------------------------


def test_a_page_of_many_passages_takes_as_many_queries_as_one_of_few(
    agent: Agent, by: Editor, web: Client
) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            tab(web, agent)
        return len(captured)

    kept(agent, 2, by)
    few = queries()
    kept(agent, 100, by, "a", "b")
    assert queries() <= few


def test_passages_are_read_by_their_indexes(
    agent: Agent, by: Editor, web: Client, bob: User
) -> None:
    """No scan of the table, and no sorting of more than a page."""
    now = timezone.now()
    Passage.objects.bulk_create(
        Passage(
            agent=agent,
            text=f"Note {n}",
            tags=["odd"] if n % 2 else [],
            editor_kind="api",
            editor_name="script",
            created_at=now - timedelta(minutes=n),
        )
        for n in range(4000)
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE agents_passage")
    with CaptureQueriesContext(connection) as captured:
        html = tab(web, agent)
        web.get(link_in(html, "archival_older"))
        Passage.insert(agent, "One more", by=by)
        since(web, html)
    asked = [
        q["sql"] for q in captured if "agents_passage" in q["sql"] and q["sql"].startswith("SELECT")
    ]
    assert len(asked) > 5
    with connection.cursor() as cursor:
        for sql in asked:
            explain = "EXPLAIN QUERY PLAN" if connection.vendor == "sqlite" else "EXPLAIN"
            cursor.execute(f"{explain} {sql}")
            plan = "\n".join(str(row) for row in cursor.fetchall())
            assert "SCAN agents_passage" not in plan, sql
            assert "Seq Scan on agents_passage" not in plan, sql
