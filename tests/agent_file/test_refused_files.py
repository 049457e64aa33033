"""Agent files: what is refused, and in which words."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User

from agents.agent_file import AgentFileError, export_agent, import_agent, read
from agents.models import Agent
from tests.conftest import Ask
from tests.support.addresses import everything
from tests.support.agent_file_samples import noted, sample


def refusal(owner: User, data: Any) -> str:
    """Why a file is refused; nothing may have been stored."""
    before = everything()
    with pytest.raises(AgentFileError) as refused:
        import_agent(owner, data)
    assert everything() == before
    return str(refused.value)


# -- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "not JSON"),
        (b"no", "not JSON"),
        (b'{"agents": [NaN]}', "not valid in JSON"),
        (b"\xff\xfe", "UTF-8"),
        (b"[" * 100_000, "nested"),
    ],
)
def test_what_is_no_json_is_refused_in_a_sentence(raw: bytes, said: str) -> None:
    with pytest.raises(AgentFileError, match=said):
        read(raw)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([], "The file should be an object, not a list."),
        (None, "The file should be an object, not null."),
        ({"a": 1}, "neither 'agents'"),
        ({"agents": []}, "The file has 0 agents"),
        ({"agents": [5]}, "agents[0] should be an object, not a whole number."),
        ({"agents": [{}]}, "agents[0].id is missing; it should be a text."),
        ({"agents": [{"id": "a", "messages": [{}]}]}, "agents[0].messages[0].id is missing"),
        ({"agents": [{"id": "a"}], "blocks": [{"label": "x"}]}, "blocks[0].id is missing"),
        ({"agents": [{"id": "a", "x": 1e999}]}, "a number that is too large"),
        ({"core_memory": {}}, "core_memory should be a list, not an object."),
        (
            {"core_memory": [], "in_context_message_indices": [3]},
            "names the message 3; there are 0",
        ),
    ],
)
def test_what_is_no_agent_file_is_refused_in_a_sentence(data: Any, said: str, alice: User) -> None:
    assert said in refusal(alice, data)


def test_a_file_that_is_nested_too_deeply_is_refused(alice: User) -> None:
    deep: Any = "x"
    for _ in range(200):
        deep = [deep]
    assert "levels deep" in refusal(alice, {"agents": [{"id": "agent-0", "x": deep}]})


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("name", 5, "agents[0].name should be a text, not a whole number."),
        ("system", "x" * 100_001, "agents[0].system has 100,001 characters"),
        ("messages.1.role", None, "agents[0].messages[1].role is missing"),
        ("messages.1.created_at", "soon", "'soon', which is not a date"),
        ("messages.2.tool_calls.0.id", "", "should have 1 to 200 characters"),
        ("messages.2.tool_calls.0.id", None, "tool_calls[0].id is missing"),
        ("messages.2.content.0", 5, "content[0] should be an object"),
        ("tool_rules.0.max_count_limit", "3", "max_count_limit should be a whole number"),
        ("llm_config", "gpt", "agents[0].llm_config should be an object"),
        ("tags", [1], "agents[0].tags[0] should be a text"),
    ],
)
def test_a_wrong_value_is_named_with_its_place(
    path: str, value: Any, said: str, alice: User
) -> None:
    file = sample("lists.af")
    *steps, last = path.split(".")
    place = file["agents"][0]
    for step in steps:
        place = place[int(step) if isinstance(place, list) else step]
    place[int(last) if isinstance(place, list) else last] = value
    assert said in refusal(alice, file)


@pytest.mark.parametrize(
    ("part", "value", "said"),
    [
        ("runs", [{"kind": "x"}], "runs[0]"),
        ("messages", [{"id": "message-1", "run": 9}], "'message-1' is of run 9"),
        ("passages", [{"text": " "}], "The passage is empty"),
        ("passages", [{"text": "x", "tags": ["y" * 101]}], "101 characters"),
        ("compactions", [{"run": 7}], "run is 7"),
        ("blocks", {"block-0": {"first": "x" * 3000}}, "over the limit"),
        ("blocks", {"block-0": {"edits": [{"undoes": 1}]}}, "undoes should be from 1 to 0"),
        ("settings", {"max_steps": 0}, "max_steps should be from 1 to 1,000"),
    ],
)
def test_our_own_part_is_checked_as_well(
    part: str, value: Any, said: str, agent: Agent, ask: Ask, bob: User
) -> None:
    ask("Hello")
    file = export_agent(agent)
    file["memoryweb"]["agents"]["agent-0"][part] = value
    assert said in refusal(bob, file)


def test_a_later_version_of_our_part_is_left_out(agent: Agent, bob: User) -> None:
    file = export_agent(agent)
    file["memoryweb"]["version"] = 2
    imported = import_agent(bob, file)
    assert noted(imported.notes, "version 2")
