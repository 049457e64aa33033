"""Secrets of an agent: read by its custom tools, stored encrypted, shown to nobody."""

from __future__ import annotations

import json

from django.db import connection
from django.test import Client
from pytest_django import Settings

from agents.models import Agent
from tests.support.api_client import Api
from tests.support.fake_openai import FakeOpenAI, calls, text

TOOL = '''
def key_length():
    """Tell how long the key is."""
    import os
    return f"{len(os.getenv('KEY', ''))} {os.environ.get('OTHER')} {os.getenv('NONE')}"
'''
VALUE = "swordfish-4711"


def test_a_custom_tool_reads_the_agents_secrets_which_nobody_sees(
    api: Api, model_at_once: FakeOpenAI
) -> None:
    tool = api.put("/tools/", {"source_code": TOOL})["id"]
    given = {"agent_type": "react_agent", "tool_ids": [tool]}
    made = api.post("/agents/", given | {"secrets": {"KEY": VALUE, "OTHER": "o"}})
    shown = [(each["key"], each["value"]) for each in made["secrets"]]
    assert shown == [("KEY", "********"), ("OTHER", "********")]
    assert made["tool_exec_environment_variables"] == made["secrets"]
    path = f"/agents/{made['id']}"
    model_at_once.script(calls(("key_length", {})), text("Done."))
    answer = api.post(f"{path}/messages", {"input": "Hi"})
    returned = next(m for m in answer["messages"] if m["message_type"] == "tool_return_message")
    assert returned["tool_return"] == f"{len(VALUE)} o None"
    everything = json.dumps([api.get(path), api.get(f"{path}/export"), api.get("/agents/")])
    assert VALUE not in everything + json.dumps(model_at_once.requests)
    with connection.cursor() as cursor:
        cursor.execute("SELECT secrets FROM agents_agent")
        assert VALUE not in str(cursor.fetchall())


def test_secrets_are_replaced_and_deleted(api: Api, settings: Settings) -> None:
    path = f"/agents/{api.post('/agents/', {'secrets': {'A': '1', 'B': '2'}})['id']}"
    assert [each["key"] for each in api.patch(path, {"name": "x"})["secrets"]] == ["A", "B"]
    older = {"tool_exec_environment_variables": {"C": "3"}}
    assert [each["key"] for each in api.patch(path, older)["secrets"]] == ["C"]
    assert api.patch(path, {"secrets": {}})["secrets"] == []
    assert Agent.objects.get().secrets == {}


def test_a_secret_that_cannot_be_is_refused(api: Api) -> None:
    for wrong in ({"A B": "1"}, {"A": "x" * 10_001}, {f"A{n}": "" for n in range(51)}, {"A": 1}):
        detail = api.post("/agents/", {"secrets": wrong}, expect=422)["detail"]
        assert detail[0]["loc"][:2] == ["body", "secrets"]


def test_a_secret_of_another_key_is_told_to_the_script_and_to_the_tool(
    api: Api, model_at_once: FakeOpenAI, settings: Settings
) -> None:
    tool = api.put("/tools/", {"source_code": TOOL})["id"]
    given = {"agent_type": "react_agent", "tool_ids": [tool], "secrets": {"KEY": VALUE}}
    path = f"/agents/{api.post('/agents/', given)['id']}"
    assert api.get(path)["secrets"][0]["description"] is None
    settings.SECRET_KEY = "another one"
    told = api.get(path)["secrets"][0]
    assert "enter it anew" in told["description"]
    model_at_once.script(calls(("key_length", {})), text("I cannot."))
    answer = api.post(f"{path}/messages", {"input": "Hi"})
    returned = next(m for m in answer["messages"] if m["message_type"] == "tool_return_message")
    assert "the secret KEY cannot be read with the present key" in returned["tool_return"]
    assert returned["status"] == "error"


def test_the_admin_does_not_show_them(desk: Client, agent: Agent) -> None:
    agent.configure(secrets={"KEY": "sealed-text"})
    page = desk.get(f"/admin/agents/agent/{agent.pk}/change/")
    assert page.status_code == 200
    assert "sealed-text" not in page.content.decode()
