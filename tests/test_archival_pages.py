"""Archival memory in the panel: browsed, searched, changed by hand, and followed live."""

from __future__ import annotations

import html as entities
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from agents.memory import ChatMemory
from agents.models import Agent, Editor, Event, Passage
from agents.search import semantic
from agents.search.embedder import Embedder
from agents.views import archival, archival_changes
from agents.views.archival import MOST_KNOWN, PASSAGES_A_PAGE, as_typed, tags_typed
from tests.fake_openai import FakeOpenAI
from tests.test_history import step_of

START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def by(alice: User) -> Editor:
    """Alice, by hand."""
    return Editor.person(alice)


@pytest.fixture
def as_alice(settings: Settings, alice: User) -> Client:
    settings.ACCOUNTS = True
    client = Client()
    client.force_login(alice)
    return client


@pytest.fixture
def rex(agent: Agent, by: Editor) -> Passage:
    return Passage.insert(agent, "Rex is a dog", ["pets", "Bob, too"], by=by)


def kept(agent: Agent, count: int, by: Editor, *tags: str) -> list[Passage]:
    """So many passages, a minute apart, each of which says its number; oldest first."""
    return [
        Passage.insert(agent, f"Note {n}", tags, by=by, created_at=START + timedelta(minutes=n))
        for n in range(1, count + 1)
    ]


def get(as_alice: Client, agent: Agent, name: str = "archival", **query: Any) -> str:
    response = as_alice.get(reverse(name, args=[agent.pk]), query)
    assert response.status_code == 200
    return response.content.decode()


def tab(as_alice: Client, agent: Agent, **query: Any) -> str:
    response = as_alice.get(reverse("panel_tab", args=[agent.pk, "archival"]), query)
    assert response.status_code == 200
    return response.content.decode()


def passages_in(html: str) -> list[int]:
    return [int(pk) for pk in re.findall(r'<li class="kept" id="passage-(\d+)"', html)]


def plain(html: str) -> str:
    return " ".join(entities.unescape(re.sub(r"<[^>]+>", " ", html)).split())


def link_in(html: str, name: str) -> str:
    """The address, within `html`, that leads to the view of that name."""
    path = reverse(name, args=[re.findall(r"agents/([0-9a-f-]{36})/archival", html)[0]])
    return entities.unescape(re.findall(rf'"({path}\?[^"]*)"', html)[-1])


def since(as_alice: Client, html: str) -> str:
    """What a list that was drawn so is told when something has happened."""
    response = as_alice.get(link_in(html, "archival_newer"))
    assert response.status_code == 200
    return response.content.decode()


def targets(html: str) -> list[str]:
    """What is changed in the list, and how; the rest is always the same."""
    parts = re.findall(r'<hx-partial hx-target="(#pass[^"]+)" hx-swap="([^"]+)"', html)
    return [f"{swap} {target}" for target, swap in parts]


# -- browsing --------------------------------------------------------------------------------------


def test_the_newest_come_first_and_older_ones_on_scrolling(
    agent: Agent, by: Editor, as_alice: Client
) -> None:
    rows = [row.pk for row in kept(agent, 2 * PASSAGES_A_PAGE + 5, by)][::-1]
    html = tab(as_alice, agent)
    assert f"{len(rows)} passages" in plain(html)
    seen = passages_in(html)
    assert len(seen) == PASSAGES_A_PAGE
    for _ in range(2):
        html = as_alice.get(link_in(html, "archival_older")).content.decode()
        seen += passages_in(html)
    assert seen == rows
    assert reverse("archival_older", args=[agent.pk]) not in html


def test_of_one_moment_none_is_left_out_or_shown_twice(
    agent: Agent, by: Editor, as_alice: Client
) -> None:
    rows = [Passage.insert(agent, f"Note {n}", by=by, created_at=START) for n in range(70)]
    html = tab(as_alice, agent)
    seen = passages_in(html)
    while "archival/older" in html:
        html = as_alice.get(link_in(html, "archival_older")).content.decode()
        seen += passages_in(html)
    assert seen == [row.pk for row in reversed(rows)]


