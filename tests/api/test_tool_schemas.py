"""What scripts send of a tool beside its source: all of it acts, or is refused by its name."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, Field

from agents.models import Agent, Block, Tool
from tests.support.api_client import ADD, PUSH, Api
from tests.support.fake_openai import FakeOpenAI, calls, text

BARE = "def greet(name, times=2):\n    return f'Hello {name}! ' * times\n"


class Greeting(BaseModel):
    name: str = Field(description="Whom")
    times: int = Field(2, description="How often")


PARAMETERS = {
    "type": "object",
    "properties": {"name": {"type": "string", "description": "Whom"}},
    "required": ["name"],
}
SCHEMA = {"name": "greet", "description": "Greets people", "parameters": PARAMETERS}


def fault(answer: dict[str, Any]) -> tuple[str, str]:
    [error] = answer["detail"]
    return error["loc"][-1], error["msg"]


def test_a_json_schema_says_what_a_source_does_not(api: Api, agent_path: str) -> None:
    tool = api.post("/tools/", {"source_code": BARE, "json_schema": SCHEMA})

    assert tool["json_schema"] == SCHEMA
    assert (tool["name"], tool["description"]) == ("greet", "Greets people")
    api.patch(f"{agent_path}/tools/attach/{tool['id']}")
    ran = api.post(f"{agent_path}/tools/greet/run", {"args": {"name": "Bob"}})
    assert ran["func_return"] == "Hello Bob! Hello Bob! "


def test_a_json_schema_may_name_another_function_of_the_source(api: Api) -> None:
    source = f"{BARE}\ndef other():\n    pass\n"
    assert api.post("/tools/", {"source_code": source, "json_schema": SCHEMA})["name"] == "greet"
    wrong = SCHEMA | {"name": "nobody"}
    refused = api.post("/tools/", {"source_code": source, "json_schema": wrong}, expect=422)
    assert fault(refused)[0] == "source_code"
    assert "no function 'nobody'" in fault(refused)[1]


def test_the_schema_of_a_pydantic_model_describes_the_arguments(api: Api) -> None:
    schema = Greeting.model_json_schema()
    tool = api.put("/tools/", {"source_code": BARE, "args_json_schema": schema})

    properties = tool["json_schema"]["parameters"]["properties"]
    assert properties["times"] == {"type": "integer", "default": 2, "description": "How often"}
    assert tool["description"] == "The greet tool"
    assert tool["args_json_schema"]["properties"]["name"]["description"] == "Whom"


def test_a_description_goes_before_the_docstring_until_it_is_taken_away(api: Api) -> None:
    tool = api.put("/tools/", {"source_code": ADD, "description": "Sums up"})
    assert tool["description"] == tool["json_schema"]["description"] == "Sums up"
    address = f"/tools/{tool['id']}"
    assert api.patch(address, {"tags": ["x"]})["description"] == "Sums up"
    assert api.patch(address, {"description": ""})["description"] == "Add."


def test_an_upsert_without_a_schema_reads_the_source_again(api: Api) -> None:
    first = api.put(
        "/tools/",
        {
            "source_code": ADD,
            "json_schema": api.put("/tools/", {"source_code": ADD})["json_schema"]
            | {"description": "Old"},
        },
    )
    assert first["description"] == "Old"
    assert api.put("/tools/", {"source_code": ADD})["description"] == "Add."


def test_a_change_keeps_the_schema_that_was_sent(api: Api) -> None:
    tool = api.post("/tools/", {"source_code": BARE, "json_schema": SCHEMA})
    address = f"/tools/{tool['id']}"

    assert api.patch(address, {"source_code": BARE.replace("Hello", "Hi")})["json_schema"] == SCHEMA
    renamed = SCHEMA | {"name": "welcome"}
    source = BARE.replace("greet", "welcome")
    changed = api.patch(address, {"source_code": source, "json_schema": renamed})
    assert (changed["name"], changed["id"]) == ("welcome", tool["id"])
    both = {"json_schema": renamed, "args_json_schema": PARAMETERS}
    assert fault(api.patch(address, both, expect=422))[0] == "args_json_schema"
    refused = api.patch(address, {"source_code": "def f(x):\n    pass"}, expect=422)
    assert fault(refused)[0] == "json_schema"


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"pip_requirements": [{"name": "requests"}]}, "pip_requirements"),
        ({"npm_requirements": [{"name": "left-pad"}]}, "npm_requirements"),
        ({"source_type": "typescript", "json_schema": SCHEMA}, "source_type"),
        ({"json_schema": {"name": 3}}, "json_schema"),
        ({"json_schema": SCHEMA | {"parameters": {"type": "object"}}}, "json_schema"),
        ({"args_json_schema": {"type": "object", "properties": {"x": {}}}}, "args_json_schema"),
        ({"source_code": BARE}, "source_code"),
        ({"tags": [""]}, "tags"),
    ],
)
def test_what_cannot_be_is_refused_by_its_name(api: Api, sent: dict[str, Any], field: str) -> None:
    whole = {"source_code": BARE, **sent}
    for method in (api.post, api.put):
        refused = method("/tools/", whole, expect=422)
        assert field in refused["detail"][0]["loc"]
    tool = api.put("/tools/", {"source_code": ADD})
    change = {"source_code": BARE, **sent}
    assert field in api.patch(f"/tools/{tool['id']}", change, expect=422)["detail"][0]["loc"]


def test_empty_requirements_and_notes_are_taken(api: Api) -> None:
    sent: dict[str, Any] = {"pip_requirements": [], "npm_requirements": None}
    sent["enable_parallel_execution"] = True
    tool = api.put("/tools/", {"source_code": ADD, "metadata_": {"team": "a"}, **sent})
    assert tool["metadata_"] == {"team": "a"}
    changed = api.patch(f"/tools/{tool['id']}", {"metadata_": {"team": "b"}})
    assert changed["metadata_"] == {"team": "b"}


def test_a_tool_that_needs_approval_waits_in_a_run(
    api: Api, agent: Agent, agent_path: str, model_at_once: FakeOpenAI
) -> None:
    sent = {"source_code": BARE, "json_schema": SCHEMA, "default_requires_approval": True}
    tool = api.post("/tools/", sent)
    api.patch(f"{agent_path}/tools/attach/{tool['id']}")
    model_at_once.script(calls(("greet", {"name": "Bob"})), text("Done."))
    answer = api.post(f"{agent_path}/messages", {"input": "Greet Bob"})
    assert answer["stop_reason"]["stop_reason"] == "requires_approval"


def test_a_long_return_is_cut_in_the_words_that_scripts_look_for(api: Api, agent_path: str) -> None:
    sent = {"source_code": BARE, "json_schema": SCHEMA, "return_char_limit": 10}
    tool = api.post("/tools/", sent)
    api.patch(f"{agent_path}/tools/attach/{tool['id']}")
    ran = api.post(f"{agent_path}/tools/greet/run", {"args": {"name": "Bob"}})
    assert ran["func_return"] == (
        "Hello Bob!... [NOTE: function output was truncated since it exceeded the character limit:"
        " 22 > 10]"
    )


# -- called by a script ----------------------------------------------------------------------------


def test_an_agents_tool_is_called_and_what_it_changes_is_kept(
    api: Api, agent: Agent, agent_path: str
) -> None:
    agent.attach(Block.objects.create(owner=agent.owner, label="tasks", value="[]"))
    tool = api.put("/tools/", {"source_code": PUSH})
    api.patch(f"{agent_path}/tools/attach/{tool['id']}")

    run = f"{agent_path}/tools/task_queue_push/run"
    ran = api.post(run, {"args": {"task_description": "x"}})

    assert (ran["status"], ran["func_return"], ran["stderr"]) == ("success", "None", [])
    block = agent.block("tasks")
    assert block is not None
    assert block.value == '["x"]'
    assert ran["agent_state"]["id"] == f"agent-{agent.pk}"
    assert block.edits.get().editor_kind == "api"


def test_a_built_in_tool_is_called_as_well(api: Api, agent: Agent, agent_path: str) -> None:
    run = f"{agent_path}/tools/core_memory_append/run"
    ran = api.post(run, {"args": {"label": "human", "content": "Likes pie"}})
    assert ran["status"] == "success"
    human = agent.block("human")
    assert human is not None
    assert human.value.endswith("Likes pie")
    failed = api.post(run, {"args": {"label": "dog", "content": "x"}})
    assert failed["status"] == "error"
    assert failed["func_return"].startswith("Error executing function core_memory_append: There is")
    assert failed["stderr"] == [failed["func_return"]]
    assert "missing" in api.post(run)["func_return"]


def test_a_tool_that_fails_changes_nothing_and_says_where(api: Api, agent_path: str) -> None:
    source = "def boom(x):\n    print('hm')\n    return 1 / x\n"
    schema = {"type": "object", "properties": {"x": {"type": "integer"}}}
    tool = api.put("/tools/", {"source_code": source, "args_json_schema": schema})
    api.patch(f"{agent_path}/tools/attach/{tool['id']}")
    ran = api.post(f"{agent_path}/tools/boom/run", {"args": {"x": 0}})
    assert ran["func_return"] == (
        "Error executing function boom: ZeroDivisionError: division by zero (line 3 of its source);"
        " nothing was changed"
    )
    assert ran["stdout"] == ["hm\n"]


def test_a_tool_that_is_not_attached_or_only_speaks_cannot_be_called(
    api: Api, agent_path: str
) -> None:
    detail = api.post(f"{agent_path}/tools/nobody/run", expect=404)["detail"]
    assert "not found or not attached" in detail
    [send] = api.get("/tools/?name=send_message")
    api.patch(f"{agent_path}/tools/attach/{send['id']}")
    ran = api.post(f"{agent_path}/tools/send_message/run", {"args": {"message": "Hi"}})
    assert (ran["status"], "in a run" in ran["func_return"]) == ("error", True)


def test_a_function_that_is_run_once_may_bring_its_schema(api: Api) -> None:
    sent = {"source_code": BARE, "json_schema": SCHEMA, "args": {"name": "Bob"}}
    assert api.post("/tools/run", sent)["tool_return"] == "Hello Bob! Hello Bob! "
    assert not Tool.objects.exists()
    refused = api.post("/tools/run", sent | {"env_vars": {"KEY": "x"}}, expect=422)
    assert fault(refused)[0] == "env_vars"


# -- searched for ----------------------------------------------------------------------------------


def test_tools_are_found_by_words_the_best_first(api: Api) -> None:
    made = api.post("/tools/", {"source_code": ADD, "tags": ["sums"], "description": "Search sums"})
    found = api.post("/tools/search", {"query": "search the web"})
    assert found[0]["tool"]["name"] == "web_search"
    assert found[0]["fts_rank"] == 1
    assert found[0]["combined_score"] > found[1]["combined_score"]
    names = [each["tool"]["name"] for each in found]
    assert {"archival_memory_search", "conversation_search", "add"} <= {*names}
    assert "send_message" not in names
    tagged = api.post("/tools/search", {"tags": ["sums"]})
    assert [each["tool"]["id"] for each in tagged] == [made["id"]]
    typed = api.post("/tools/search", {"tool_types": ["letta_builtin"], "limit": 2})
    assert [each["tool"]["tool_type"] for each in typed] == ["letta_builtin"] * 2
    assert api.post("/tools/search", {"query": "zzzz"}) == []
    refused = api.post("/tools/search", {"query": "x", "search_mode": "vector"}, expect=422)
    assert fault(refused)[0] == "search_mode"
