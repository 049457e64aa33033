"""Tools and models by the API: each operation, and each way to be refused."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import User

from agents.memory.classes import ChatMemory
from agents.models import Agent, Block, Tool
from tests.support.api_client import ADD, NOWHERE, PUSH, Api

# -- tools -----------------------------------------------------------------------------------------


def test_upsert_reads_everything_off_the_source_and_keeps_the_id(api: Api) -> None:
    made = api.put("/tools/", {"source_code": PUSH, "args_json_schema": None})
    assert (made["name"], made["tool_type"]) == ("task_queue_push", "custom")
    assert made["description"] == "Push to a task queue stored in core memory."
    parameters = made["json_schema"]["parameters"]
    assert list(parameters["properties"]) == parameters["required"] == ["task_description"]
    again = api.put("/tools/", {"source_code": PUSH.replace("core memory", "memory")})
    assert again["id"] == made["id"]
    assert again["description"] == "Push to a task queue stored in memory."


def test_a_tool_is_made_once_changed_and_deleted(api: Api, agent: Agent, agent_path: str) -> None:
    made = api.post("/tools/", {"source_code": PUSH, "tags": ["queue"], "return_char_limit": 99999})
    assert (made["tags"], made["return_char_limit"]) == (["queue"], 50000)
    assert api.post("/tools/", {"source_code": PUSH})["id"] == made["id"]
    address = f"/tools/{made['id']}"
    api.patch(f"{agent_path}/tools/attach/{made['id']}")
    renamed = api.patch(address, {"source_code": PUSH.replace("task_queue_push", "push")})
    assert renamed["name"] == api.get(address)["name"] == "push"
    assert [tool["name"] for tool in api.get(f"{agent_path}/tools")][-1] == "push"
    assert api.delete(address) is None
    api.get(address, expect=404)
    assert "push" not in [tool["name"] for tool in api.get(agent_path)["tools"]]
    assert not Tool.objects.exists()


def test_letta_s_tools_are_listed_with_their_types(api: Api, agent_path: str) -> None:
    types = {tool["name"]: tool["tool_type"] for tool in api.get("/tools/?limit=100")}
    assert types["memory"] == "letta_memory_core"
    assert types["memory_insert"] == "letta_sleeptime_core"
    assert types["fetch_webpage"] == "letta_builtin"
    assert types["open_files"] == "letta_files_core"
    assert types["send_message_to_agent_async"] == "letta_multi_agent_core"
    assert types["store_memories"] == "letta_voice_sleeptime_core"
    made = api.post("/agents/", {"tools": ["memory", "web_search", "run_code", "open_files"]})
    names = [tool["name"] for tool in made["tools"]]
    assert {"memory", "web_search", "run_code", "open_files"} <= {*names}
    [files] = api.get("/tools/?name=open_files")
    assert "not set up" in files["metadata_"]["not_set_up"]


def test_a_tool_of_ones_own_goes_before_one_that_yields(api: Api) -> None:
    source = ADD.replace("def add(", "def web_search(")
    made = api.post("/tools/", {"source_code": source})
    assert made["name"] == "web_search"
    assert [tool["id"] for tool in api.get("/tools/?name=web_search")] == [made["id"]]
    agent = api.post("/agents/", {"tools": ["web_search"], "include_base_tools": False})
    assert [tool["id"] for tool in agent["tools"]] == [made["id"]]


REFUSED_SOURCES = [
    "",
    "x = 1",
    "def f(:",
    "def f(x):\n    return x\n",
    "def send_message(m: str):\n    '''S.'''\n",
]


@pytest.mark.parametrize("source", REFUSED_SOURCES)
@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_what_is_no_tool_is_refused_in_words(api: Api, method: str, source: str) -> None:
    answer = api.ask(method, "/tools/", {"source_code": source}, expect=422)
    assert answer["detail"][0]["msg"]
    assert not Tool.objects.exists()


def test_a_tool_in_another_language_is_refused(api: Api) -> None:
    given = {"source_code": "function f() {}", "source_type": "typescript"}
    assert "Python" in api.put("/tools/", given, expect=422)["detail"][0]["msg"]


def test_tools_are_listed_with_those_that_come_along(api: Api) -> None:
    made = api.put("/tools/", {"source_code": PUSH})
    listed = api.get("/tools/?limit=100")
    assert listed[0]["id"] == made["id"]
    names = [tool["name"] for tool in listed]
    assert {"send_message", "archival_memory_search", "core_memory_append"} <= set(names)
    assert len({tool["id"] for tool in listed}) == len(listed) == api.get("/tools/count")
    assert [t["name"] for t in api.get("/tools/?name=send_message")] == ["send_message"]
    assert [t["id"] for t in api.get("/tools/?tool_types=custom")] == [made["id"]]
    assert made["id"] not in [t["id"] for t in api.get("/tools/?return_only_letta_tools=true")]
    assert len(api.get("/tools/?names=send_message&names=conversation_search")) == 2
    assert api.post("/tools/add-base-tools") == listed[1:]
    sent = next(tool for tool in listed if tool["name"] == "send_message")
    assert api.get(f"/tools/{sent['id']}") == sent
    assert "cannot be changed" in api.delete(f"/tools/{sent['id']}", expect=403)["detail"]


def test_an_agents_tools_are_attached_and_detached(api: Api, agent: Agent, agent_path: str) -> None:
    sent = next(t for t in api.get("/tools/?name=send_message"))
    assert sent["name"] in [
        t["name"] for t in api.patch(f"{agent_path}/tools/attach/{sent['id']}")["tools"]
    ]
    held = [tool["name"] for tool in api.get(f"{agent_path}/tools")]
    assert held[-1] == "send_message"
    asked = api.patch(f"{agent_path}/tools/approval/send_message", {"requires_approval": True})
    assert asked["tool_rules"][0]["type"] == "requires_approval"
    asked = api.patch(f"{agent_path}/tools/approval/send_message", {"requires_approval": False})
    assert asked["tool_rules"] == []
    gone = api.patch(f"{agent_path}/tools/detach/{sent['id']}")["tools"]
    assert [tool["name"] for tool in gone] == held[:-1]
    api.patch(f"{agent_path}/tools/attach/tool-{NOWHERE}", expect=404)
    api.patch(f"{agent_path}/tools/approval/nothing", {"requires_approval": True}, expect=404)


def test_a_function_is_run_and_nothing_of_it_kept(api: Api, alice: User) -> None:
    made = Agent.create(alice, "Tasks", ChatMemory())
    block = Block.objects.create(owner=alice, label="tasks", value="[]")
    made.attach(block)
    asked = {"source_code": PUSH, "args": {"task_description": "x"}, "agent_id": f"agent-{made.pk}"}
    assert api.post("/tools/run", asked)["tool_return"] == "None"
    block.refresh_from_db()
    assert block.value == "[]"
    failed = api.post("/tools/run", asked | {"args": {"wrong": 1}})
    assert failed["status"] == "error"
    assert "wrong" in failed["tool_return"]
    ran = api.post("/tools/run", {"source_code": ADD, "args": {"a": 1, "b": 2}})
    assert (ran["tool_return"], ran["status"]) == ("3", "success")
    assert "".join(ran["stdout"]).strip() == "adding"


# -- what there is ---------------------------------------------------------------------------------


def test_what_there_is(api: Api, agent: Agent) -> None:
    assert api.get("/models/")[0]["handle"] == "demo/memoryweb-demo"
    assert api.get("/models/embedding") == api.get("/models/embeddings") == []
    for name in ("b", "a"):
        api.post("/agents/", {"memory_blocks": [], "tags": [name, "all"]})
    assert api.get("/tags/") == ["a", "all", "b"]
    assert api.get("/tags/?after=a&limit=1") == ["all"]
    assert api.get("/tags/?query_text=l") == ["all"]
    assert json.dumps(api.get("/openapi.json"))