@pytest.mark.parametrize("before", ["", "x", "2026-13-45T00:00", "2026-01-01", "9" * 30])
def test_a_page_before_nothing_is_the_first(
    before: str, agent: Agent, rex: Passage, as_alice: Client
) -> None:
    assert passages_in(get(as_alice, agent, "archival_older", before=before)) == [rex.pk]


def test_a_passage_tells_who_wrote_it_in_which_step_and_how_often_it_was_recalled(
    agent: Agent, rex: Passage, as_alice: Client
) -> None:
    step = step_of(agent)
    Passage.insert(agent, "Tea is due", by=Editor.agent(step, "call-1"))
    assert plain(tab(as_alice, agent)).count("never recalled") == 2
    Passage.recalled(agent, [rex])
    html = tab(as_alice, agent)
    assert "by alice" in plain(html)
    assert "recalled 1 time, last" in plain(html)
    assert f'href="/agents/{agent.pk}/?step={step.pk}#step-{step.pk}"' in html
    Passage.recalled(agent, [rex])
    assert "recalled 2 times" in plain(tab(as_alice, agent))


def test_a_long_text_is_folded_and_shown_when_asked_for(
    agent: Agent, by: Editor, as_alice: Client
) -> None:
    text = "Long ago. " * 900 + "<b>The end</b>"
    long = Passage.insert(agent, text, by=by)
    html = tab(as_alice, agent)
    assert f"All {len(text):,} characters" in plain(html)
    assert "The end" not in html
    whole = as_alice.get(reverse("archival_whole", args=[agent.pk, long.pk])).content.decode()
    assert entities.escape(text) in whole
    lines = Passage.insert(agent, "\n".join("abcdefghijklmnop"), by=by)
    assert "All 31 characters" in plain(tab(as_alice, agent))
    lines.edit(text="Short", by=by)
    assert "All 31 characters" not in plain(tab(as_alice, agent))


def test_an_agent_with_nothing_put_away_says_so_and_what_is_missing(
    agent: Agent, as_alice: Client
) -> None:
    agent.configure(tools=[])
    said = plain(tab(as_alice, agent))
    assert "Nothing is put away yet" in said
    assert "does not have the tool archival_memory_search" in said
    agent.configure(tools=["archival_memory_search"])
    assert "does not have the tool" not in plain(tab(as_alice, agent))


def test_the_page_counts_passages_in_the_tabs_label(
    agent: Agent, rex: Passage, as_alice: Client
) -> None:
    html = as_alice.get(reverse("agent", args=[agent.pk])).content.decode()
    found = re.search(r'id="tab-archival".*?</a>', html, re.DOTALL)
    assert found
    assert "Archival 1 passage" in plain("<" + found[0])
    order = re.findall(r'data-tab="(\w+)"', html)
    assert order == ["memory", "context", "archival", "history", "tools"]


# -- filtering and searching -----------------------------------------------------------------------


def test_tags_are_offered_with_how_often_and_filter(
    agent: Agent, rex: Passage, by: Editor, as_alice: Client
) -> None:
    cat = Passage.insert(agent, "Tom is a cat", ["pets"], by=by)
    html = tab(as_alice, agent)
    assert re.findall(r'name="tag" value="([^"]+)"', html) == ["pets", "Bob, too"]
    assert passages_in(get(as_alice, agent, tag="pets")) == [cat.pk, rex.pk]
    both: dict[str, Any] = {"tag": ["pets", "Bob, too"]}
    assert passages_in(get(as_alice, agent, **both)) == [cat.pk, rex.pk]
    html = get(as_alice, agent, **both, all="1")
    assert passages_in(html) == [rex.pk]
    query = entities.unescape(re.findall(r'data-query="([^"]+)"', html)[0])
    again = as_alice.get(f"/agents/{agent.pk}/panel/archival/?{query}").content.decode()
    assert passages_in(again) == [rex.pk]
    assert len(re.findall(r"checked", again)) == 3
    assert "No passage has this tag" in plain(get(as_alice, agent, tag="cars"))


