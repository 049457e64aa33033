"""Blocks, archival memory and tools by the API: each operation, and each way to be refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from agents.api import ids
from agents.api.errors import Refused
from agents.memory.classes import ChatMemory
from agents.models import Agent, Block, BlockEdit, BlockShare, Event, Passage, Tool
from tests.support.api_client import ADD, NOWHERE, PUSH, Api


@pytest.fixture
def api(settings: Settings, alice: User) -> Api:
    settings.ACCOUNTS = True
    return Api(alice)


@pytest.fixture
def path(agent: Agent) -> str:
    return f"/agents/agent-{agent.pk}"


# -- ids -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [1, 7, 255, 2**31, ids.MOST])
@pytest.mark.parametrize("part", [0, 3, 40])
def test_an_id_leads_back_to_its_row(key: int, part: int) -> None:
    assert ids.part_of("message", ids.numbered("message", key, part)) == (key, part)


@pytest.mark.parametrize("text", ["", "7", "message-7", "message-x", NOWHERE[:-1], "run-\0"])
def test_what_is_no_id_is_not_found(text: str) -> None:
    for read in (ids.key_of, ids.uuid_of):
        with pytest.raises(Refused) as refusal:
            read("message", text)
        assert refusal.value.status == 404


# -- blocks ----------------------------------------------------------------------------------------


def test_a_block_is_made_looked_at_changed_and_deleted(api: Api) -> None:
    made = api.post("/blocks/", {"label": "human", "value": "Name: Bob", "tags": ["a"]})
    assert (made["label"], made["value"], made["limit"]) == ("human", "Name: Bob", 5000)
    address = f"/blocks/{made['id']}"
    assert api.get(address) == made
    change = {"value": "Name: Ann", "limit": 20, "description": "Who", "metadata": {"k": [1]}}
    changed = api.patch(address, change)
    assert {name: changed[name] for name in change} == change
    edit = BlockEdit.objects.get()
    assert (edit.editor_kind, edit.editor_name) == ("api", "alice")
    assert api.delete(address) == {"message": f"Block id={made['id']} successfully deleted"}
    api.get(address, expect=404)


REFUSED_BLOCKS = [
    ({}, "label"),
    ({"label": ""}, "label"),
    ({"label": "a\nb"}, "label"),
    ({"label": "x" * 51}, "label"),
    ({"label": 7}, "label"),
    ({"label": "a", "value": None}, "value"),
    ({"label": "a", "value": "12345", "limit": 4}, "value"),
    ({"label": "a", "limit": 0}, "limit"),
    ({"label": "a", "limit": 10**30}, "limit"),
    ({"label": "a", "tags": "x"}, "tags"),
    ({"label": "a", "metadata": []}, "metadata"),
    ({"label": "a", "description": "x" * 501}, "description"),
]


@pytest.mark.parametrize(("given", "field"), REFUSED_BLOCKS)
def test_a_block_that_cannot_be_is_refused_by_field(api: Api, given: Any, field: str) -> None:
    if given.get("limit") == 10**30:
        api.post("/blocks/", given, expect=400)  # no database holds it
    else:
        wrong = api.post("/blocks/", given, expect=422)["detail"]
        assert wrong[0]["loc"][:2] == ["body", field], wrong
        assert wrong[0]["msg"]
    assert not Block.objects.exists()


def test_a_value_over_the_limit_is_refused_and_nothing_changes(api: Api) -> None:
    made = api.post("/blocks/", {"label": "a", "value": "1234", "limit": 4})
    for change in ({"value": "12345"}, {"limit": 3}, {"value": "123456", "limit": 5}):
        assert api.patch(f"/blocks/{made['id']}", change, expect=422)["detail"]
    assert api.get(f"/blocks/{made['id']}") == made
    assert api.patch(f"/blocks/{made['id']}", {"value": "123456", "limit": 6})["limit"] == 6
    assert api.patch(f"/blocks/{made['id']}", {"value": "12", "limit": 2})["value"] == "12"


def test_a_long_value_without_a_limit_is_taken(api: Api) -> None:
    assert api.post("/blocks/", {"label": "a", "value": "x" * 9000})["limit"] == 18000


def test_blocks_are_listed_by_what_is_asked(api: Api, agent: Agent) -> None:
    api.post("/blocks/", {"label": "human", "value": "Ann", "name": "guest"})
    assert [b["value"] for b in api.get("/blocks/?label=human")] == ["Ann", "Name: Bob"]
    assert [b["value"] for b in api.get("/blocks/?name=guest")] == ["Ann"]
    assert [b["value"] for b in api.get("/blocks/?value_search=bob")] == ["Name: Bob"]
    assert [b["label"] for b in api.get("/blocks/?label_search=PERS")] == ["persona"]
    assert api.get("/blocks/?label=nothing") == []
    assert api.get("/blocks/count") == 3


def test_a_block_that_was_given_may_be_read_and_written_as_it_was_given(
    api: Api, alice: User, bob: User
) -> None:
    block = Block.objects.create(owner=bob, label="team", value="x")
    address = f"/blocks/block-{block.pk}"
    api.get(address, expect=404)
    BlockShare.share(block, alice, can_write=False)
    assert api.get(address)["value"] == "x"
    assert "read" in api.patch(address, {"value": "y"}, expect=422)["detail"][0]["msg"]
    BlockShare.share(block, alice, can_write=True)
    assert api.patch(address, {"value": "y"})["value"] == "y"
    api.patch(address, {"limit": 9}, expect=403)
    api.delete(address, expect=403)


def test_blocks_of_an_agent_by_label(api: Api, agent: Agent, path: str) -> None:
    memory = f"{path}/core-memory"
    assert [b["label"] for b in api.get(f"{memory}/blocks")] == ["persona", "human"]
    assert api.get(f"{memory}/blocks/human")["value"] == "Name: Bob"
    assert api.patch(f"{memory}/blocks/human", {"value": "Name: Eve"})["value"] == "Name: Eve"
    kept = api.get(memory)
    assert kept["blocks"][1]["value"] == "Name: Eve"
    assert "{{ block.value }}" in kept["prompt_template"]
    api.get(f"{memory}/blocks/nothing", expect=404)
    api.patch(f"{memory}/blocks/nothing", {"value": "x"}, expect=404)
    last = Event.objects.order_by("-seq").first()
    assert last is not None
    assert last.kind == Event.Kind.BLOCK_EDITED, "open pages are told"


def test_a_block_is_attached_and_detached(api: Api, agent: Agent, path: str) -> None:
    made = api.post("/blocks/", {"label": "extra", "value": "x"})
    attach, detach = (f"{path}/core-memory/blocks/{v}/{made['id']}" for v in ("attach", "detach"))
    for _ in range(2):
        held = [block["label"] for block in api.patch(attach)["blocks"]]
        assert held == ["persona", "human", "extra"]
    holders = api.get(f"/blocks/{made['id']}/agents")
    assert [each["id"] for each in holders] == [f"agent-{agent.pk}"]
    assert [b["label"] for b in api.patch(detach)["blocks"]] == ["persona", "human"]
    twin = api.post("/blocks/", {"label": "human"})
    refusal = api.patch(f"{path}/core-memory/blocks/attach/{twin['id']}", expect=409)
    assert "already has a block 'human'" in refusal["detail"]


def test_a_deleted_block_leaves_the_agents_that_hold_it(api: Api, agent: Agent) -> None:
    block = agent.core_memory()[0]
    api.delete(f"/blocks/block-{block.pk}")
    assert [block.label for block in agent.core_memory()] == ["human"]


# -- archival memory -------------------------------------------------------------------------------


def test_passages_are_put_away_found_changed_and_deleted(api: Api, path: str) -> None:
    memory = f"{path}/archival-memory"
    (made,) = api.post(memory, {"text": "Bob loves boston terriers", "tags": ["dog"]})
    api.post(memory, {"text": "The key is under the mat", "created_at": "2020-01-01T00:00:00"})
    texts = [passage["text"] for passage in api.get(memory)]
    assert texts == ["The key is under the mat", "Bob loves boston terriers"]
    assert [p["text"] for p in api.get(f"{memory}?search=terriers")] == texts[1:]
    found = api.get(f"{memory}/search?query=terriers&tags=dog")
    assert (found["count"], found["results"][0]["content"]) == (1, texts[1])
    assert api.get(f"{memory}/search?query=terriers&tags=cat&tags=mouse")["count"] == 0
    until = "end_datetime=2021-01-01T00:00:00Z"
    assert api.get(f"{memory}/search?query=terriers%20key&{until}")["count"] == 1
    (changed,) = api.patch(f"{memory}/{made['id']}", {"text": "Bob loves cats", "tags": []})
    assert (changed["id"], changed["text"], changed["tags"]) == (made["id"], "Bob loves cats", [])
    assert Passage.objects.get(text="Bob loves cats").editor_kind == "api"
    api.delete(f"{memory}/{made['id']}")
    api.delete(f"{memory}/{made['id']}", expect=404)
    assert [passage["text"] for passage in api.get(memory)] == texts[:1]


@pytest.mark.parametrize(
    "given", [{}, {"text": ""}, {"text": " \n"}, {"text": 1}, {"text": "x", "tags": [""]},
              {"text": "x" * 100_001}, {"text": "x", "created_at": "yesterday"}]
)  # fmt: skip
def test_a_passage_that_cannot_be_is_refused(api: Api, path: str, given: Any) -> None:
    assert api.post(f"{path}/archival-memory", given, expect=422)["detail"]
    assert not Passage.objects.exists()


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


def test_a_tool_is_made_once_changed_and_deleted(api: Api, agent: Agent, path: str) -> None:
    made = api.post("/tools/", {"source_code": PUSH, "tags": ["queue"], "return_char_limit": 99999})
    assert (made["tags"], made["return_char_limit"]) == (["queue"], 50000)
    assert "already" in api.post("/tools/", {"source_code": PUSH}, expect=409)["detail"]
    address = f"/tools/{made['id']}"
    api.patch(f"{path}/tools/attach/{made['id']}")
    renamed = api.patch(address, {"source_code": PUSH.replace("task_queue_push", "push")})
    assert renamed["name"] == api.get(address)["name"] == "push"
    assert [tool["name"] for tool in api.get(f"{path}/tools")][-1] == "push"
    assert api.delete(address) is None
    api.get(address, expect=404)
    assert "push" not in [tool["name"] for tool in api.get(path)["tools"]]
    assert not Tool.objects.exists()


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


def test_an_agents_tools_are_attached_and_detached(api: Api, agent: Agent, path: str) -> None:
    sent = next(t for t in api.get("/tools/?name=send_message"))
    assert sent["name"] in [
        t["name"] for t in api.patch(f"{path}/tools/attach/{sent['id']}")["tools"]
    ]
    held = [tool["name"] for tool in api.get(f"{path}/tools")]
    assert held[-1] == "send_message"
    asked = api.patch(f"{path}/tools/approval/send_message", {"requires_approval": True})
    assert asked["tool_rules"][0]["type"] == "requires_approval"
    asked = api.patch(f"{path}/tools/approval/send_message", {"requires_approval": False})
    assert asked["tool_rules"] == []
    gone = api.patch(f"{path}/tools/detach/{sent['id']}")["tools"]
    assert [tool["name"] for tool in gone] == held[:-1]
    api.patch(f"{path}/tools/attach/tool-{NOWHERE}", expect=404)
    api.patch(f"{path}/tools/approval/nothing", {"requires_approval": True}, expect=404)


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
