"""Recall memory: how the agent finds what was said."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from agents.memory.classes import ChatMemory
from agents.models import Agent, Conversation, Message
from agents.tools import ToolError, results
from tests.support.searching import Call, texts
from tests.support.stored import of


def said(agent: Agent, *lines: str, days_ago: int = 0, role: str = "user") -> None:
    """Messages of some earlier time."""
    for line in lines:
        number = agent.record(messages=1)
        message = Message.objects.create(**of(agent), number=number, role=role, content=line)
        past = timezone.now() - timedelta(days=days_ago)
        Message.objects.filter(pk=message.pk).update(created_at=past)


def test_what_was_said_is_found_also_out_of_context(agent: Agent, call: Call) -> None:
    said(agent, "My sister lives in Riga")
    said(agent, "Riga is a fine city", role="assistant")
    agent.conversations.update(context_from=1000)
    returned = call("conversation_search", query="Riga")
    assert set(texts(returned)) == {"My sister lives in Riga", "Riga is a fine city"}
    assert {result["role"] for result in json.loads(returned)["results"]} == {"user", "assistant"}


def test_a_search_does_not_find_itself(agent: Agent, call: Call) -> None:
    said(agent, "The password is swordfish")
    for _ in range(2):
        returned = call("conversation_search", "Do you recall swordfish?", query="swordfish")
    assert sorted(texts(returned)) == ["Do you recall swordfish?", "The password is swordfish"]
    returned = call(
        "conversation_search", "Hm", query="swordfish", roles=["user", "assistant", "tool"]
    )
    assert sorted(set(texts(returned))) == ["Do you recall swordfish?", "The password is swordfish"]


def test_tools_returns_are_found_where_asked_for(agent: Agent, call: Call) -> None:
    call("core_memory_append", label="human", content="marmalade")
    assert texts(call("conversation_search", query="characters")) == []
    (found,) = texts(call("conversation_search", query="characters", roles=["tool"]))
    assert found.startswith("Done. Block 'human'")


def test_dates_and_roles_narrow_recall(agent: Agent, call: Call) -> None:
    said(agent, "Old tea", days_ago=20)
    said(agent, "Recent tea", days_ago=5)
    said(agent, "Tea it is", role="assistant", days_ago=5)
    day = (timezone.now() - timedelta(days=5)).date().isoformat()
    assert set(texts(call("conversation_search", query="tea", start_date=day))) == {
        "Recent tea", "Tea it is",
    }  # fmt: skip
    between: dict[str, Any] = {"start_date": day, "end_date": day, "roles": ["user"]}
    assert texts(call("conversation_search", query="tea", **between)) == ["Recent tea"]
    assert texts(call("conversation_search", query="", **between)) == ["Recent tea"]
    assert texts(call("conversation_search", query="", end_date="2001-01-01")) == []
    assert len(texts(call("conversation_search", query="tea", limit=1))) == 1
    assert "start_date is 'soon'" in call("conversation_search", query="x", start_date="soon")


def test_another_agents_conversation_is_never_found(agent: Agent, call: Call, bob: User) -> None:
    other = Agent.create(bob, "Other", ChatMemory())
    said(other, "The password is swordfish")
    assert texts(call("conversation_search", query="swordfish")) == []


def test_a_hit_is_shown_with_what_was_said_around_it(agent: Agent, call: Call) -> None:
    said(agent, "Where did you put the key?")
    said(agent, f"Under the blue pot. {'It is safe there. ' * 50}", role="assistant")
    said(agent, "Thanks!")
    said(agent, "An old key", days_ago=400)
    (hit,) = json.loads(call("conversation_search", query="pot"))["results"]
    assert hit["said_by"] == "you"
    assert hit["before"] == {"said_by": "the person", "text": "Where did you put the key?"}
    assert hit["after"] == {"said_by": "the person", "text": "Thanks!"}
    hits = json.loads(call("conversation_search", query="key", roles=["user"]))["results"]
    asked, old = sorted(hits, key=lambda each: each["text"], reverse=True)
    assert asked["after"]["text"].startswith("Under the blue pot. It is safe")
    assert len(asked["after"]["text"]) <= 201
    assert "(1 year ago)" in old["when"]
    assert "before" not in old, "What was said a year later does not belong to it"
    assert "after" not in old


def test_a_tools_return_is_shown_with_what_was_said_around_it(agent: Agent, call: Call) -> None:
    call("core_memory_append", "Note the marmalade", label="human", content="x")
    (hit,) = json.loads(call("conversation_search", query="characters", roles=["tool"]))["results"]
    assert hit["said_by"] == "a tool"
    assert hit["before"]["text"] == "Note the marmalade"
    assert hit["after"] == {"said_by": "you", "text": "OK"}


@pytest.mark.parametrize(
    ("days", "words"),
    [
        (0, "today"), (1, "yesterday"), (2, "2 days ago"), (13, "13 days ago"), (14, "2 weeks ago"),
        (59, "8 weeks ago"), (60, "2 months ago"), (364, "12 months ago"), (365, "1 year ago"),
        (729, "1 year ago"), (730, "2 years ago"), (-1, "in the future"),
    ],
)  # fmt: skip
def test_how_long_ago_something_was_is_said_in_words(days: int, words: str) -> None:
    now = datetime(2026, 3, 1, 0, 30, tzinfo=UTC)
    assert results.how_long_ago(now - timedelta(days=days), now) == words


def test_a_moment_without_a_zone_is_utc() -> None:
    assert results.parsed_date("2024-01-31T10:00", "x") == datetime(2024, 1, 31, 10, tzinfo=UTC)
    with pytest.raises(ToolError):
        results.parsed_date("31.1.2024", "x")


def test_what_was_said_around_a_hit_is_of_its_own_conversation(agent: Agent, call: Call) -> None:
    other = Conversation.create(agent)
    said(agent, "Where did you put the key?")
    number = agent.record(messages=1)
    words = {"role": "user", "content": "Something else"}
    Message.objects.create(agent=agent, conversation=other, number=number, **words)
    said(agent, "Under the blue pot.", role="assistant")
    (hit,) = json.loads(call("conversation_search", query="pot"))["results"]
    assert hit["before"]["text"] == "Where did you put the key?"