@pytest.mark.parametrize(
    "tags", [["a"], ["a", "b c"], ["x, y", 'say "no"', '"'], ["'", "日本"], [], ["a,b", ",", "\\"]]
)
def test_tags_are_read_as_they_are_written(tags: list[str]) -> None:
    assert tags_typed(as_typed(tags)) == tags


def test_tags_that_stand_in_old_passages_only_are_not_looked_for_but_kept_where_chosen(
    agent: Agent, rex: Passage, by: Editor, as_alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archival, "TAGGED", 2)
    kept(agent, 3, by)
    Passage.objects.filter(pk=rex.pk).update(created_at=START)
    assert 'name="tag"' not in tab(as_alice, agent)
    html = tab(as_alice, agent, tags="pets")
    assert re.findall(r'name="tag" value="([^"]+)"', html) == ["pets"]
    assert passages_in(html) == [rex.pk]


def test_a_search_finds_the_best_first(agent: Agent, by: Editor, as_alice: Client) -> None:
    kept(agent, 20, by)
    best = Passage.insert(agent, "A cherry tree, a cherry cake", ["garden"], by=by)
    other = Passage.insert(agent, "One cherry " + "and other fruit " * 20, by=by)
    html = get(as_alice, agent, q="cherry")
    assert passages_in(html) == [best.pk, other.pk]
    assert passages_in(get(as_alice, agent, q="cherry", tag="garden")) == [best.pk]
    assert "Nothing is found" in plain(get(as_alice, agent, q="zebra"))
    frame = tab(as_alice, agent, q="cherry")
    assert passages_in(frame) == []
    assert passages_in(as_alice.get(link_in(frame, "archival")).content.decode()) == [
        best.pk,
        other.pk,
    ]


def test_a_long_text_is_shown_where_it_says_what_was_searched_for(
    agent: Agent, by: Editor, as_alice: Client
) -> None:
    Passage.insert(agent, "word " * 1000 + "zebra " + "word " * 1000, by=by)
    assert "zebra" in plain(get(as_alice, agent, q="zebra")).partition("All 10,006")[0]


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
def test_any_text_searches(query: str, agent: Agent, rex: Passage, as_alice: Client) -> None:
    get(as_alice, agent, q=query, tags=query, tag=query, all="1")
    get(as_alice, agent, q=query)
    tab(as_alice, agent, q=query, tags=query)
    get(as_alice, agent, "archival_older", tags=query, before=query, id=query)
    address = reverse("archival_newer", args=[agent.pk])
    given = {"q": query, "after": query, "known": query}
    assert as_alice.get(address, given).status_code == 200


def test_blanks_are_no_search(agent: Agent, rex: Passage, as_alice: Client) -> None:
    assert passages_in(get(as_alice, agent, q="   ")) == [rex.pk]


# -- by meaning ------------------------------------------------------------------------------------


def test_without_an_embedding_model_search_is_by_words(agent: Agent, as_alice: Client) -> None:
    assert "Search is by words: no embedding model is set." in plain(tab(as_alice, agent))


def test_how_far_the_vectors_are_is_shown_and_refreshed_until_all_are_made(
    agent: Agent, by: Editor, as_alice: Client, model: FakeOpenAI, settings: Settings
) -> None:
    settings.EMBEDDING_MODEL = "fake-embedding"
    semantic.forget()
    Passage.insert(agent, "Bob owns a hound", by=by)
    html = tab(as_alice, agent)
    assert "Semantic search: 0 of 1 texts embedded with fake-embedding" in plain(html)
    assert '<progress id="embedded" value="0" max="1">' in html
    again = link = reverse("archival_embedding", args=[agent.pk])
    assert f'hx-get="{link}" hx-trigger="intersect once delay:2s"' in html
    Embedder().round()
    again = get(as_alice, agent, "archival_embedding")
    assert "Semantic search: all 1 texts embedded with fake-embedding" in plain(again)
    assert "hx-get" not in again
    assert passages_in(get(as_alice, agent, q="puppy")) != []


# -- by hand ---------------------------------------------------------------------------------------


def post(as_alice: Client, name: str, *args: Any, **form: str) -> tuple[int, str]:
    response = as_alice.post(reverse(name, args=args), form)
    return response.status_code, response.content.decode()


