"""Archival memory: what is stored in it, and how the agent finds it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.auth.models import User

from agents import tools
from agents.live import fragments
from agents.models import Agent, Editor, Event, MemoryRefusal, Passage
from tests.support.searching import Call, texts

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
        ("x", ["a" * 101], "at most 100 are allowed"),
        ("x", [str(n) for n in range(51)], "at most 50 are allowed"),
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
    drawn = fragments.render(agent.first_conversation, events[0].kind, events[0].data)
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


def test_the_agent_puts_away_and_finds_again(agent: Agent, call: Call) -> None:
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


def test_a_refused_insert_tells_the_agent_why(agent: Agent, call: Call) -> None:
    assert call("archival_memory_insert", content=" ").startswith("Error: The passage is empty")
    assert not Passage.objects.exists()


def test_tags_narrow_a_search(agent: Agent, call: Call, by: Editor) -> None:
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


def test_dates_narrow_a_search(agent: Agent, call: Call, by: Editor) -> None:
    for day in (1, 15, 31):
        Passage.insert(
            agent, f"note {day}", by=by, created_at=datetime(2024, 1, day, 23, 30, tzinfo=UTC)
        )

    def between(start: str | None, end: str | None, query: str = "note") -> set[str]:
        given: dict[str, Any] = {"start_datetime": start, "end_datetime": end}
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
        ({"start_datetime": "yesterday"}, "start_datetime is 'yesterday', which is not a date"),
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
    agent: Agent, call: Call, given: dict[str, Any], words: str
) -> None:
    returned = call("archival_memory_search", query="x", **given)
    assert returned.startswith("Error: ")
    assert words in returned


def test_results_are_bounded(agent: Agent, call: Call, by: Editor) -> None:
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


def test_the_schemas_say_what_may_be_given(agent: Agent) -> None:
    schema = tools.get("archival_memory_search").schema["parameters"]
    assert schema["required"] == ["query"]
    assert schema["properties"]["tag_match_mode"]["enum"] == ["any", "all"]
    assert {"type": "array", "items": {"type": "string"}} in schema["properties"]["tags"]["anyOf"]
    roles = tools.get("conversation_search").schema["parameters"]["properties"]["roles"]
    assert roles["anyOf"][0]["items"]["enum"] == ["system", "user", "assistant", "tool"]
    assert all(about["description"] for about in schema["properties"].values())


def test_a_passage_is_shown_with_who_wrote_it_and_when(
    agent: Agent, call: Call, by: Editor
) -> None:
    then = datetime(2024, 2, 29, 18, 5, tzinfo=UTC)
    Passage.insert(agent, "Rex is a dog", by=by, created_at=then)
    call("archival_memory_insert", content="The dog likes Bob")
    found = json.loads(call("archival_memory_search", query="dog"))["results"]
    shown = {each["text"]: each for each in found}
    assert shown["Rex is a dog"]["written_by"] == "alice"
    assert shown["Rex is a dog"]["when"].startswith("Thursday 29 February 2024, 18:05 UTC (")
    assert shown["The dog likes Bob"]["written_by"] == "you"
