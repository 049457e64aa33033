"""Archival memory in the panel: changed by hand, and followed live."""

from __future__ import annotations

import html as entities
import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from agents.models import Agent, Editor, Event, Passage
from agents.pages import archival_changes
from agents.pages.archival import MOST_KNOWN, PASSAGES_A_PAGE, format_tags
from tests.support.archival_list import START, get, kept, passages_in, plain, since, tab, version
from tests.support.ledger import step_of


def targets(html: str) -> list[str]:
    """What is changed in the list, and how; the rest is always the same."""
    parts = re.findall(r'<hx-partial hx-target="(#pass[^"]+)" hx-swap="([^"]+)"', html)
    return [f"{swap} {target}" for target, swap in parts]


# -- by hand ---------------------------------------------------------------------------------------


def post(web: Client, name: str, *args: Any, **form: str) -> tuple[int, str]:
    response = web.post(reverse(name, args=args), form)
    return response.status_code, response.content.decode()


def test_putting_something_away(agent: Agent, alice: User, web: Client) -> None:
    assert "Add" in get(web, agent, "archival_add")
    form = {"text": "Two\r\nlines", "tags": 'a, "b, c", a,'}
    assert post(web, "archival_add", agent.pk, **form) == (200, "")
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
    text: str, tags: str, said: str, agent: Agent, rex: Passage, web: Client
) -> None:
    tries = [
        post(web, "archival_add", agent.pk, text=text, tags=tags),
        post(
            web, "archival_edit", agent.pk, rex.pk,
            text=text, tags=tags, version=version(rex),
        ),
    ]  # fmt: skip
    for status, html in tries:
        assert status == 422
        assert said in plain(html)
        assert f">\n{text}</textarea>" in html
        assert f'value="{tags}"' in html
    assert Passage.objects.get().text == "Rex is a dog"


def test_editing_a_passage(agent: Agent, rex: Passage, web: Client) -> None:
    address = reverse("archival_edit", args=[agent.pk, rex.pk])
    html = web.get(address).content.decode()
    assert "pets, &quot;Bob, too&quot;" in html
    assert version(rex) in entities.unescape(html)
    form = {"text": "Rex is a cat", "tags": 'pets, "Bob, too"', "version": version(rex)}
    assert post(web, "archival_edit", agent.pk, rex.pk, **form) == (200, "")
    row = Passage.objects.get()
    assert (row.text, row.tags) == ("Rex is a cat", ["pets", "Bob, too"])
    assert Event.objects.filter(kind=Event.Kind.ARCHIVAL_CHANGED).count() == 2


def test_tags_that_cannot_be_typed_stay_as_they_are(agent: Agent, by: Editor, web: Client) -> None:
    row = Passage.insert(agent, "Rex", ["two\nlines"], by=by)
    form = {"text": "Rex is a dog", "tags": format_tags(row.tags), "version": version(row)}
    assert post(web, "archival_edit", agent.pk, row.pk, **form)[0] == 200
    assert Passage.objects.get().tags == ["two\nlines"]


def test_a_passage_that_was_changed_meanwhile_is_shown_beside_what_was_typed(
    agent: Agent, rex: Passage, web: Client
) -> None:
    began = version(rex)
    step = step_of(agent)
    Passage.objects.get(pk=rex.pk).edit(text="Rex is a wolf", by=Editor.agent(step, "call-1"))
    form = {"text": "Rex is a cat", "tags": "pets", "version": began}
    status, html = post(web, "archival_edit", agent.pk, rex.pk, **form)
    assert status == 409
    assert "Tutor changed this passage while you were typing" in plain(html)
    assert "Rex is a wolf" in html
    assert ">\nRex is a cat</textarea>" in html
    assert Passage.objects.get().text == "Rex is a wolf"
    form["version"] = version(rex)
    assert post(web, "archival_edit", agent.pk, rex.pk, **form) == (200, "")
    assert Passage.objects.get().text == "Rex is a cat"


def test_being_recalled_is_no_change_of_a_passage(agent: Agent, rex: Passage, web: Client) -> None:
    began = version(rex)
    Passage.count_recall(agent, [rex])
    form = {"text": "Rex is a cat", "tags": "pets", "version": began}
    assert post(web, "archival_edit", agent.pk, rex.pk, **form)[0] == 200


def test_a_passage_that_was_deleted_meanwhile_can_be_put_away_as_a_new_one(
    agent: Agent, rex: Passage, web: Client
) -> None:
    began = version(rex)
    Passage.objects.get().remove()
    form = {"text": "Rex is a cat", "tags": "pets", "version": began}
    status, html = post(web, "archival_edit", agent.pk, rex.pk, **form)
    assert status == 409
    assert "deleted while you were typing" in plain(html)
    assert ">\nRex is a cat</textarea>" in html
    assert f'hx-post="{reverse("archival_add", args=[agent.pk])}"' in html
    for name in ("archival_edit", "archival_delete"):
        gone = web.get(reverse(name, args=[agent.pk, rex.pk]))
        assert (gone.status_code, "was deleted" in gone.content.decode()) == (404, True)


def test_deleting_is_asked_twice(agent: Agent, rex: Passage, web: Client) -> None:
    Passage.count_recall(agent, [rex])
    address = reverse("archival_delete", args=[agent.pk, rex.pk])
    html = web.get(address).content.decode()
    assert "Delete this passage permanently?" in html
    assert "recalled it 1 time." in html
    assert Passage.objects.exists()
    began = version(rex)
    assert post(web, "archival_delete", agent.pk, rex.pk, version=began) == (200, "")
    assert not Passage.objects.exists()
    assert post(web, "archival_delete", agent.pk, rex.pk, version=began)[0] == 404
    agent.refresh_from_db()
    assert agent.passage_count == 0