def version(row: Passage) -> str:
    return Passage.objects.get(pk=row.pk).updated_at.isoformat()


def test_putting_something_away(agent: Agent, alice: User, as_alice: Client) -> None:
    assert "Put away" in get(as_alice, agent, "archival_add")
    form = {"text": "Two\r\nlines", "tags": 'a, "b, c", a,'}
    assert post(as_alice, "archival_add", agent.pk, **form) == (200, "")
    row = Passage.objects.get()
    assert (row.text, row.tags, row.user) == ("Two\nlines", ["a", "b, c"], alice)
    assert row.editor_kind == "person"


@pytest.mark.parametrize(
    ("text", "tags", "said"),
    [
        ("  ", "a", "The passage is empty"),
        ("x" * 100_001, "a", "Shorten it by 1"),
        ("Rex", "y" * 101, "has 101 characters"),
        ("Rex", ",".join(map(str, range(60))), "There are 60 tags"),
    ],
)
def test_what_cannot_be_put_away_is_said_and_what_was_typed_is_kept(
    text: str, tags: str, said: str, agent: Agent, rex: Passage, as_alice: Client
) -> None:
    tries = [
        post(as_alice, "archival_add", agent.pk, text=text, tags=tags),
        post(
            as_alice, "archival_edit", agent.pk, rex.pk,
            text=text, tags=tags, version=version(rex),
        ),
    ]  # fmt: skip
    for status, html in tries:
        assert status == 422
        assert said in plain(html)
        assert f">\n{text}</textarea>" in html
        assert f'value="{tags}"' in html
    assert Passage.objects.get().text == "Rex is a dog"


def test_editing_a_passage(agent: Agent, rex: Passage, as_alice: Client) -> None:
    address = reverse("archival_edit", args=[agent.pk, rex.pk])
    html = as_alice.get(address).content.decode()
    assert "pets, &quot;Bob, too&quot;" in html
    assert version(rex) in entities.unescape(html)
    form = {"text": "Rex is a cat", "tags": 'pets, "Bob, too"', "version": version(rex)}
    assert post(as_alice, "archival_edit", agent.pk, rex.pk, **form) == (200, "")
    row = Passage.objects.get()
    assert (row.text, row.tags) == ("Rex is a cat", ["pets", "Bob, too"])
    assert Event.objects.filter(kind=Event.Kind.ARCHIVAL_CHANGED).count() == 2


def test_tags_that_cannot_be_typed_stay_as_they_are(
    agent: Agent, by: Editor, as_alice: Client
) -> None:
    row = Passage.insert(agent, "Rex", ["two\nlines"], by=by)
    form = {"text": "Rex is a dog", "tags": as_typed(row.tags), "version": version(row)}
    assert post(as_alice, "archival_edit", agent.pk, row.pk, **form)[0] == 200
    assert Passage.objects.get().tags == ["two\nlines"]


def test_a_passage_that_was_changed_meanwhile_is_shown_beside_what_was_typed(
    agent: Agent, rex: Passage, as_alice: Client
) -> None:
    began = version(rex)
    step = step_of(agent)
    Passage.objects.get(pk=rex.pk).edit(text="Rex is a wolf", by=Editor.agent(step, "call-1"))
    form = {"text": "Rex is a cat", "tags": "pets", "version": began}
    status, html = post(as_alice, "archival_edit", agent.pk, rex.pk, **form)
    assert status == 409
    assert "Tutor changed this passage while you were typing" in plain(html)
    assert "Rex is a wolf" in html
    assert ">\nRex is a cat</textarea>" in html
    assert Passage.objects.get().text == "Rex is a wolf"
    form["version"] = version(rex)
    assert post(as_alice, "archival_edit", agent.pk, rex.pk, **form) == (200, "")
    assert Passage.objects.get().text == "Rex is a cat"


def test_being_recalled_is_no_change_of_a_passage(
    agent: Agent, rex: Passage, as_alice: Client
) -> None:
    began = version(rex)
    Passage.recalled(agent, [rex])
    form = {"text": "Rex is a cat", "tags": "pets", "version": began}
    assert post(as_alice, "archival_edit", agent.pk, rex.pk, **form)[0] == 200


