"""Blocks in the admin: written by the same verbs as elsewhere."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from agents.models import Agent, Block, Editor, Event
from tests.support.admin_forms import FormOfPage, address, kinds, opened, saved

# -- blocks are written by their verbs -------------------------------------------------------------


def test_an_edit_has_a_ledger_row_with_the_editors_name(
    desk: Client, human: Block, operator: User
) -> None:
    response = saved(desk, human, opened(desk, human), value="Name: Sarah")
    assert response.status_code == 302
    edit = human.edits.get()
    assert (human.value, human.version) == ("Name: Sarah", 1)
    assert (edit.before, edit.after, edit.version) == ("Name: Bob", "Name: Sarah", 1)
    assert (edit.editor_name, edit.editor_kind, edit.user) == ("olga", Editor.ADMIN, operator)


def test_an_edit_is_in_the_log_of_every_agent_that_holds_the_block(
    desk: Client, human: Block, agent: Agent, shared: Agent
) -> None:
    saved(desk, human, opened(desk, human), value="Name: Sarah")
    for holder in (agent, shared):
        event = holder.events.latest("seq")
        assert event.kind == Event.Kind.BLOCK_EDITED
        assert event.data == {"block": str(human.pk), "edit": human.edits.get().pk}


def test_an_edit_over_the_limit_is_refused_in_the_blocks_own_words(
    desk: Client, human: Block, agent: Agent
) -> None:
    before = kinds(agent)
    response = saved(desk, human, opened(desk, human), value="x" * 2140)
    assert response.status_code == 200
    page = response.content.decode()
    assert "lock &#x27;human&#x27; would be 2,140 of 2,000 characters; shorten it by 140" in page
    assert (human.value, human.edits.count(), kinds(agent)) == ("Name: Bob", 0, before)


def test_value_and_limit_may_grow_and_shrink_together(desk: Client, human: Block) -> None:
    saved(desk, human, opened(desk, human), value="x" * 2140, limit="3000")
    assert (len(human.value), human.limit) == (2140, 3000)
    saved(desk, human, opened(desk, human), value="Short", limit="10")
    assert (human.value, human.limit, human.version) == ("Short", 10, 2)


def test_a_limit_below_what_is_there_is_refused(desk: Client, human: Block) -> None:
    response = saved(desk, human, opened(desk, human), limit="5")
    assert response.status_code == 200
    assert "would be 9 of 5 characters" in response.content.decode()
    assert human.limit == 2000


def test_a_stale_edit_is_refused_with_what_the_block_now_says(
    desk: Client, human: Block, alice: User
) -> None:
    form = opened(desk, human)
    human.append("Likes <b>pie</b>", by=Editor.person(alice))
    response = saved(desk, human, form, value="Name: Sarah")
    page = response.content.decode()
    assert response.status_code == 200
    assert "changed since you opened it" in page
    assert "<pre>Name: Bob\nLikes &lt;b&gt;pie&lt;/b&gt;</pre>" in page
    assert "alice (person)" in page
    assert "<ins><br>Likes &lt;b&gt;pie&lt;/b&gt;</ins>" in page
    assert human.value == "Name: Bob\nLikes <b>pie</b>"

    again = FormOfPage(page).fields
    assert again["value"] == "Name: Sarah"  # what was typed is not lost either
    saved(desk, human, again, value="Name: Sarah\nLikes pie")
    assert human.value == "Name: Sarah\nLikes pie"


def test_stale_settings_are_refused_as_well(desk: Client, human: Block) -> None:
    form = opened(desk, human)
    human.configure(limit=300)
    response = saved(desk, human, form, description="Who they are")
    assert "with a limit of 300" in response.content.decode()
    assert (human.limit, human.description) != (2000, "Who they are")


def test_a_form_without_its_mark_is_refused(desk: Client, human: Block) -> None:
    form = opened(desk, human)
    del form["seen"]
    assert saved(desk, human, form, value="Name: Sarah").status_code == 200
    assert human.value == "Name: Bob"


def test_settings_are_configured_and_told_without_a_ledger_row(
    desk: Client, human: Block, agent: Agent
) -> None:
    changes = {"label": "person", "description": "Who they are", "read_only": "on"}
    saved(desk, human, opened(desk, human), **changes)
    assert (human.label, human.description, human.read_only) == ("person", "Who they are", True)
    assert agent.block("person") == human
    assert human.edits.count() == 0
    assert kinds(agent)[-1] == Event.Kind.MEMORY_CHANGED


def test_a_label_that_an_agent_already_has_is_refused(desk: Client, human: Block) -> None:
    response = saved(desk, human, opened(desk, human), label="persona", value="Name: Sarah")
    assert "already has a block &#x27;persona&#x27;" in response.content.decode()
    assert (human.label, human.value) == ("human", "Name: Bob")


@pytest.mark.parametrize("value", ["Name: Bob\r\n\r\n  indented \r\n", "\r\nfirst line empty", ""])
def test_white_space_is_kept_and_saving_without_a_change_writes_nothing(
    value: str, desk: Client, human: Block, alice: User
) -> None:
    human.set_value(value.replace("\r\n", "\n"), by=Editor.person(alice))
    form = opened(desk, human)
    assert saved(desk, human, form, value=value).status_code == 302
    assert (human.value, human.version) == (value.replace("\r\n", "\n"), 1)


def test_the_ledger_is_below_the_block_with_what_changed(
    desk: Client, human: Block, alice: User
) -> None:
    human.replace("Bob", "<Sarah>", by=Editor.person(alice))
    page = desk.get(address(human)).content.decode()
    assert "<del>Bob</del><ins>&lt;Sarah&gt;</ins>" in page
    assert "alice (person)" in page


def test_a_long_ledger_is_cut_short(desk: Client, human: Block, alice: User) -> None:
    for number in range(60):
        human.set_value(f"Name: {number}", by=Editor.person(alice))
    form = opened(desk, human)
    assert form["edits-TOTAL_FORMS"] == "50"
    assert saved(desk, human, form, value="Name: Sarah").status_code == 302
    assert human.version == 61


def test_a_block_may_be_added(desk: Client, alice: User) -> None:
    page = FormOfPage(desk.get(reverse("admin:agents_block_add")).content.decode())
    given = {"owner": str(alice.pk), "label": "team", "value": "Ten people"}
    response = desk.post(reverse("admin:agents_block_add"), {**page.fields, **given})
    assert response.status_code == 302
    block = Block.objects.get(label="team")
    assert (block.owner, block.value, block.limit, block.version) == (alice, "Ten people", 2000, 0)


def test_a_block_too_long_is_not_added(desk: Client, alice: User) -> None:
    page = FormOfPage(desk.get(reverse("admin:agents_block_add")).content.decode())
    given = {"owner": str(alice.pk), "label": "team", "value": "Ten people", "limit": "5"}
    response = desk.post(reverse("admin:agents_block_add"), {**page.fields, **given})
    assert "would be 10 of 5 characters" in response.content.decode()
    assert not Block.objects.filter(label="team").exists()


def test_every_holder_of_a_deleted_block_is_told(
    desk: Client, human: Block, agent: Agent, shared: Agent
) -> None:
    desk.post(address(human, "delete"), {"post": "yes"})
    assert not Block.objects.filter(pk=human.pk).exists()
    assert kinds(agent)[-1] == kinds(shared)[-1] == Event.Kind.MEMORY_CHANGED
    assert [block.label for block in agent.core_memory()] == ["persona"]


def test_blocks_deleted_in_bulk_are_told_as_well(desk: Client, human: Block, agent: Agent) -> None:
    chosen = {"action": "delete_selected", "_selected_action": [human.pk], "post": "yes"}
    desk.post(reverse("admin:agents_block_changelist"), chosen)
    assert kinds(agent)[-1] == Event.Kind.MEMORY_CHANGED
    assert Block.objects.count() == 1


# -- typed blocks ----------------------------------------------------------------------------------


@pytest.fixture
def tasks(agent: Agent, alice: User) -> Block:
    """A JSON list of texts in Alice's agent."""
    schema = {"items": {"type": "string"}}
    block = Block.objects.create(
        owner=alice, label="tasks", value='["one"]', kind="list", schema=schema
    )
    agent.attach(block)
    return block


