"""What scripts say beside messages and memory: hidden agents, parts of an answer, senders."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from agents.agent_file import export_agent, import_agent
from agents.api.notes import HEADER
from agents.models import Agent
from tests.support.api_client import Api
from tests.support.fake_openai import FakeOpenAI, text
from tests.support.pages import at


def names(found: list[dict[str, Any]]) -> list[str]:
    return [each["name"] for each in found]


def test_a_hidden_agent_is_listed_where_it_is_asked_for(api: Api, web: Client) -> None:
    api.post("/agents/", {"name": "Plain"})
    made = api.post("/agents/", {"name": "Helper", "hidden": True})
    assert (made["hidden"], HEADER in api.last.headers) == (True, False)
    assert names(api.get("/agents/")) == ["Plain"]
    assert names(api.get("/agents/?show_hidden_agents=true")) == ["Helper", "Plain"]
    assert [api.get(f"/agents/count{q}") for q in ("", "?show_hidden_agents=true")] == [1, 2]
    agent = Agent.objects.get(name="Helper")
    page = web.get(at("agents_deleted")).content.decode()
    assert page.count(f'href="{at("agent", agent.pk)}"') == 1, "below, not in the list at the side"
    assert web.get(at("home"))["Location"] != at("agent", agent.pk)
    api.patch(f"/agents/{made['id']}", {"hidden": False})
    assert names(api.get("/agents/")) == ["Helper", "Plain"]


@pytest.mark.parametrize("field", ["include", "include_relationships"])
def test_an_agent_is_shown_with_the_parts_that_are_asked_for(api: Api, field: str) -> None:
    blocks = [{"label": "human", "value": "Bob"}]
    given = {"memory_blocks": blocks, "tags": ["a"], "secrets": {"KEY": "x"}}
    made = api.post("/agents/", given)
    prefix = "agent." if field == "include" else ""
    for path in (f"/agents/{made['id']}", "/agents/", f"/blocks/{made['blocks'][0]['id']}/agents"):
        shown = api.get(f"{path}?{field}={prefix}tags&{field}={prefix}tools")
        assert HEADER not in api.last.headers
        shown = shown[0] if isinstance(shown, list) else shown
        assert (shown["tags"], shown["tools"]) == (["a"], made["tools"])
        assert [shown[each] for each in ("blocks", "secrets", "identities")] == [[], [], []]
        assert shown["memory"]["blocks"] == []
        assert shown["message_ids"] == made["message_ids"]
        whole = api.get(path)
        assert (whole[0] if isinstance(whole, list) else whole)["blocks"] == made["blocks"]
    (wrong,) = api.get(f"/agents/?{field}=agent.colour", expect=422)["detail"]
    assert "no part 'colour'" in wrong["msg"]


def test_who_sent_a_message_is_kept_and_returned(
    api: Api, agent: Agent, bob: User, model_at_once: FakeOpenAI
) -> None:
    model_at_once.script(text("Hello, all."))
    path = f"/agents/agent-{agent.pk}/messages"
    sent = [
        {"role": "user", "content": "I am Ada", "sender_id": "identity-ada"},
        {"role": "user", "content": "I am Bob", "sender_id": "identity-bob"},
    ]
    api.post(path, {"messages": sent})
    assert HEADER not in api.last.headers
    senders = [each["sender_id"] for each in api.get(path) if each["message_type"] != "system"]
    assert senders[1:] == ["identity-ada", "identity-bob", None]
    again = import_agent(bob, export_agent(Agent.objects.get(pk=agent.pk))).agent
    assert [each.sender_id for each in again.messages.all()] == ["identity-ada", "identity-bob", ""]


def test_a_run_says_whether_its_script_waits_for_it(
    api: Api, agent: Agent, model_at_once: FakeOpenAI
) -> None:
    model_at_once.script(text("One."), text("Two."), text("Three."))
    path = f"/agents/agent-{agent.pk}/messages"
    api.post(path, {"input": "Hi"})
    api.post(path, {"input": "Hi", "background": True})
    api.post(f"{path}/async", {"input": "Hi"})
    assert [each["background"] for each in api.get("/runs/?order=asc")] == [False, True, True]
    assert len(api.get("/runs/?background=true")) == 2
    assert len(api.get("/runs/?background=false")) == 1


def test_conversations_share_all_blocks_and_say_so(api: Api, agent: Agent) -> None:
    address = f"/conversations/?agent_id=agent-{agent.pk}"
    api.post(address, {"isolated_block_labels": ["human"]})
    assert api.last.headers[HEADER] == "No effect: isolated_block_labels."
    api.post(address, {"isolated_block_labels": []})
    assert HEADER not in api.last.headers
