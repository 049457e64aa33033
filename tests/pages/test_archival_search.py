"""Archival memory in the panel: filtered and searched."""

from __future__ import annotations

import html as entities
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from agents.models import Agent, Editor, Passage
from agents.pages import archival
from agents.pages.archival import format_tags, parse_tags
from agents.search import semantic
from agents.search.embedder import Embedder
from tests.support.archival_list import START, get, kept, link_in, passages_in, plain, tab
from tests.support.fake_openai import FakeOpenAI


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
    assert parse_tags(format_tags(tags)) == tags


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
    assert passages_in(web.get(link_in(frame, "archival")).content.decode()) == [best.pk, other.pk]


def test_a_long_text_is_shown_where_it_says_what_was_searched_for(
    agent: Agent, by: Editor, web: Client
) -> None:
    Passage.insert(agent, "word " * 1000 + "zebra " + "word " * 1000, by=by)
    assert "zebra" in plain(get(web, agent, q="zebra")).partition("All 10,006")[0]


@pytest.mark.parametrize(
    "query",
    ['"', "*", "AND", "'", "NEAR(", "a OR", "' --", "\\", "\0", "日本", "🎉", "(", "-", "x" * 9000],
)  # fmt: skip
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
    assert "Semantic search: 0 of 1 text embedded with fake-embedding" in plain(html)
    assert '<progress id="embedded" value="0" max="1">' in html
    again = link = reverse("archival_embedding", args=[agent.pk])
    assert re.search(rf'hx-get="{link}"\s+hx-trigger="intersect once delay:2s"', html)
    Embedder().round()
    again = get(web, agent, "archival_embedding")
    assert "Semantic search: 1 text embedded with fake-embedding" in plain(again)
    assert "hx-get" not in again
    assert passages_in(get(web, agent, q="puppy")) != []
