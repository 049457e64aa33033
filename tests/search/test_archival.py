"""Archival and recall memory: what is put away, and how the agent finds it and what was said."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from agents import tools
from agents.live import fragments
from agents.memory.classes import ChatMemory
from agents.models import Agent, Editor, Event, MemoryRefusal, Message, Passage
from agents.tools import ToolError, results
from tests.conftest import Ask
from tests.support.fake_openai import FakeOpenAI, calls, text

TOOLS = ["archival_memory_insert", "archival_memory_search", "conversation_search"]


@pytest.fixture
def agent(agent: Agent) -> Agent:
    agent.configure(tools=[*agent.tools, *TOOLS])
    return agent


@pytest.fixture
def call(ask: Ask, model: FakeOpenAI) -> Any:
    """Have the agent call a tool; what it returned."""

    def run(name: str, said: str = "Go on", **arguments: Any) -> str:
        model.script(calls((name, arguments)), text("OK"))
        return str(ask(said).messages.get(role="tool").content)

    return run


def texts(returned: str) -> list[str]:
    return [result["text"] for result in json.loads(returned)["results"]]


def said(agent: Agent, *lines: str, days_ago: int = 0, role: str = "user") -> None:
    """Messages of some earlier time."""
    for line in lines:
        number = agent.record(messages=1)
        message = Message.objects.create(agent=agent, number=number, role=role, content=line)
        past = timezone.now() - timedelta(days=days_ago)
        Message.objects.filter(pk=message.pk).update(created_at=past)


# -- passages --------------------------------------------------------------------------------------


def test_a_passage_knows_who_wrote_it_and_when(agent: Agent, alice: User, by: Editor) -> None:
    then = datetime(2024, 2, 29, tzinfo=UTC)
    passage = Passage.insert(agent, "Rex is a dog", [" pets ", "pets"], by=by, created_at=then)
    passage.refresh_from_db()
    assert (passage.text, passage.tags, passage.created_at) == ("Rex is a dog", ["pets"], then)
    assert (passage.editor_kind, passage.editor_name, passage.user) == ("person", "alice", alice)


def test_a_passage_is_edited_and_removed(agent: Agent, by: Editor) -> None:
    passage = Passage.insert(agent, "Rex", by=Editor(Editor.API, "script"))
    assert passage.edit(text="Rex is a dog", by=by)
    assert passage.edit(tags=["pets"], by=by)
    assert not passage.edit(text="Rex is a dog", tags=["pets"], by=by)
    stored = Passage.objects.get()
    assert (stored.text, stored.tags, stored.editor_name) == ("Rex is a dog", ["pets"], "alice")
    passage.remove()
    assert not Passage.objects.exists()
    with pytest.raises(MemoryRefusal, match="was deleted meanwhile"):
        stored.edit(text="x", by=by)
    with pytest.raises(MemoryRefusal, match="was deleted meanwhile"):
        stored.remove()


@pytest.mark.parametrize(
    ("content", "tags", "words"),
    [
        ("", None, "empty"),
        (" \n", None, "empty"),
        ("x" * 100_001, None, "Shorten it by 1"),
        ("x", "travel", "a list of strings"),
        ("x", [1], "a list of strings"),
        ("x", ["a", " "], "empty"),
        ("x", ["a" * 101], "100 is the most"),
        ("x", [str(n) for n in range(51)], "50 is the most"),
    ],
)
def test_a_passage_that_cannot_be_stored_is_refused(
    agent: Agent, by: Editor, content: str, tags: Any, words: str
) -> None:
    with pytest.raises(MemoryRefusal, match=words):
        Passage.insert(agent, content, tags, by=by)
    passage = Passage.insert(agent, "before", ["old"], by=by)
    with pytest.raises(MemoryRefusal, match=words):
        passage.edit(text=content, tags=tags, by=by)
    passage.refresh_from_db()
    assert (passage.text, passage.tags) == ("before", ["old"])


def test_what_a_database_cannot_hold_is_marked(agent: Agent, by: Editor) -> None:
    assert Passage.insert(agent, "a\0b\ud800", ["\0t"], by=by).text == "a\ufffdb\ufffd"


def test_every_change_is_in_the_log_and_drawn(agent: Agent, by: Editor) -> None:
    before = agent.last_seq
    passage = Passage.insert(agent, "Rex", by=by)
    passage.edit(text="Polly", by=by)
    Passage.count_recall(agent, [passage])
    passage.remove()
    events = list(Event.objects.filter(agent=agent).after(before))
    assert {event.kind for event in events} == {"archival_changed"}
    assert [event.data for event in events] == [
        {"passage": passage.pk}, {"passage": passage.pk}, {"recalled": [passage.pk]},
        {"passage": passage.pk},
    ]  # fmt: skip
    agent.passage_count = 1_234
    drawn = fragments.render(agent, events[0].kind, events[0].data)
    assert 'hx-target="#archival-count"' in drawn
    assert "1,234" in drawn


def test_the_agent_knows_how_many_passages_it_has(agent: Agent, by: Editor) -> None:
    passages = [Passage.insert(Agent.objects.get(), f"note {n}", by=by) for n in range(3)]
    passages[0].edit(text="another", by=by)
    passages[1].remove()
    agent.refresh_from_db()
    assert agent.passage_count == passages[1].agent.passage_count == 2


def test_passages_go_with_their_agent(agent: Agent, by: Editor) -> None:
    Passage.insert(agent, "Rex", by=by)
    agent.purge()
    assert not Passage.objects.exists()


# -- the agent's tools -----------------------------------------------------------------------------


def test_the_agent_puts_away_and_finds_again(agent: Agent, call: Any) -> None:
    told = call("archival_memory_insert", content="Bob's dog is called Rex", tags=["pets"])
    passage = Passage.objects.get()
    assert told == f"Done. It is passage {passage.pk} of archival memory."
    assert (passage.editor_kind, passage.editor_name) == ("agent", "Tutor")
    assert passage.step is not None
    (result,) = json.loads(call("archival_memory_search", query="dogs"))["results"]
    assert (result["id"], result["text"], result["tags"]) == (
        passage.pk, "Bob's dog is called Rex", ["pets"],
    )  # fmt: skip
    assert datetime.fromisoformat(result["time"]) == passage.created_at.replace(microsecond=0)
    assert result["score"] > 0
    passage.refresh_from_db()
    assert passage.recalled_count == 1
    assert passage.recalled_at is not None


def test_a_refused_insert_tells_the_agent_why(agent: Agent, call: Any) -> None:
    assert call("archival_memory_insert", content=" ").startswith("Error: The passage is empty")
    assert not Passage.objects.exists()


def test_tags_narrow_a_search(agent: Agent, call: Any, by: Editor) -> None:
    Passage.insert(agent, "Rex the dog", ["pets", "home"], by=by)
    Passage.insert(agent, "Polly the parrot", ["pets"], by=by)
    Passage.insert(agent, "The dog of the neighbour", ["Home"], by=by)

    def tagged(query: str, *tags: str, mode: str = "any") -> list[str]:
        return texts(
            call("archival_memory_search", query=query, tags=list(tags), tag_match_mode=mode)
        )

    assert tagged("dog", "pets") == ["Rex the dog"]
    assert tagged("", "pets") == ["Polly the parrot", "Rex the dog"]
    assert tagged("", "pets", "home", mode="all") == ["Rex the dog"]
    assert set(tagged("the", "home", "Home")) == {"Rex the dog", "The dog of the neighbour"}
    assert tagged("dog", "nothing") == []


def test_dates_narrow_a_search(agent: Agent, call: Any, by: Editor) -> None:
    for day in (1, 15, 31):
        Passage.insert(
            agent, f"note {day}", by=by, created_at=datetime(2024, 1, day, 23, 30, tzinfo=UTC)
        )

    def between(start: str | None, end: str | None, query: str = "note") -> set[str]:
        given = {"start_datetime": start, "end_datetime": end}
        return set(texts(call("archival_memory_search", query=query, **given)))

    assert between("2024-01-15", None) == {"note 15", "note 31"}
    assert between(None, "2024-01-15") == {"note 1", "note 15"}
    assert between("2024-01-15", "2024-01-15", "") == {"note 15"}
    assert between("2024-01-15T23:31", "2024-01-31T23:30:00Z") == {"note 31"}
    assert between("2024-02-01T00:30+01:00", None) == {"note 31"}
    assert between("2024-02-01T00:31+01:00", None) == set()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {"start_datetime": "yesterday"},
            "start_datetime is 'yesterday', which is not a date",
        ),
        ({"end_datetime": "2024-13-01"}, "write it as 2026-01-31"),
        ({"end_datetime": "9999-12-31"}, "is not a date"),
        ({"start_datetime": "2024-02-01", "end_datetime": "2024-01-01"}, "swap them"),
        ({"top_k": 0}, "from 1 to 100"),
        ({"top_k": 101}, "from 1 to 100"),
        ({"tag_match_mode": "some"}, "tag_match_mode"),
        ({"tags": "pets"}, "the argument 'tags'"),
    ],
)
def test_a_search_that_makes_no_sense_is_told_why(
    agent: Agent, call: Any, given: dict[str, Any], words: str
) -> None:
    returned = call("archival_memory_search", query="x", **given)
    assert returned.startswith("Error: ")
    assert words in returned


def test_results_are_bounded(agent: Agent, call: Any, by: Editor) -> None:
    for n in range(60):
        long = f"{'filler ' * 4_000} marmalade {n} {' filler' * 4_000}"
        Passage.insert(agent, long, [f"tag {n} {'t' * 80}"], by=by)
    few = call("archival_memory_search", query="marmalade", top_k=3)
    many = call("archival_memory_search", query="marmalade", top_k=60)
    for returned in (few, many):
        assert len(returned) <= 20_000
        assert all("marmalade" in each and "of 56," in each for each in texts(returned))
    assert len(texts(few)) == 3
    assert len(texts(many)) + json.loads(many)["left_out"] == 60


def test_the_demo_agent_remembers(agent: Agent, settings: Any) -> None:
    from agents.runs.loop import run_agent

    for n, asked in enumerate(
        ["Save to archival memory: the key is under the mat", "Search archival memory for key"]
    ):
        run = agent.send(asked, f"key-{n}")
        run_agent(run.pk)
    answer = run.messages.order_by("-number").first()
    assert answer is not None
    assert "the key is under the mat" in answer.content


def test_the_schemas_say_what_may_be_given(agent: Agent) -> None:
    schema = tools.get("archival_memory_search").schema["parameters"]
    assert schema["required"] == ["query"]
    assert schema["properties"]["tag_match_mode"]["enum"] == ["any", "all"]
    assert {"type": "array", "items": {"type": "string"}} in schema["properties"]["tags"]["anyOf"]
    roles = tools.get("conversation_search").schema["parameters"]["properties"]["roles"]
    assert roles["anyOf"][0]["items"]["enum"] == ["system", "user", "assistant", "tool"]
    assert all(about["description"] for about in schema["properties"].values())


# -- recall ----------------------------------------------------------------------------------------


def test_what_was_said_is_found_also_out_of_context(agent: Agent, call: Any) -> None:
    said(agent, "My sister lives in Riga")
    said(agent, "Riga is a fine city", role="assistant")
    Agent.objects.filter(pk=agent.pk).update(context_from=1000)
    returned = call("conversation_search", query="Riga")
    assert set(texts(returned)) == {"My sister lives in Riga", "Riga is a fine city"}
    assert {result["role"] for result in json.loads(returned)["results"]} == {"user", "assistant"}


def test_a_search_does_not_find_itself(agent: Agent, call: Any) -> None:
    said(agent, "The password is swordfish")
    for _ in range(2):
        returned = call("conversation_search", "Do you recall swordfish?", query="swordfish")
    assert sorted(texts(returned)) == ["Do you recall swordfish?", "The password is swordfish"]
    returned = call(
        "conversation_search", "Hm", query="swordfish", roles=["user", "assistant", "tool"]
    )
    assert sorted(set(texts(returned))) == ["Do you recall swordfish?", "The password is swordfish"]


def test_tools_returns_are_found_where_asked_for(agent: Agent, call: Any) -> None:
    call("core_memory_append", label="human", content="marmalade")
    assert texts(call("conversation_search", query="characters")) == []
    (found,) = texts(call("conversation_search", query="characters", roles=["tool"]))
    assert found.startswith("Done. Block 'human'")


def test_dates_and_roles_narrow_recall(agent: Agent, call: Any) -> None:
    said(agent, "Old tea", days_ago=20)
    said(agent, "Recent tea", days_ago=5)
    said(agent, "Tea it is", role="assistant", days_ago=5)
    day = (timezone.now() - timedelta(days=5)).date().isoformat()
    assert set(texts(call("conversation_search", query="tea", start_date=day))) == {
        "Recent tea", "Tea it is",
    }  # fmt: skip
    between = {"start_date": day, "end_date": day, "roles": ["user"]}
    assert texts(call("conversation_search", query="tea", **between)) == ["Recent tea"]
    assert texts(call("conversation_search", query="", **between)) == ["Recent tea"]
    assert texts(call("conversation_search", query="", end_date="2001-01-01")) == []
    assert len(texts(call("conversation_search", query="tea", limit=1))) == 1
    assert "start_date is 'soon'" in call("conversation_search", query="x", start_date="soon")


def test_another_agents_conversation_is_never_found(agent: Agent, call: Any, bob: User) -> None:
    other = Agent.create(bob, "Other", ChatMemory())
    said(other, "The password is swordfish")
    assert texts(call("conversation_search", query="swordfish")) == []


def test_a_hit_is_shown_with_what_was_said_around_it(agent: Agent, call: Any) -> None:
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


def test_a_tools_return_is_shown_with_what_was_said_around_it(agent: Agent, call: Any) -> None:
    call("core_memory_append", "Note the marmalade", label="human", content="x")
    (hit,) = json.loads(call("conversation_search", query="characters", roles=["tool"]))["results"]
    assert hit["said_by"] == "a tool"
    assert hit["before"]["text"] == "Note the marmalade"
    assert hit["after"] == {"said_by": "you", "text": "OK"}


def test_a_passage_is_shown_with_who_wrote_it_and_when(agent: Agent, call: Any, by: Editor) -> None:
    then = datetime(2024, 2, 29, 18, 5, tzinfo=UTC)
    Passage.insert(agent, "Rex is a dog", by=by, created_at=then)
    call("archival_memory_insert", content="The dog likes Bob")
    found = json.loads(call("archival_memory_search", query="dog"))["results"]
    shown = {each["text"]: each for each in found}
    assert shown["Rex is a dog"]["written_by"] == "alice"
    assert shown["Rex is a dog"]["when"].startswith("Thursday 29 February 2024, 18:05 UTC (")
    assert shown["The dog likes Bob"]["written_by"] == "you"


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
