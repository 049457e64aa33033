"""Archival memory in the panel: browsed, and by whom."""

from __future__ import annotations

import html as entities
import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from agents.memory.classes import ChatMemory
from agents.models import Agent, Editor, Passage
from agents.pages.archival import PASSAGES_A_PAGE
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
    assert order == ["memory", "context", "archival", "history", "growth", "tools"]


# -- others ----------------------------------------------------------------------------------------


def test_a_strangers_page_reaches_nothing_of_it(
    agent: Agent, rex: Passage, bob: User, bobs_web: Client
) -> None:
    theirs = Agent.create(bob, "Bob's", ChatMemory())
    lists = ("archival", "archival_older", "archival_newer", "archival_embedding", "archival_add")
    rows = ("archival_edit", "archival_whole", "archival_delete")
    addresses = [reverse(name, args=[agent.pk]) for name in lists]
    addresses += [reverse(name, args=[a.pk, rex.pk]) for name in rows for a in (agent, theirs)]
    addresses.append(reverse("panel_tab", args=[agent.pk, "archival"]))
    for address in addresses:
        assert bobs_web.get(address).status_code == 404, address
        given = {"text": "x", "version": version(rex)}
        status = bobs_web.post(address, given).status_code
        assert status in (404, 405, 409), address
    assert Passage.objects.get().text == "Rex is a dog"
    edit = reverse("archival_edit", args=[theirs.pk, rex.pk])
    html = bobs_web.post(edit, {"text": "x", "version": version(rex)}).content.decode()
    assert "Rex" not in html
    known = {"known": str(rex.pk), "after": "0"}
    Passage.insert(theirs, "Own", by=Editor.person(bob))
    html = bobs_web.get(reverse("archival_newer", args=[theirs.pk]), known).content.decode()
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
