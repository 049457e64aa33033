"""Agents by the API: made in every way the SDKs know, listed, changed, deleted."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from agents.api.built_in_tools import BASE_TOOLS
from agents.models import Agent, Event, Message
from tests.support.api_client import NOWHERE, PUSH, Api, execute_at_once
from tests.support.fake_openai import FakeOpenAI, text


def names(agent: dict[str, Any]) -> list[str]:
    return [tool["name"] for tool in agent["tools"]]


# -- made ------------------------------------------------------------------------------------------


def test_an_agent_is_made_with_everything(api: Api, model: FakeOpenAI) -> None:
    model.models.append("gpt-4o-mini")
    tool = api.put("/tools/", {"source_code": PUSH})
    block = api.post("/blocks/", {"label": "team", "value": "We are four"})
    made = api.post(
        "/agents/",
        {
            "name": "task_agent",
            "description": "It does tasks",
            "system": "You clear your tasks.",
            "memory_blocks": [
                {"label": "human", "value": "My name is Sarah", "limit": 10000},
                {"label": "tasks", "value": "[]"},
            ],
            "block_ids": [block["id"]],
            "tool_ids": [tool["id"]],
            "tools": ["memory_rethink"],
            "model": "openai/gpt-4o-mini",
            "embedding": "openai/text-embedding-3-small",
            "tool_rules": [{"type": "exit_loop", "tool_name": "send_message", "prompt": None}],
            "tags": ["work", "home"],
            "metadata": {"k": {"deep": [1, None]}},
            "context_window_limit": 16000,
            "initial_message_sequence": [
                {"role": "user", "content": "Hi"},
                {"role": "assistant", "content": [{"type": "text", "text": "Hello!"}]},
            ],
            "a_field_of_tomorrow": 1,
        },
    )
    assert made["name"] == "task_agent"
    assert made["system"] == "You clear your tasks."
    assert [(b["label"], b["limit"]) for b in made["memory"]["blocks"]] == [
        ("human", 10000),
        ("tasks", 5000),
        ("team", 5000),
    ]
    assert made["blocks"] == made["memory"]["blocks"]
    assert names(made) == [*BASE_TOOLS, "memory_rethink", "task_queue_push"]
    assert (made["model"], made["embedding"]) == (
        "openai/gpt-4o-mini",
        "openai/text-embedding-3-small",
    )
    assert made["llm_config"]["context_window"] == made["context_window_limit"] == 16000
    assert made["tags"] == ["home", "work"]
    assert made["metadata"] == {"k": {"deep": [1, None]}}
    assert made["tool_rules"][0]["tool_name"] == "send_message"
    assert len(made["message_ids"]) == 3, "the system message first"
    assert api.get(f"/agents/{made['id']}") == made
    said = api.get(f"/agents/{made['id']}/messages")
    assert [(m["message_type"], m["content"]) for m in said[1:]] == [
        ("user_message", "Hi"),
        ("assistant_message", "Hello!"),
    ]
    assert Event.objects.filter(kind=Event.Kind.AGENT_CHANGED).exists(), "pages are told"


def test_what_an_agent_begins_with_stands_in_its_transcript(api: Api, alice: User) -> None:
    given = [("system", "It is Monday."), ("user", "Hi"), ("assistant", "Hello, *you*!")]
    sequence = [{"role": role, "content": content} for role, content in given]
    made = api.post("/agents/", {"initial_message_sequence": sequence})
    client = Client()
    client.force_login(alice)
    page = client.get(f"/agents/{made['id'].removeprefix('agent-')}/").content.decode()
    assert re.findall(r'class="message (\w+)"', page) == [role for role, _ in given]
    assert "It is Monday." in page
    assert "Hello, <em>you</em>!" in page


def test_an_agent_is_made_of_nothing(api: Api) -> None:
    made = api.post("/agents/", {})
    assert made["name"]
    assert names(made) == BASE_TOOLS
    assert made["agent_type"] == "memgpt_v2_agent"
    assert (made["blocks"], made["tags"], len(made["message_ids"])) == ([], [], 1)


def test_just_the_tools_that_were_asked_for(api: Api) -> None:
    asked = {"include_base_tools": False, "tools": ["send_message"], "memory_blocks": []}
    assert names(api.post("/agents/", asked)) == ["send_message"]
    assert names(api.post("/agents/", {"include_base_tools": False})) == []
    plain = api.post("/agents/", {"agent_type": "letta_v1_agent"})
    assert names(plain) == ["conversation_search", "memory_insert", "memory_replace"]
    assert plain["agent_type"] == "letta_v1_agent"


REFUSED = [
    ({"name": "x" * 101}, "name"),
    ({"name": 5}, "name"),
    ({"memory_blocks": {}}, "memory_blocks"),
    ({"memory_blocks": [{"label": "a"}, {"label": "a"}]}, "memory_blocks"),
    ({"memory_blocks": [{"value": "x"}]}, "memory_blocks"),
    ({"tools": ["no_such_tool"]}, "tools"),
    ({"tool_rules": [{"type": "no_such_rule", "tool_name": "send_message"}]}, "tool_rules"),
    ({"tool_rules": [{"type": "exit_loop", "tool_name": "no_such_tool"}]}, "tool_rules"),
    ({"context_window_limit": 10}, "context_window_limit"),
    ({"tags": [""]}, "tags"),
    ({"system": 1}, "system"),
    ({"initial_message_sequence": [{"role": "user", "content": ""}]}, "initial_message_sequence"),
    ({"llm_config": {"context_window": 10}}, "llm_config"),
    ({"llm_config": {"handle": {"a": 1}}}, "llm_config"),
]


@pytest.mark.parametrize(("given", "field"), REFUSED)
def test_an_agent_that_cannot_be_is_refused_by_field(api: Api, given: Any, field: str) -> None:
    wrong = api.post("/agents/", given, expect=422)["detail"]
    assert wrong[0]["loc"][:2] == ["body", field], wrong
    assert not Agent.objects.exists()


def test_what_an_agent_is_made_of_must_be_there(api: Api) -> None:
    for field, noun in (("tool_ids", "tool"), ("block_ids", "block")):
        api.post("/agents/", {field: [f"{noun}-{NOWHERE}"]}, expect=404)
        api.post("/agents/", {field: ["nonsense"]}, expect=404)
    block = api.post("/blocks/", {"label": "human"})
    twice = {"memory_blocks": [{"label": "human"}], "block_ids": [block["id"]]}
    assert "already has" in api.post("/agents/", twice, expect=409)["detail"]
    assert not Agent.objects.exists()


# -- looked at -------------------------------------------------------------------------------------


def make(api: Api, count: int, **given: Any) -> list[str]:
    """Some agents, the newest first."""
    made = [api.post("/agents/", {"name": f"a{n}", **given})["id"] for n in range(count)]
    return made[::-1]


def ids_at(api: Api, path: str) -> list[str]:
    return [each["id"] for each in api.get(path)]


def test_a_list_is_gone_through_to_its_end_both_ways(api: Api) -> None:
    made = make(api, 5)
    for order, wanted in (("desc", made), ("asc", made[::-1])):
        seen: list[str] = []
        while part := ids_at(
            api, f"/agents/?limit=2&order={order}" + (f"&after={seen[-1]}" if seen else "")
        ):
            seen += part
        assert seen == wanted
        assert ids_at(api, f"/agents/?limit=2&order={order}&before={wanted[4]}") == wanted[2:4]
        assert ids_at(api, f"/agents/?limit=2&order={order}&before={wanted[0]}") == []
    assert ids_at(api, f"/agents/?after={made[0]}&before={made[3]}") == made[1:3]
    assert ids_at(api, f"/agents/?after=agent-{NOWHERE}") == []
    assert api.get("/agents/count") == 5


def test_agents_are_found_by_name_and_tags(api: Api) -> None:
    one = api.post("/agents/", {"name": "task_agent", "tags": ["a", "b"]})["id"]
    two = api.post("/agents/", {"name": "task_agent_2", "tags": ["b"]})["id"]
    assert ids_at(api, "/agents/?name=task_agent") == [one]
    assert ids_at(api, "/agents/?query_text=TASK") == [two, one]
    assert ids_at(api, "/agents/?tags=a&tags=b") == [two, one]
    assert ids_at(api, "/agents/?tags=a&tags=b&match_all_tags=true") == [one]
    assert ids_at(api, "/agents/?identity_id=identity-1") == []
    api.get("/agents/?limit=0", expect=422)
    api.get("/agents/?order=sideways", expect=422)


def test_a_list_costs_no_more_queries_for_more_agents_than_those_of_each(api: Api) -> None:
    def queries(count: int) -> int:
        make(api, count, memory_blocks=[{"label": "human"}])
        with CaptureQueriesContext(connection) as caught:
            assert len(api.get("/agents/?limit=50")) == Agent.objects.count()
        return len(caught)

    few = queries(1)
    assert queries(4) - few <= 4 * 2 + 1  # what it was said and when it ran last, of each


def test_both_spellings_of_an_address_are_answered(api: Api) -> None:
    made = api.post("/agents", {})["id"]
    assert ids_at(api, "/agents") == ids_at(api, "/agents/") == [made]
    assert api.get(f"/agents/{made}/") == api.get(f"/agents/{made}")
    api.get(f"/agents/{made.removeprefix('agent-')}")


# -- changed, deleted ------------------------------------------------------------------------------


def test_an_agent_is_changed(api: Api) -> None:
    made = api.post("/agents/", {"memory_blocks": [{"label": "human"}, {"label": "old"}]})
    address = f"/agents/{made['id']}"
    extra = api.post("/blocks/", {"label": "extra"})
    human = made["blocks"][0]["id"]
    sent = api.get("/tools/?name=send_message")[0]["id"]
    change = {
        "name": "Renamed",
        "description": "d",
        "system": "s",
        "model": "letta/letta-free",
        "tags": ["t"],
        "metadata": {"a": 1},
        "context_window_limit": 9000,
        "block_ids": [extra["id"], human],
        "tool_ids": [sent],
        "tool_rules": [{"type": "exit_loop", "tool_name": "send_message"}],
    }
    changed = api.patch(address, change)
    for field in ("name", "description", "system", "model", "tags", "metadata"):
        assert changed[field] == change[field]
    assert [block["label"] for block in changed["blocks"]] == ["human", "extra"]
    assert names(changed) == ["send_message"]
    assert names(api.patch(address, {"tool_ids": []})) == []
    assert api.get(address)["tool_rules"] == []
    assert api.patch(address, {})["name"] == "Renamed"
    for wrong in ({"name": "x" * 101}, {"tool_rules": [{"type": "x"}]}, {"tags": [1]}):
        api.patch(address, wrong, expect=422)
    api.patch(address, {"name": "Kept?", "block_ids": [f"block-{NOWHERE}"]}, expect=404)
    assert api.get(address)["name"] == "Renamed", "all of a change, or nothing"


def test_a_deleted_agent_can_be_brought_back_in_the_page(api: Api, alice: User) -> None:
    made = api.post("/agents/", {})["id"]
    assert made in api.delete(f"/agents/{made}")["message"]
    api.get(f"/agents/{made}", expect=404)
    api.delete(f"/agents/{made}", expect=404)
    assert api.get("/agents/") == []
    assert Agent.objects.trashed_by(alice).count() == 1


def test_a_first_message_is_seen_by_the_model(
    api: Api, model: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    execute_at_once(monkeypatch)
    first = [{"role": "user", "content": "I am Ann"}, {"role": "assistant", "content": "Hello Ann"}]
    asked = {"agent_type": "letta_v1_agent", "initial_message_sequence": first}
    made = api.post("/agents/", asked)["id"]
    model.script(text("Ann"))
    api.post(f"/agents/{made}/messages", {"input": "Who am I?"})
    said = [m["content"] for m in model.requests[-1]["messages"][1:]]
    assert said == ["I am Ann", "Hello Ann", "Who am I?"]
    assert Message.objects.count() == 4