def test_a_passage_that_was_deleted_meanwhile_can_be_put_away_as_a_new_one(
    agent: Agent, rex: Passage, as_alice: Client
) -> None:
    began = version(rex)
    Passage.objects.get().remove()
    form = {"text": "Rex is a cat", "tags": "pets", "version": began}
    status, html = post(as_alice, "archival_edit", agent.pk, rex.pk, **form)
    assert status == 409
    assert "deleted while you were typing" in plain(html)
    assert ">\nRex is a cat</textarea>" in html
    assert f'hx-post="{reverse("archival_add", args=[agent.pk])}"' in html
    for name in ("archival_edit", "archival_delete"):
        gone = as_alice.get(reverse(name, args=[agent.pk, rex.pk]))
        assert (gone.status_code, "is gone" in gone.content.decode()) == (404, True)


def test_deleting_is_asked_twice(agent: Agent, rex: Passage, as_alice: Client) -> None:
    Passage.recalled(agent, [rex])
    address = reverse("archival_delete", args=[agent.pk, rex.pk])
    html = as_alice.get(address).content.decode()
    assert "Delete this passage for good?" in html
    assert "recalled it 1 time." in html
    assert Passage.objects.exists()
    began = version(rex)
    assert post(as_alice, "archival_delete", agent.pk, rex.pk, version=began) == (200, "")
    assert not Passage.objects.exists()
    assert post(as_alice, "archival_delete", agent.pk, rex.pk, version=began)[0] == 404
    agent.refresh_from_db()
    assert agent.passage_count == 0


def test_what_was_changed_since_is_asked_about_again(
    agent: Agent, rex: Passage, by: Editor, as_alice: Client
) -> None:
    began = version(rex)
    Passage.objects.get().edit(text="Rex is a wolf", by=by)
    status, html = post(as_alice, "archival_delete", agent.pk, rex.pk, version=began)
    assert (status, Passage.objects.count()) == (409, 1)
    assert "alice changed this passage while you were asked" in plain(html)
    assert post(as_alice, "archival_delete", agent.pk, rex.pk, version=version(rex))[0] == 200


# -- live ------------------------------------------------------------------------------------------


def test_without_news_only_what_is_around_the_list_is_told(
    agent: Agent, rex: Passage, as_alice: Client
) -> None:
    news = since(as_alice, tab(as_alice, agent))
    assert targets(news) == []
    assert "1 passage put away" in plain(news)


def test_what_was_put_away_changed_recalled_and_deleted_is_told(
    agent: Agent, by: Editor, as_alice: Client
) -> None:
    one, two, three = kept(agent, 3, by)
    html = tab(as_alice, agent)
    four = Passage.insert(agent, "Note 4", by=by)
    two.edit(text="Note 2, again", by=by)
    one.remove()
    Passage.recalled(agent, [three])
    news = since(as_alice, html)
    assert targets(news) == [
        f"outerMorph #passage-{four.pk}",
        f"outerMorph #passage-{three.pk}",
        f"outerMorph #passage-{two.pk}",
        f"beforebegin #passage-{three.pk}",
        f"outerMorph #passage-{one.pk}",
    ]
    assert "recalled 1 time" in plain(news)
    assert "3 passages" in plain(news)
    assert targets(since(as_alice, news)) == []
    Passage.insert(agent, "Note 5", by=by)
    assert f"beforebegin #passage-{four.pk}" in targets(since(as_alice, news))


def test_a_list_that_is_told_of_everything_is_like_a_fresh_one(
    agent: Agent, by: Editor, as_alice: Client
) -> None:
    """Whatever order times and keys have."""
    html = tab(as_alice, agent)
    order: list[int] = []
    for minutes in (5, 1, 9, 5, 3, 10, 0):
        row = Passage.insert(agent, "Note", by=by, created_at=START + timedelta(minutes=minutes))
        html = since(as_alice, html)
        (placed,) = [each for each in targets(html) if "Morph" not in each]
        swap, target = placed.split()
        if swap == "beforebegin":
            order.insert(order.index(int(target.removeprefix("#passage-"))), row.pk)
        else:
            assert (swap, target) == ("beforeend", "#passages")
            order.append(row.pk)
        assert order == passages_in(tab(as_alice, agent))


