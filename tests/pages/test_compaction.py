"""Compaction as the page shows it: by hand, its summary edited, what left looked at."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.test import Client

from agents.models import Agent, Compaction, Event, Run
from agents.runs import loop
from tests.conftest import Ask
from tests.support.conversation import talk
from tests.support.fake_openai import FakeOpenAI, text
from tests.support.stored import acquired


@pytest.fixture
def small(agent: Agent) -> Agent:
    """The agent with a window of 4000 tokens, and tools that leave most of it."""
    agent.configure(context_window=4000, tools=["core_memory_append", "core_memory_replace"])
    return agent


def test_making_room_by_hand_leaves_only_the_last_exchange(
    web: Client, agent: Agent, model: FakeOpenAI
) -> None:
    talk(agent, 5)
    model.script(text("All five."))
    assert web.post(f"/agents/{agent.pk}/compact/", {"key": "k"}).status_code in (204, 302)
    loop.run_agent(Run.objects.get().pk)
    run = Run.objects.get()
    assert (run.kind, run.status, run.reason) == ("compaction", "done", "compacted")
    agent.refresh_from_db()
    assert agent.first_conversation.context_from == 9
    assert agent.message_count == 10
    kinds = set(agent.events.values_list("kind", flat=True))
    assert Event.Kind.COMPACTED in kinds
    assert "All five." in web.get(f"/agents/{agent.pk}/").content.decode()
    made = Compaction.objects.get()
    gone = web.get(f"/agents/{agent.pk}/compactions/{made.pk}/messages/").content.decode()
    assert "Question 0:" in gone
    assert "Answer 3:" in gone
    assert "Question 4:" not in gone


def test_a_summary_can_be_edited_and_is_what_the_model_sees(
    web: Client, small: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    talk(small, 26)
    model.script(text("First."), text("Good."))
    ask("One")
    made = Compaction.objects.get()
    address = f"/agents/{small.pk}/compactions/{made.pk}/summary/"
    assert "First." in web.get(address).content.decode()
    assert web.post(address, {"summary": "Edited."}).status_code == 200
    made.refresh_from_db()
    assert (made.summary, made.written_by) == ("Edited.", "person")
    ask("Two")
    assert "Edited." in model.requests[-1]["messages"][0]["content"]
    too_long = web.post(address, {"summary": "x" * 30_000})
    assert too_long.status_code == 422
    assert "Shorten it by 10,000" in too_long.content.decode()
    with pytest.raises(ValidationError):
        made.rewrite("x" * 30_000, "person")


def test_strangers_reach_no_compaction(web: Client, small: Agent, bob: User) -> None:
    run = acquired(small.send("Next", "compaction"))
    made = Compaction.objects.create(
        conversation_id=small.pk,
        run=run,
        first=1,
        last=2,
        tokens_before=9,
        tokens_after=3,
        written_by="model",
    )
    web.force_login(bob)
    for address in ("messages/", "summary/"):
        path = f"/agents/{small.pk}/compactions/{made.pk}/{address}"
        assert web.get(path).status_code == 404
    assert web.post(f"/agents/{small.pk}/compact/").status_code == 404
