"""The panel's history: its list of edits, and what can be done with each."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from agents.models import Agent, Block, Editor
from agents.models.share import BlockShare
from agents.pages.history import EDITS_A_PAGE
from tests.conftest import edit_of
from tests.support.ledger import edits_in, entry_in, shown, step_of, written

# -- the list of edits -----------------------------------------------------------------------------


def test_all_edits_of_the_agents_blocks_newest_first(
    agent: Agent, human: Block, by: Editor, web: Client
) -> None:
    persona = agent.block("persona")
    assert persona
    first = edit_of(human.append("Likes pie", by=by))
    step = step_of(agent, 3)
    second = edit_of(persona.append("Be kind.", by=Editor.agent(step, "call-1")))
    html = shown(web, agent)
    assert edits_in(html) == [second.pk, first.pk]
    assert "human version 1 current" in entry_in(html, first)
    assert "by alice" in entry_in(html, first)
    assert "9 → 19 of 2,000" in entry_in(html, first)
    assert "by Tutor · step 3" in entry_in(html, second)
    assert f"?step={step.pk}#step-{step.pk}" in html


def test_the_edits_of_one_block(agent: Agent, human: Block, by: Editor, web: Client) -> None:
    persona = agent.block("persona")
    assert persona
    persona.append("Be kind.", by=by)
    edit = edit_of(human.append("Likes pie", by=by))
    assert edits_in(shown(web, agent, block=human.pk)) == [edit.pk]


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Editor.ADMIN, "by alice (admin)"),
        (Editor.API, "by alice (API)"),
        (Editor.IMPORT, "by alice (import)"),
    ],
)
def test_who_wrote_and_from_where(
    kind: str, words: str, agent: Agent, human: Block, alice: User, web: Client
) -> None:
    edit = edit_of(human.append("Likes pie", by=Editor.person(alice, kind)))
    assert words in entry_in(shown(web, agent), edit)


@pytest.mark.parametrize("whose", ["alice", "bob"])
def test_a_step_of_another_agent_is_led_to_where_it_may_be_seen(
    whose: str, agent: Agent, human: Block, alice: User, bob: User, web: Client
) -> None:
    planner = Agent.objects.create(owner=alice if whose == "alice" else bob, name="Planner")
    if whose == "bob":
        BlockShare.share(human, bob, can_write=True)
    planner.attach(human)
    step = step_of(planner, 4)
    edit = edit_of(human.append("Likes pie", by=Editor.agent(step, "call-1")))
    html = shown(web, agent)
    assert "by Planner · step 4" in entry_in(html, edit)
    address = f"{reverse('agent', args=[planner.pk])}?step={step.pk}#step-{step.pk}"
    assert (address in html) == (whose == "alice")
    if whose == "alice":
        planner.trash()
        assert address not in shown(web, agent)


def test_an_entry_shows_the_changed_lines_word_by_word(human: Block, by: Editor) -> None:
    human.set_value("Name: Bob\nCity: Riga\nLikes: pie", by=by)
    edit = edit_of(human.set_value("Name: Bob\nCity: Oslo\nLikes: pie\nAge: 40", by=by))
    said = [[tuple(piece) for piece in pieces] for pieces in edit.hunks()]
    assert said == [
        [("same", "City: "), ("removed", "Riga"), ("added", "Oslo")],
        [("added", "Age: 40")],
    ]


@pytest.mark.parametrize(
    ("before", "after"), [("Likes tea", "Has a dog named Rex"), ("Bob", "a\nb\nc")]
)
def test_lines_with_little_in_common_are_shown_whole(
    before: str, after: str, human: Block, by: Editor
) -> None:
    human.set_value(f"Name: Bob\n{before}", by=by)
    edit = edit_of(human.set_value(f"Name: Bob\n{after}", by=by))
    (pieces,) = edit.hunks()
    said = [tuple(piece) for piece in pieces if piece.kind != "same"]
    assert said == [("removed", before), ("added", after)]


def test_what_undid_and_redid_what_is_said_and_the_buttons_follow(
    agent: Agent, human: Block, by: Editor, web: Client
) -> None:
    edit = edit_of(human.append("Likes pie", by=by))
    assert "Undo" in entry_in(shown(web, agent), edit)
    undo = edit_of(human.undo(edit, by=by))
    html = shown(web, agent)
    assert "undone by version 2" in entry_in(html, edit)
    assert "Redo" in entry_in(html, edit)
    assert "undoes version 1" in entry_in(html, undo)
    assert "Redo" in entry_in(html, undo)
    redo = edit_of(human.undo(undo, by=by))
    html = shown(web, agent)
    assert "redoes version 1" in entry_in(html, redo)
    assert "Undo" in entry_in(html, redo)
    assert "undone by version 3" in entry_in(html, undo)
    assert "Undo" in entry_in(html, undo)
    assert "taken back" not in entry_in(html, edit)


def test_pressing_redo_on_an_edit_that_was_undone_brings_it_back(
    agent: Agent, human: Block, by: Editor, web: Client
) -> None:
    edit = edit_of(human.append("Likes pie", by=by))
    human.undo(edit, by=by)
    html = shown(web, agent)
    button = re.search(rf'id="undo-{edit.pk}"\s+hx-post="([^"]+)"', html)
    assert button
    assert web.post(button[1]).status_code == 204
    assert Block.objects.get(pk=human.pk).value == "Name: Bob\nLikes pie"


def test_restoring_by_the_page(agent: Agent, human: Block, by: Editor, web: Client) -> None:
    edits = written(human, 3, by)
    button = re.search(rf'id="restore-{edits[0].pk}"[^>]* hx-post="([^"]+)"', shown(web, agent))
    assert button
    assert web.post(button[1]).status_code == 204
    html = shown(web, agent)
    newest = human.edits.first()
    assert newest
    assert "restores version 1" in entry_in(html, newest)
    assert newest.user
    assert newest.editor_name == "alice"
    assert "Restore" not in entry_in(html, newest)


def test_what_cannot_be_restored_is_said_in_a_sentence(
    agent: Agent, human: Block, by: Editor, web: Client
) -> None:
    human.set_value("x" * 30, by=by)
    human.set_value("Short", by=by)
    human.configure(limit=20)
    answer = web.post(reverse("block_restore", args=[agent.pk, human.pk, 1]))
    assert answer.status_code == 409
    assert "30 characters and the limit is now 20; raise the limit" in answer.content.decode()


def test_the_first_value_stands_at_the_end_and_can_be_restored(
    agent: Agent, human: Block, by: Editor, web: Client
) -> None:
    written(human, 1, by)
    html = shown(web, agent, block=human.pk)
    origin = html.partition(f'id="origin-{human.pk}"')[2]
    assert "Name: Bob" in origin
    assert reverse("block_restore", args=[agent.pk, human.pk, 0]) in origin


def test_a_ledger_whose_beginning_is_missing_has_no_first_value(
    agent: Agent, human: Block, by: Editor, web: Client
) -> None:
    written(human, 3, by)
    human.edits.filter(version__lte=2).delete()
    assert f"origin-{human.pk}" not in shown(web, agent)


def test_older_edits_come_page_by_page_each_once(
    agent: Agent, human: Block, by: Editor, web: Client
) -> None:
    edits = written(human, 2 * EDITS_A_PAGE + 5, by)
    html = shown(web, agent)
    found = edits_in(html)
    pages = 1
    while following := re.search(r'class="older"\s+hx-get="([^"]+)"', html):
        assert "origin-" not in html
        html = web.get(following[1].replace("&amp;", "&")).content.decode()
        found += edits_in(html)
        pages += 1
    assert pages == 3
    assert found == [edit.pk for edit in reversed(edits)]
    assert f"origin-{human.pk}" in html


@pytest.mark.parametrize("place", [0, 40, 99])
def test_an_edit_is_shown_on_the_page_that_holds_it(
    place: int, agent: Agent, human: Block, by: Editor, web: Client
) -> None:
    edits = written(human, 100, by)
    html = shown(web, agent, edit=edits[place].pk)
    assert edits[place].pk in edits_in(html)
    assert len(edits_in(html)) <= EDITS_A_PAGE
    assert re.findall(r'id="edit-(\d+)"[^>]* aria-current="true"', html) == [str(edits[place].pk)]
    assert ("These are older edits" in html) == (place != 99)


@pytest.mark.parametrize("edit", ["0", "x", "999999", "9" * 40, "-1"])
def test_an_edit_that_is_not_there_shows_the_newest(
    edit: str, agent: Agent, human: Block, by: Editor, web: Client
) -> None:
    edits = written(human, 2, by)
    assert edits_in(shown(web, agent, edit=edit)) == [edits[1].pk, edits[0].pk]


def test_blocks_of_others_and_blocks_let_go_are_not_in_it(
    agent: Agent, human: Block, by: Editor, web: Client, alice: User
) -> None:
    stray = Block.objects.create(owner=alice, label="stray")
    edit = edit_of(stray.append("Hello", by=by))
    human.append("Likes pie", by=by)
    agent.detach(human)
    assert edits_in(shown(web, agent)) == []
    assert edits_in(shown(web, agent, block=stray.pk, edit=edit.pk)) == []
    answer = web.post(reverse("block_restore", args=[agent.pk, human.pk, 0]))
    assert answer.status_code == 404


def test_an_agent_without_blocks_has_no_history(agent: Agent, web: Client) -> None:
    for block in agent.core_memory():
        agent.detach(block)
    assert "no history" in shown(web, agent)