def test_a_value_that_breaks_its_kind_is_refused(desk: Client, tasks: Block) -> None:
    for value, reason in (("1. one", "it would no longer be JSON"), ("[1]", "is not of type")):
        response = saved(desk, tasks, opened(desk, tasks), value=value)
        assert reason in response.content.decode()
    assert (tasks.value, tasks.version) == ('["one"]', 0)


def test_value_and_kind_may_change_together(desk: Client, tasks: Block) -> None:
    saved(desk, tasks, opened(desk, tasks), value="one", kind="text", limit="3")
    assert (tasks.kind, tasks.value, tasks.schema, tasks.limit) == ("text", "one", None, 3)
    form = opened(desk, tasks)
    more = {"kind": "object", "limit": "300", "schema": '{"required": ["a"]}'}
    saved(desk, tasks, form, value='{"a": 1}', ask_before_write="on", **more)
    assert (tasks.kind, tasks.value, tasks.ask_before_write) == ("object", '{"a": 1}', True)
    assert tasks.schema == {"required": ["a"]}
    assert [edit.after for edit in tasks.edits.order_by("version")] == ["one", '{"a": 1}']


def test_an_empty_text_becomes_an_empty_list(desk: Client, human: Block, alice: User) -> None:
    human.set_value("", by=Editor.person(alice))
    saved(desk, human, opened(desk, human), kind="list")
    assert (human.kind, human.value) == ("list", "[]")


def test_saving_a_typed_block_without_a_change_writes_nothing(
    desk: Client, tasks: Block, agent: Agent
) -> None:
    before = kinds(agent)
    assert saved(desk, tasks, opened(desk, tasks)).status_code == 302
    assert (kinds(agent), tasks.version) == (before, 0)
