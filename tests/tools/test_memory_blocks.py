"""Blocks that the model makes, patches, renames and lets go of."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User

from agents import tools
from agents.models import Agent, ApprovalNeeded, Block, Event, MemoryRefusal, block_queryset
from agents.tools import Caller, Outcome, ToolError


@pytest.fixture
def agent(agent: Agent) -> Agent:
    Block.objects.filter(label="human").update(value="Name: Bob\nCity: Riga")
    return agent


def memory(caller: Caller, command: str, **arguments: Any) -> Outcome:
    tool = tools.get("memory")
    return tool.call(caller, tool.parse(json.dumps({"command": command, **arguments})))


def patch(caller: Caller, text: str, label: str = "") -> Outcome:
    return tools.get("memory_apply_patch").call(caller, {"label": label, "patch": text})


def labels(agent: Agent) -> list[str]:
    return [block.label for block in agent.core_memory()]


def value(agent: Agent, label: str) -> str:
    block = agent.block(label)
    assert block is not None
    return block.value


def test_a_block_that_the_model_makes_is_its_own_with_its_first_value_in_the_ledger(
    caller: Caller, alice: User
) -> None:
    done = memory(
        caller, "create", path="/memories/pets", file_text="Rex", description="All animals"
    )

    block = caller.agent.block("pets")
    assert block is not None
    assert (block.owner, block.value, block.description) == (alice, "Rex", "All animals")
    [edit] = done.edits
    assert (edit.before, edit.after, edit.step) == ("", "Rex", caller.step)
    assert block.edits.get() == edit
    assert done.content == "Done. The new block 'pets' has 3 of 5,000 characters."
    kinds = [event.kind for event in caller.agent.events.order_by("-seq")[:2]]
    assert kinds == [Event.Kind.BLOCK_EDITED, Event.Kind.MEMORY_CHANGED]


def test_what_cannot_be_a_block_is_said(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ToolError, match="already has a block 'human'"):
        memory(caller, "create", path="human", description="x")
    with pytest.raises(ToolError, match="A label is made of letters"):
        memory(caller, "create", path="a<b", description="x")
    with pytest.raises(MemoryRefusal, match="5,001 of 5,000"):
        memory(caller, "create", path="long", file_text="x" * 5001)
    monkeypatch.setattr(block_queryset, "MOST_BLOCKS", 2)
    with pytest.raises(MemoryRefusal, match="There are 2 blocks"):
        memory(caller, "create", path="third")
    assert labels(caller.agent) == ["persona", "human"]


def test_text_is_replaced_inserted_and_shown(caller: Caller) -> None:
    memory(caller, "str_replace", path="/memories/human", old_string="Riga", new_string="Rome")
    memory(caller, "insert", path="/human", insert_line=0, insert_text="# Person")
    memory(caller, "insert", path="human", insert_text="Likes pie")

    assert value(caller.agent, "human") == "# Person\nName: Bob\nCity: Rome\nLikes pie"
    shown = memory(caller, "view", path="human")
    assert (shown.content, shown.edits) == (value(caller.agent, "human"), ())


def test_a_block_is_renamed_and_described(caller: Caller) -> None:
    memory(caller, "rename", old_path="/memories/human", new_path="/memories/person")
    memory(caller, "rename", path="person", description="Who I talk to")

    block = caller.agent.block("person")
    assert block is not None
    assert (block.description, block.value) == ("Who I talk to", "Name: Bob\nCity: Riga")
    with pytest.raises(ToolError, match="already has a block 'persona'"):
        memory(caller, "rename", old_path="person", new_path="persona")


def test_a_block_that_is_deleted_leaves_the_agent_and_is_kept(caller: Caller) -> None:
    done = memory(caller, "delete", path="human")

    assert labels(caller.agent) == ["persona"]
    assert Block.objects.get(label="human").value == "Name: Bob\nCity: Riga"
    assert "a person can attach it again" in done.content


@pytest.mark.parametrize(
    ("command", "arguments", "sentence"),
    [
        ("create", {}, "create needs 'path'"),
        ("delete", {"path": "/"}, "There is no block ''"),
        ("rename", {"path": "human"}, "rename needs 'old_path'"),
        ("str_replace", {"path": "human", "old_string": "a"}, "needs 'new_string'"),
        ("str_replace", {"path": "human", "new_string": "a"}, "needs 'old_string'"),
        ("insert", {"path": "human"}, "insert needs 'insert_text'"),
        ("insert", {"path": "dog", "insert_text": "a"}, "The blocks are: 'persona', 'human'"),
    ],
)
def test_a_command_says_what_it_lacks(
    command: str, arguments: dict[str, str], sentence: str, caller: Caller
) -> None:
    with pytest.raises((ToolError, MemoryRefusal), match=sentence):
        memory(caller, command, **arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {"command": "delete", "path": "human"},
        {"command": "rename", "old_path": "human", "new_path": "x"},
        {"command": "rename", "path": "human", "description": "x"},
        {"command": "insert", "path": "human", "insert_text": "x"},
    ],
)
def test_a_block_that_is_read_only_or_asks_first_is_left_alone(
    arguments: dict[str, str], caller: Caller
) -> None:
    Block.objects.filter(label="human").update(read_only=True)
    with pytest.raises(MemoryRefusal, match="is read-only"):
        memory(caller, **arguments)
    Block.objects.filter(label="human").update(read_only=False, ask_before_write=True)
    with pytest.raises(ApprovalNeeded):
        memory(caller, **arguments)
    assert labels(caller.agent) == ["persona", "human"]


def test_a_patch_changes_one_block_by_its_label(caller: Caller) -> None:
    done = patch(caller, " Name: Bob\n-City: Riga\n+City: Rome", "human")

    assert value(caller.agent, "human") == "Name: Bob\nCity: Rome"
    assert [edit.after for edit in done.edits] == ["Name: Bob\nCity: Rome"]


def test_a_patch_changes_several_blocks_or_none(caller: Caller) -> None:
    patch(
        caller,
        "*** Add Block: pets\nDescription: Animals\n+Rex\n"
        "*** Update Block: human\n-City: Riga\n*** Move to: person\n*** Delete Block: persona",
    )
    assert labels(caller.agent) == ["person", "pets"]
    assert value(caller.agent, "person") == "Name: Bob"
    with pytest.raises(ToolError, match="are not in the text like this"):
        patch(caller, "-City: Oslo", "person")


def test_edits_are_finished_with_a_word(caller: Caller) -> None:
    assert tools.get("memory_finish_edits").call(caller, {}).content == "Done."