def test_what_was_changed_since_is_asked_about_again(
    agent: Agent, rex: Passage, by: Editor, web: Client
) -> None:
    began = version(rex)
    Passage.objects.get().edit(text="Rex is a wolf", by=by)
    status, html = post(web, "archival_delete", agent.pk, rex.pk, version=began)
    assert (status, Passage.objects.count()) == (409, 1)
    assert "alice changed this passage in the meantime" in plain(html)
    assert post(web, "archival_delete", agent.pk, rex.pk, version=version(rex))[0] == 200


# -- live ------------------------------------------------------------------------------------------


def test_without_news_only_what_is_around_the_list_is_told(
    agent: Agent, rex: Passage, web: Client
) -> None:
    news = since(web, tab(web, agent))
    assert targets(news) == []
    assert "1 passage ." in plain(news)  # each tag is a space


def test_what_was_put_away_changed_recalled_and_deleted_is_told(
    agent: Agent, by: Editor, web: Client
) -> None:
    one, two, three = kept(agent, 3, by)
    html = tab(web, agent)
    four = Passage.insert(agent, "Note 4", by=by)
    two.edit(text="Note 2, again", by=by)
    one.remove()
    Passage.count_recall(agent, [three])
    news = since(web, html)
    assert targets(news) == [
        f"outerMorph #passage-{four.pk}",
        f"outerMorph #passage-{three.pk}",
        f"outerMorph #passage-{two.pk}",
        f"beforebegin #passage-{three.pk}",
        f"outerMorph #passage-{one.pk}",
    ]
    assert "recalled 1 time" in plain(news)
    assert "3 passages" in plain(news)
    assert targets(since(web, news)) == []
    Passage.insert(agent, "Note 5", by=by)
    assert f"beforebegin #passage-{four.pk}" in targets(since(web, news))


def test_a_list_that_is_told_of_everything_is_like_a_fresh_one(
    agent: Agent, by: Editor, web: Client
) -> None:
    """Whatever order times and keys have."""
    html = tab(web, agent)
    order: list[int] = []
    for minutes in (5, 1, 9, 5, 3, 10, 0):
        row = Passage.insert(agent, "Note", by=by, created_at=START + timedelta(minutes=minutes))
        html = since(web, html)
        (placed,) = [each for each in targets(html) if "Morph" not in each]
        swap, target = placed.split()
        if swap == "beforebegin":
            order.insert(order.index(int(target.removeprefix("#passage-"))), row.pk)
        else:
            assert (swap, target) == ("beforeend", "#passages")
            order.append(row.pk)
        assert order == passages_in(tab(web, agent))


def test_what_belongs_further_down_waits_until_one_scrolls_there(
    agent: Agent, by: Editor, web: Client
) -> None:
    kept(agent, PASSAGES_A_PAGE + 2, by)
    html = tab(web, agent)
    old = Passage.insert(agent, "Old", by=by, created_at=START)
    assert targets(since(web, html)) == [f"outerMorph #passage-{old.pk}"]


def test_a_list_may_grow_past_what_it_tells_of_itself(
    agent: Agent, by: Editor, web: Client
) -> None:
    html = tab(web, agent)
    for n in range(MOST_KNOWN + 5):
        Passage.insert(agent, f"Note {n}", by=by, created_at=START + timedelta(minutes=n))
    html = since(web, html)
    newest = Passage.insert(agent, "Newest", by=by)
    oldest = Passage.insert(agent, "Oldest", by=by, created_at=START - timedelta(days=1))
    placed = [each for each in targets(since(web, html)) if "Morph" not in each]
    assert len(placed) == 1
    assert newest.pk != oldest.pk
    assert placed[0].startswith("beforebegin")


def test_a_filtered_list_takes_in_what_fits_and_lets_go_what_does_not(
    agent: Agent, rex: Passage, by: Editor, web: Client
) -> None:
    other = Passage.insert(agent, "Tom", ["cats"], by=by)
    html = get(web, agent, tag="pets")
    Passage.insert(agent, "Ann", by=by)
    assert not [each for each in targets(since(web, html)) if "Morph" not in each]
    other.edit(tags=["pets"], by=by)
    rex.edit(tags=[], by=by)
    news = since(web, html)
    assert f"beforebegin #passage-{rex.pk}" in targets(news)
    assert f'class="kept gone" id="passage-{rex.pk}"' in news


def test_results_of_a_search_stay_and_say_that_they_are_old(
    agent: Agent, rex: Passage, by: Editor, web: Client
) -> None:
    html = get(web, agent, q="dog")
    Passage.count_recall(agent, [rex])
    news = since(web, html)
    assert targets(news) == [f"outerMorph #passage-{rex.pk}"]
    assert "Search again" not in plain(news)
    Passage.insert(agent, "A dog", by=by)
    news = since(web, html)
    assert "Archival memory has changed since. Search again" in plain(news)


def test_after_very_many_changes_the_list_says_so(
    agent: Agent, rex: Passage, by: Editor, web: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archival_changes, "MOST_EVENTS", 3)
    html = tab(web, agent)
    kept(agent, 4, by)
    news = since(web, html)
    assert targets(news) == []
    assert "Show it as it is now" in plain(news)
    assert "5 passages" in plain(news)