def test_what_belongs_further_down_waits_until_one_scrolls_there(
    agent: Agent, by: Editor, as_alice: Client
) -> None:
    kept(agent, PASSAGES_A_PAGE + 2, by)
    html = tab(as_alice, agent)
    old = Passage.insert(agent, "Old", by=by, created_at=START)
    assert targets(since(as_alice, html)) == [f"outerMorph #passage-{old.pk}"]


def test_a_list_may_grow_past_what_it_tells_of_itself(
    agent: Agent, by: Editor, as_alice: Client
) -> None:
    html = tab(as_alice, agent)
    for n in range(MOST_KNOWN + 5):
        Passage.insert(agent, f"Note {n}", by=by, created_at=START + timedelta(minutes=n))
    html = since(as_alice, html)
    newest = Passage.insert(agent, "Newest", by=by)
    oldest = Passage.insert(agent, "Oldest", by=by, created_at=START - timedelta(days=1))
    placed = [each for each in targets(since(as_alice, html)) if "Morph" not in each]
    assert len(placed) == 1
    assert newest.pk != oldest.pk
    assert placed[0].startswith("beforebegin")


def test_a_filtered_list_takes_in_what_fits_and_lets_go_what_does_not(
    agent: Agent, rex: Passage, by: Editor, as_alice: Client
) -> None:
    other = Passage.insert(agent, "Tom", ["cats"], by=by)
    html = get(as_alice, agent, tag="pets")
    Passage.insert(agent, "Ann", by=by)
    assert not [each for each in targets(since(as_alice, html)) if "Morph" not in each]
    other.edit(tags=["pets"], by=by)
    rex.edit(tags=[], by=by)
    news = since(as_alice, html)
    assert f"beforebegin #passage-{rex.pk}" in targets(news)
    assert f'class="kept gone" id="passage-{rex.pk}"' in news


def test_results_of_a_search_stay_and_say_that_they_are_old(
    agent: Agent, rex: Passage, by: Editor, as_alice: Client
) -> None:
    html = get(as_alice, agent, q="dog")
    Passage.recalled(agent, [rex])
    news = since(as_alice, html)
    assert targets(news) == [f"outerMorph #passage-{rex.pk}"]
    assert "Search again" not in plain(news)
    Passage.insert(agent, "A dog", by=by)
    news = since(as_alice, html)
    assert "Archival memory has changed since. Search again" in plain(news)


def test_after_very_many_changes_the_list_says_so(
    agent: Agent, rex: Passage, by: Editor, as_alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archival_changes, "MOST_EVENTS", 3)
    html = tab(as_alice, agent)
    kept(agent, 4, by)
    news = since(as_alice, html)
    assert targets(news) == []
    assert "Show it as it is now" in plain(news)
    assert "5 passages" in plain(news)


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


def test_looking_changes_nothing(agent: Agent, rex: Passage, as_alice: Client) -> None:
    with CaptureQueriesContext(connection) as captured:
        tab(as_alice, agent)
        get(as_alice, agent, q="dog")
        get(as_alice, agent, tag="pets")
        for name in ("archival_edit", "archival_whole", "archival_delete"):
            as_alice.get(reverse(name, args=[agent.pk, rex.pk]))
    writes = ("INSERT", "UPDATE", "DELETE")
    assert not [q["sql"] for q in captured if q["sql"].startswith(writes)]


# -- very many -------------------------------------------------------------------------------------


def test_a_page_of_many_passages_takes_as_many_queries_as_one_of_few(
    agent: Agent, by: Editor, as_alice: Client
) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            tab(as_alice, agent)
        return len(captured)

    kept(agent, 2, by)
    few = queries()
    kept(agent, 100, by, "a", "b")
    assert queries() <= few


def test_passages_are_read_by_their_indexes(
    agent: Agent, by: Editor, as_alice: Client, bob: User
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
        html = tab(as_alice, agent)
        as_alice.get(link_in(html, "archival_older"))
        Passage.insert(agent, "One more", by=by)
        since(as_alice, html)
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
