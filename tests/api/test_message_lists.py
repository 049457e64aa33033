"""Messages by the API: listed, searched, changed."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from agents.api import searching
from agents.memory.classes import ChatMemory
from agents.models import Agent, Message
from tests.support.api_client import Api, chat, kinds, say
from tests.support.fake_openai import FakeOpenAI
from tests.support.stored import of

# -- lists -----------------------------------------------------------------------------------------


def test_messages_are_gone_through_both_ways_also_in_the_midst_of_a_row(
    api: Api, path: str, model: FakeOpenAI
) -> None:
    everything = chat(api, path, model, 4)
    assert len(everything) == 13, "a system message; a question, a thought and an answer each"

    def page(query: str) -> list[str]:
        return [message["id"] for message in api.get(f"{path}/messages?{query}")]

    assert page("") == everything
    assert page("limit=2") == everything[-2:], "the newest, oldest first"
    for order, wanted in (("asc", everything), ("desc", everything[::-1])):
        for limit in (1, 2, 5):
            seen: list[str] = []
            while part := page(
                f"limit={limit}&order={order}" + (f"&after={seen[-1]}" if seen else "")
            ):
                seen += part
            assert seen == wanted
            seen = []
            while part := page(
                f"limit={limit}&order={order}&before={seen[0] if seen else wanted[-1]}"
            ):
                seen = part + seen
            assert seen == wanted[:-1]
    assert page(f"limit=2&after={everything[3]}") == everything[4:6]
    assert page(f"limit=2&before={everything[3]}") == everything[1:3]
    assert page(f"after={everything[2]}&before={everything[6]}") == everything[3:6]
    assert page(f"before={everything[0]}") == []
    said = "include_return_message_types=user_message&include_return_message_types=system_message"
    assert page(said) == [everything[0], *everything[1::3]]
    assert page("include_return_message_types=user_message") == everything[1::3]
    assert page("after=message-00000000-0000-4000-8000-0000ffffffff") == []
    api.get(f"{path}/messages?after=nonsense", expect=404)


def test_what_was_said_is_searched(api: Api, path: str, model: FakeOpenAI) -> None:
    model.script(say("Paris is lovely"))
    api.post(f"{path}/messages", {"input": "I was in Paris"})
    agent_id = path.removeprefix("/agents/")
    for asked in ({"query": "paris", "agent_id": agent_id}, {"query": "paris"}):
        found = api.post("/messages/search", asked)
        assert {each["message_type"] for each in found} == {"user_message", "assistant_message"}
        assert all(each["agent_id"] == agent_id for each in found)
        older = api.post("/agents/messages/search", asked)
        assert {each["message"]["id"] for each in older} == {e["message_id"] for e in found}
    assert api.post("/messages/search", {"query": "zebra", "agent_id": agent_id}) == []


def test_all_agents_are_searched_however_many(
    api: Api, path: str, alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "SEARCHED", 3)
    said = ["A zebra", "A zebra and a lion", *["Nothing but a lion"] * 5]
    agents = [api.post("/agents/", {"name": text})["id"] for text in said]
    for agent_id, content in zip(agents, said, strict=True):
        agent = Agent.objects.get(pk=agent_id.removeprefix("agent-"))
        Message.objects.create(**of(agent), role="user", content=content, number=1)
    other = Agent.create(bob, "Other", ChatMemory())
    Message.objects.create(**of(other), role="user", content="A zebra of mine", number=1)

    def found(query: str) -> list[str]:
        return [each["content"] for each in api.post("/messages/search", {"query": query})]

    assert sorted(found("zebra")) == said[:2], "also in those that are not among the newest"
    assert found("zebra lion")[0] == "A zebra and a lion"
    assert len(found("")) == 3
    api.delete(f"/agents/{agents[0]}")
    assert found("zebra") == [said[1]]


# -- changing --------------------------------------------------------------------------------------


def test_a_message_of_the_past_is_changed_and_the_model_sees_it_so(
    api: Api, path: str, model: FakeOpenAI
) -> None:
    system, first, *_ = chat(api, path, model, 1)
    changed = api.patch(f"{path}/messages/{first}", {"content": "rewritten"})
    assert (changed["id"], changed["content"]) == (first, "rewritten")
    model.script(say("OK"))
    api.post(f"{path}/messages", {"input": "And?"})
    assert model.requests[-1]["messages"][1]["content"] == "rewritten"
    for given in ({}, {"content": ""}, {"content": 1}):
        api.patch(f"{path}/messages/{first}", given, expect=422)
    api.patch(f"{path}/messages/message-1", {"content": "x"}, expect=404)
    api.patch(f"{path}/messages/{system}", {"content": "x"}, expect=409)


def test_the_system_message_is_the_first_of_all(api: Api, path: str, model: FakeOpenAI) -> None:
    assert kinds(api.get(f"{path}/messages")) == ["system_message"]
    everything = chat(api, path, model, 2)
    first = api.get(f"{path}/messages")[0]
    assert everything[0] == first["id"] == api.get(path)["message_ids"][0]
    model.script(say("OK"))
    api.post(f"{path}/messages", {"input": "And?"})
    again = api.get(f"{path}/messages?order=asc&limit=1")
    assert [message["id"] for message in again] == [first["id"]]
    assert again[0]["message_type"] == "system_message"
    sent = model.requests[-1]["messages"][0]["content"]
    now, was = (text.partition("<memory_metadata>") for text in (again[0]["content"], sent))
    assert (now[0], "Name: Bob" in now[0]) == (was[0], True)
    assert kinds(api.get(f"{path}/messages?limit=2"))[0] != "system_message"
    other = api.post("/agents/", {"memory_blocks": []})["id"]
    assert api.get(f"/agents/{other}/messages?after={first['id']}", expect=404)
