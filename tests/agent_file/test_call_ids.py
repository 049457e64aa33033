"""Agent files: ids and names of calls become such that any endpoint takes them."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User

from agents.agent_file import export_agent, import_agent
from agents.models import Agent, BlockEdit
from tests.support.agent_file_samples import message_entry, noted, small_file

# -- what can be sent again, and what came with a server -------------------------------------------


def called(*ids: str, name: str = "look_up_book") -> dict[str, Any]:
    """A file in which tools were called under these ids, one after the other."""
    given = small_file(messages=0)
    for number, key in enumerate(ids):
        call = {"id": key, "type": "function", "function": {"name": name, "arguments": "{"}}
        asked = message_entry(2 * number + 1) | {"tool_calls": [call]}
        answer = {
            "type": "message",
            "role": "tool",
            "content": f"Return {number}",
            "id": f"t{number}",
        }
        given["agents"][0]["messages"] += [asked, answer | {"tool_call_id": key}]
    return given


@pytest.mark.parametrize(
    "ids",
    [
        ["call_1", "call_1", "call_1"],
        ["x" * 41, "x" * 41, "x" * 200],
        ["functions.look:0", "functions.look:1", "ü"],
        ["x" * 40, "x" * 40, "x" * 40],
        ["call_1", "call_1_2", "call_1"],
    ],
)
def test_ids_of_calls_become_such_that_any_endpoint_takes_them(ids: list[str], alice: User) -> None:
    imported = import_agent(alice, called(*ids))
    asked = [
        call for each in imported.agent.messages.filter(role="assistant") for call in each.calls()
    ]
    returns = list(imported.agent.messages.filter(role="tool"))
    here = [call.id for call in asked]
    assert len(set(here)) == len(ids)
    assert all(key.replace("_", "").isalnum() and key.isascii() and len(key) <= 40 for key in here)
    assert [(each.tool_call_id, each.content) for each in returns] == [
        (key, f"Return {number}") for number, key in enumerate(here)
    ]
    assert [call.arguments for call in asked] == ["{"] * 3  # stored as it was said
    assert noted(imported.notes, "got another id here")


def test_many_calls_under_one_id_are_told_apart_at_once(alice: User) -> None:
    imported = import_agent(alice, called(*["call"] * 3000))
    ids = imported.agent.messages.filter(role="tool").values_list("tool_call_id", flat=True)
    assert len(set(ids)) == 3000


@pytest.mark.parametrize(
    ("name", "here"), [("look up.book!", "look_up_book_"), ("x" * 65, "x" * 64), ("§", "_")]
)
def test_names_of_calls_become_such_that_any_endpoint_takes_them(
    name: str, here: str, alice: User
) -> None:
    imported = import_agent(alice, called("call_1", name=name))
    (asked,) = imported.agent.messages.filter(role="assistant")
    assert [call.name for call in asked.calls()] == [here]
    assert noted(imported.notes, "names that no endpoint accepts")


def test_what_edited_a_block_is_found_under_the_new_id(agent: Agent, bob: User) -> None:
    given = export_agent(agent)
    block = given["memoryweb"]["agents"]["agent-0"]["blocks"]["block-0"]
    block["edits"] = [{"after": "New", "step": 0, "tool_call_id": "a.b"}]
    given["blocks"][0]["value"] = "New"
    call = {"id": "a.b", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    given["agents"][0]["messages"].append(message_entry(1) | {"tool_calls": [call]})
    run = {"kind": "message", "text": "", "status": "done", "reason": "end_turn", "role": "user"}
    its = given["memoryweb"]["agents"]["agent-0"]
    its["runs"] = [run | {"steps": [{"status": "done"}]}]
    its["messages"] = [{"id": "message-1", "run": 0, "step": 0}]
    made = import_agent(bob, given).agent
    (asked,) = made.messages.filter(role="assistant")
    edit = BlockEdit.objects.get(step__run__agent=made)
    assert edit.tool_call_id == asked.calls()[0].id != "a.b"
