"""Blocks by themselves: listed, made, edited, set; lines that repeat."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from agents.memory.classes import BasicBlockMemory, ChatMemory
from agents.models import Agent, Block, BlockShare, Editor
from agents.templatetags.blocks import value_pieces, with_repeats
from agents.text.diff import Piece
from tests.support.addresses import everything
from tests.support.pages import at, shown

SETTINGS = {"label": "team", "description": "", "kind": "text", "schema": "", "limit": "2000"}


# -- the list --------------------------------------------------------------------------------------


def test_ones_own_blocks_are_listed_with_the_agents_that_hold_them(
    web: Client, agent: Agent, human: Block, team: Block, alice: User
) -> None:
    Agent.create(alice, "Second", BasicBlockMemory()).attach(human)
    page = shown(web.get(at("blocks")))
    assert "human 9 / 2,000 What the agent knows of the person it talks with. Name: Bob" in page
    assert "Attached to Second · Tutor" in page
    assert "team 10 / 2,000 Ten people Not attached to any agent" in page
    assert "Shared with you" not in page


def test_given_blocks_are_listed_with_their_owner_and_how_they_were_given(
    bobs_web: Client, agent: Agent, human: Block, team: Block, bob: User, bobs: Agent
) -> None:
    BlockShare.share(human, bob, can_write=False)
    BlockShare.share(team, bob, can_write=True)
    bobs.attach(team)
    page = shown(bobs_web.get(at("blocks")))
    assert "human from alice, read-only 9 / 2,000" in page
    assert "team from alice 10 / 2,000" in page
    assert "Not attached to any of your agents" in page
    assert "Attached to Planner" in page
    assert "Tutor" not in page  # whose agents Alice has is not Bob's business


def test_a_list_asks_the_same_number_of_queries_however_long_it_is(
    web: Client, alice: User, django_assert_max_num_queries: Any
) -> None:
    for number in range(15):
        Agent.create(alice, f"Agent {number}", ChatMemory())
    with django_assert_max_num_queries(12):
        web.get(at("blocks"))


def test_the_sidebar_leads_to_the_blocks(web: Client, agent: Agent) -> None:
    assert f'href="{at("blocks")}"' in web.get(at("agent", agent)).content.decode()


# -- a block by itself -----------------------------------------------------------------------------


def test_a_block_is_made_that_no_agent_holds(web: Client, alice: User) -> None:
    given = SETTINGS | {"value": "Ten people\r\nin Riga", "ask_before_write": "on"}
    response = web.post(at("blocks_new"), given)
    block = Block.objects.get()
    assert response.headers["Location"] == at("block", block)
    assert (block.owner, block.value, block.ask_before_write) == (
        alice,
        "Ten people\nin Riga",
        True,
    )
    assert not block.agents.exists()


def test_what_is_no_block_is_not_made_and_what_was_typed_stays(web: Client) -> None:
    given = SETTINGS | {"value": "[1, 2", "kind": "list"}
    page = shown(web.post(at("blocks_new"), given), 422)
    assert "The value cannot stay: it would no longer be JSON" in page
    assert "[1, 2" in page
    assert not Block.objects.exists()


def test_a_value_is_edited_and_the_page_loads_anew(web: Client, team: Block, alice: User) -> None:
    editor = web.get(at("block_value", team)).content.decode()
    assert f'hx-post="{at("block_value", team)}"' in editor
    assert "Ten people" in editor
    response = web.post(at("block_value", team), {"value": "Eleven", "version": "0"})
    assert (response.status_code, response.headers["HX-Refresh"]) == (200, "true")
    edit = team.edits.get()
    assert (edit.after, edit.editor_kind, edit.user) == ("Eleven", Editor.PERSON, alice)


def test_an_edit_of_an_older_version_shows_both(web: Client, team: Block, alice: User) -> None:
    team.append("in Riga", by=Editor.person(alice))
    response = web.post(at("block_value", team), {"value": "Ten cats", "version": "0"})
    page = shown(response, 409)
    assert "alice changed this block while you were typing" in page
    assert "Ten people in Riga" in page
    assert "Ten cats" in page
    assert "HX-Refresh" not in response.headers
    team.refresh_from_db()
    assert team.value == "Ten people\nin Riga"


def test_a_value_that_breaks_its_kind_is_refused_with_the_reason(web: Client, team: Block) -> None:
    team.set_value('["one"]', by=Editor.person(team.owner))
    team.configure(kind="list", schema={"items": {"type": "string"}})
    for value, reason in (
        ('["one"', "it would no longer be JSON"),
        ('{"a": 1}', "it would be an object, not a JSON list"),
        ("[1]", "it would not fit the block's schema: at [0], 1 is not of type 'string'"),
    ):
        page = shown(web.post(at("block_value", team), {"value": value, "version": 1}), 422)
        assert reason in page
        assert value in page  # typing is kept
    team.refresh_from_db()
    assert (team.value, team.version) == ('["one"]', 1)


def test_the_history_of_a_block_restores_a_version(web: Client, team: Block, alice: User) -> None:
    for value in ("One", "Two", "Three"):
        team.set_value(value, by=Editor.person(alice))
    page = shown(web.get(at("block_history", team)))
    assert page.index("version 3") < page.index("version 2") < page.index("version 1")
    response = web.post(at("block_version_restore", team, 1))
    assert response.headers["Location"] == at("block", team)
    team.refresh_from_db()
    assert (team.value, team.version) == ("One", 4)
    assert "has no version 99" in shown(web.post(at("block_version_restore", team, 99)), 409)


def test_a_long_history_goes_on(web: Client, team: Block, alice: User) -> None:
    for number in range(35):
        team.set_value(f"Value {number}", by=Editor.person(alice))
    page = web.get(at("block_history", team)).content.decode()
    older = re.search(r'href="(\?before=\d+)"', page)
    assert older
    rest = shown(web.get(at("block_history", team) + older[1]))
    assert "version 5 " in rest
    assert "version 6 " not in rest
    assert 'href="?before=' not in web.get(at("block_history", team) + older[1]).content.decode()


# -- settings --------------------------------------------------------------------------------------


def settle(client: Client, block: Block, **changes: str) -> Any:
    return client.post(at("block_configure", block), SETTINGS | changes)


def test_kind_schema_and_asking_are_set(web: Client, team: Block) -> None:
    team.set_value("", by=Editor.person(team.owner))
    schema = '{"type": "array", "items": {"type": "string"}}'
    response = settle(web, team, kind="list", schema=schema, ask_before_write="on")
    assert response.headers["HX-Refresh"] == "true"
    team.refresh_from_db()
    assert (team.kind, team.schema, team.ask_before_write) == ("list", json.loads(schema), True)
    assert team.value == "[]"  # an empty text is no list; the ledger tells of it
    assert team.edits.latest("version").after == "[]"
    form = web.get(at("block_configure", team)).content.decode()
    assert "{\n  &quot;type&quot;: &quot;array&quot;,\n" in form


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"limit": "5"}, "Block 'team' would be 10 of 5 characters; shorten it by 5"),
        ({"kind": "list"}, "The value cannot stay: it would no longer be JSON"),
        ({"kind": "object", "schema": "{"}, "This is not JSON:"),
        ({"kind": "object", "schema": "[]"}, "A schema must be a JSON object."),
        ({"kind": "object", "schema": '{"type": "no such"}'}, "This is not a valid JSON Schema:"),
        ({"kind": "object", "schema": '{"a": NaN}'}, "NaN is not a number in JSON"),
        ({"kind": "object", "schema": '{"a": 1e999}'}, "This is not JSON:"),
        ({"kind": "object", "schema": '{"\\u0000": 1}'}, "a character that cannot be stored"),
        ({"kind": "poem"}, "is not one of the available choices"),
        ({"label": ""}, "This field is required."),
    ],
)
def test_settings_that_cannot_be_are_refused_at_their_field(
    changes: dict[str, str], words: str, web: Client, team: Block
) -> None:
    if "schema" in changes:
        team.set_value("{}", by=Editor.person(team.owner))
    before = everything()
    response = settle(web, team, **changes)
    assert words in shown(response, 422)
    (field,) = [name for name in changes if name != "kind"] or ["kind"]
    wrong = re.search(r'class="field wrong\s*">(.*?)</ul>', response.content.decode(), re.DOTALL)
    assert wrong
    assert f'name="{field}"' in wrong[1]
    assert everything() == before


def test_settings_that_say_nothing_of_the_kind_leave_it(web: Client, team: Block) -> None:
    team.set_value("[]", by=Editor.person(team.owner))
    team.configure(kind="list")
    web.post(at("block_configure", team), {"label": "group", "limit": "9"})
    team.refresh_from_db()
    assert (team.label, team.limit, team.kind) == ("group", 9, "list")


def test_a_schema_that_the_value_does_not_fit_is_refused(web: Client, team: Block) -> None:
    team.set_value("[1]", by=Editor.person(team.owner))
    team.configure(kind="list")
    page = shown(settle(web, team, kind="list", schema='{"items": {"type": "string"}}'), 422)
    assert "it would not fit the block's schema" in page


def test_a_label_that_a_holder_has_is_refused(web: Client, human: Block, agent: Agent) -> None:
    page = shown(settle(web, human, label="persona"), 422)
    assert "'Tutor' already has a block 'persona'." in page


def test_settings_are_the_owners(
    bobs_web: Client, human: Block, agent: Agent, bob: User, bobs: Agent
) -> None:
    BlockShare.share(human, bob, can_write=True)
    bobs.attach(human)
    before = everything()
    for address in (at("block_configure", human), at("block_settings", bobs, human)):
        words = "This block belongs to alice. Only alice can change its settings."
        assert words in shown(bobs_web.get(address))
        assert words in shown(bobs_web.post(address, SETTINGS | {"label": "mine"}), 403)
    assert everything() == before


# -- duplicates ------------------------------------------------------------------------------------


def test_lines_that_repeat_are_marked_in_the_panel(web: Client, agent: Agent, human: Block) -> None:
    human.set_value(
        "Name: Bob\n- Likes pie.\nborn in 1971\nlikes Pie", by=Editor.person(agent.owner)
    )
    page = web.get(at("agent", agent)).content.decode()
    assert page.count('title="says the same as line 2"') == 1
    assert "(says the same as line 2)" in page
    assert "(says the same as line 2)" in web.get(at("block", human)).content.decode()


def test_lists_and_objects_have_no_lines_that_repeat(human: Block) -> None:
    value = '[\n"the same",\n"the same"\n]'
    human.set_value(value, by=Editor.person(human.owner))
    assert any(piece.kind == "repeat" for piece in value_pieces(human))
    human.configure(kind="list")
    assert [piece.kind for piece in value_pieces(human)] == ["same"]


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([Piece("same", "one\ntwo\none")], [("same", "one\ntwo\none"), ("repeat", "1")]),
        (
            [Piece("same", "one\none"), Piece("added", "\ntwo\n")],
            [("same", "one\none"), ("repeat", "1"), ("added", "\ntwo\n")],
        ),
        (
            [Piece("removed", "gone\n"), Piece("same", "one\n"), Piece("added", "one")],
            [("removed", "gone\n"), ("same", "one\n"), ("added", "one"), ("repeat", "1")],
        ),
    ],
)
def test_a_mark_stands_at_the_end_of_its_line(
    pieces: list[Piece], expected: list[tuple[str, str]]
) -> None:
    new = "".join(piece.text for piece in pieces if piece.kind != "removed")
    repeats = {i: 0 for i, line in enumerate(new.split("\n")) if i and line == "one"}
    marked = with_repeats(pieces, repeats)
    joined = "".join(p.text for p in marked if p.kind in ("same", "added"))
    assert joined == new
    merged: list[tuple[str, str]] = []
    for kind, text in marked:
        if merged and merged[-1][0] == kind != "repeat":
            merged[-1] = (kind, merged[-1][1] + text)
        else:
            merged.append((kind, text))
    if ("repeat", "1") in expected and expected[-1] != ("repeat", "1"):
        assert ("repeat", "1") in merged
    else:
        assert merged == expected
