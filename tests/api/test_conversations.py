"""Conversations by the API, as the newest SDK asks for them."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from agents.models import Agent, Conversation
from tests.support.api_client import NOWHERE, Api, kinds, say
from tests.support.fake_openai import FakeOpenAI, calls, text


@pytest.fixture
def agent_id(plain: str) -> str:
    return plain.rpartition("/")[2]


@pytest.fixture
def conversation(api: Api, agent_id: str) -> str:
    """The path of a second conversation of an agent."""
    return f"/conversations/{api.post(f'/conversations/?agent_id={agent_id}')['id']}"


def test_a_conversation_is_made_changed_listed_and_deleted(api: Api, agent_id: str) -> None:
    new = {"summary": "About pie", "model": "openai/fake-model", "context_window_limit": 9000}
    made = api.post(f"/conversations/?agent_id={agent_id}", new)
    assert made["id"].startswith("conv-")
    assert {name: made[name] for name in new} == new
    assert (made["agent_id"], made["archived"]) == (agent_id, False)
    path = f"/conversations/{made['id']}"
    changed = api.patch(path, {"summary": "About cake", "model": None})
    assert (changed["summary"], changed["model"]) == ("About cake", None)
    assert api.get(path) == changed
    listed = api.get(f"/conversations/?agent_id={agent_id}")
    assert [each["id"] for each in listed] == [made["id"], f"conv-{agent_id[6:]}"]
    assert api.get(f"/conversations/?agent_id={agent_id}&after={listed[-1]['id']}") == []
    assert api.patch(path, {"archived": True})["archived_at"]
    assert len(api.get(f"/conversations/?agent_id={agent_id}")) == 1
    (archived,) = api.get("/conversations/?archive_status=archived&summary_search=cake")
    assert archived["id"] == made["id"]
    api.delete(path)
    api.get(path, expect=404)


def test_only_ones_own_conversations_are_there(api: Api, conversation: str, bob: User) -> None:
    bobs = Api(bob)
    for ask in (bobs.get, bobs.delete):
        ask(conversation, expect=404)
    bobs.patch(conversation, {"summary": "Mine"}, expect=404)
    bobs.post(f"{conversation}/messages", {"input": "Hi"}, expect=404)
    assert bobs.get("/conversations/") == []
    api.get(f"/conversations/conv-{NOWHERE}", expect=404)


def test_messages_are_streamed_or_answered_whole_and_listed_by_conversation(
    api: Api, plain: str, agent_id: str, conversation: str, model_at_once: FakeOpenAI
) -> None:
    model_at_once.script(text("Streamed."), text("Whole."), text("In the first one."))
    streamed = api.post(f"{conversation}/messages", {"input": "One"})
    assert "Streamed." in [each.get("content") for each in streamed]
    whole = api.post(f"{conversation}/messages", {"input": "Two", "streaming": False})
    assert [each["content"] for each in whole["messages"]] == ["Whole."]
    api.post("/conversations/default/messages",
             {"agent_id": agent_id, "input": "Three", "streaming": False})  # fmt: skip
    said = [m.get("content") for m in api.get(f"{conversation}/messages?order=asc")]
    assert said[1:] == ["One", "Streamed.", "Two", "Whole."]
    first = api.get(f"/conversations/default/messages?agent_id={agent_id}&order=asc")
    assert [m["content"] for m in first][1:] == ["Three", "In the first one."]
    assert len(api.get(f"{plain}/messages?order=asc")) == 7
    named = conversation.rpartition("/")[2]
    assert len(api.get(f"{plain}/messages?conversation_id={named}")) == 5
    assert {run["conversation_id"] for run in api.get(f"/runs/?conversation_id={named}")} == {named}
    shown = api.get(conversation)
    assert len(shown["in_context_message_ids"]) == 5
    assert shown["summary"] == "One"
    (message, *_) = api.get(f"{conversation}/messages?order=asc&limit=1")
    assert message["message_type"] == "system_message"


def test_a_stream_is_taken_up_again(api: Api, conversation: str, model_at_once: FakeOpenAI) -> None:
    api.post(f"{conversation}/stream", expect=409)
    model_at_once.script(text("Streamed."))
    streamed = api.post(f"{conversation}/messages", {"input": "One"})
    again = api.post(f"{conversation}/stream", {"include_pings": False})
    assert [e.get("content") for e in again if e["message_type"] == "assistant_message"] == [
        "Streamed."
    ]
    otid = {"role": "user", "content": "Two", "otid": "mine"}
    model_at_once.script(text("By its name."))
    api.post(f"{conversation}/messages", {"messages": [otid]})
    named = api.post(f"{conversation}/stream", {"otid": "mine"})
    assert "By its name." in [each.get("content") for each in named]
    run = next(each["run_id"] for each in streamed if each.get("run_id"))
    named = api.post(f"{conversation}/stream", {"run_id": run})
    assert kinds(named)[-2:] == ["stop_reason", "usage_statistics"]


def test_a_conversation_is_forked_compacted_and_compiled(
    api: Api, agent_id: str, conversation: str, model_at_once: FakeOpenAI
) -> None:
    model_at_once.script(text("One."), text("Two."), text("A summary of it all."))
    for words in ("First", "Second"):
        api.post(f"{conversation}/messages", {"input": words})
    forked = api.post(f"{conversation}/fork")
    assert forked["agent_id"] == agent_id
    assert len(forked["in_context_message_ids"]) == 5
    done = api.post(f"{conversation}/compact")
    assert done["summary"] == "A summary of it all."
    assert done["num_messages_after"] < done["num_messages_before"]
    system = api.post(f"{conversation}/recompile")
    assert "A summary of it all." in system
    assert "A summary of it all." not in api.post(f"/conversations/{forked['id']}/recompile")


def test_what_goes_on_is_cancelled_in_that_conversation_only(api: Api, agent: Agent) -> None:
    mine = Conversation.create(agent)
    mine.send("One", "1")
    mine.send("Two", "2")
    other = agent.send("Three", "3")
    cancelled = api.post(f"/conversations/conv-{mine.pk}/cancel")
    assert sorted(cancelled.values()) == ["cancelled", "cancelled"]
    other.refresh_from_db()
    assert not other.stop_requested
    api.post(f"/conversations/agent-{agent.pk}/cancel")
    other.refresh_from_db()
    assert other.stop_requested


def test_two_scripts_write_the_same_block_from_two_conversations(
    api: Api, path: str, model_at_once: FakeOpenAI
) -> None:
    agent_id = path.rpartition("/")[2]
    second = f"/conversations/{api.post(f'/conversations/?agent_id={agent_id}')['id']}"
    label = api.get(f"{path}/core-memory/blocks")[0]["label"]
    for number, where in enumerate([f"{path}/messages", f"{second}/messages"] * 2):
        note = ("core_memory_append", {"label": label, "content": f"Fact {number}"})
        model_at_once.script(calls(note), say("Noted."))
        api.post(where, {"input": f"Remember {number}", "streaming": False})
    value = api.get(f"{path}/core-memory/blocks/{label}")["value"]
    assert [f"Fact {n}" in value for n in range(4)] == [True] * 4


def test_a_conversation_asks_its_model_in_its_own_way(
    api: Api, plain: str, agent_id: str, conversation: str, model_at_once: FakeOpenAI
) -> None:
    api.patch(plain, {"model_settings": {"temperature": 0.1, "max_output_tokens": 500}})
    changed = api.patch(conversation, {"model_settings": {"temperature": 0.9}})
    assert changed["model_settings"]["temperature"] == 0.9
    model_at_once.script(text("Warm."), text("Cold."))
    api.post(f"{conversation}/messages", {"input": "Hi"})
    assert model_at_once.requests[-1]["temperature"] == 0.9
    assert 500 in model_at_once.requests[-1].values()
    api.post(f"{plain}/messages", {"input": "Hi"})
    assert model_at_once.requests[-1]["temperature"] == 0.1


def test_what_cannot_be_set_is_refused_by_name(api: Api, agent_id: str) -> None:
    too_hot = {"model_settings": {"temperature": 3}}
    api.post(f"/conversations/?agent_id={agent_id}", too_hot, expect=422)
    api.post(f"/conversations/?agent_id={agent_id}", {"summary": "x" * 1001}, expect=422)
    api.delete(f"/conversations/conv-{agent_id[6:]}", expect=409)
