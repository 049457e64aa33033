"""Reflection: a run of its own that tidies core memory, apart from the conversation."""

from __future__ import annotations

import json

from django.test import Client

from agents.memory import sent_requests
from agents.models import Agent, Block, Message, Run, Step
from agents.runs.loop import run_agent
from agents.runs.reflection import INSTRUCTIONS, reflect
from agents.tools.core_memory import EDITING
from tests.conftest import Ask
from tests.support.fake_openai import FakeOpenAI, calls, text

RETHINK = ("memory_rethink", {"label": "human", "new_memory": "Bob"})


def execute(run: Run) -> Run:
    run_agent(run.pk)
    run.refresh_from_db()
    return run


def human() -> str:
    return Block.objects.get(label="human").value


def test_a_reflection_sees_the_conversation_and_has_memory_tools_only(
    agent: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    ask("Hello")
    model.script(calls(RETHINK), text("Shortened it."))
    run = execute(reflect(agent.first_conversation))
    assert (run.status, run.kind, human()) == ("done", "reflection", "Bob")
    asked = model.requests[-1]
    assert {t["function"]["name"] for t in asked["tools"]} == set(EDITING)
    said = [m["content"] for m in asked["messages"] if m["role"] == "user"]
    assert said == ["Hello", INSTRUCTIONS]


def test_what_is_said_in_a_reflection_is_no_part_of_the_conversation(
    agent: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    ask("Hello")
    model.script(calls(RETHINK), text("Shortened it."), text("Hi."))
    execute(reflect(agent.first_conversation))
    ask("And now?")
    sent = json.dumps(model.requests[-1]["messages"])
    assert "time to reflect" not in sent
    assert "Shortened it." not in sent
    assert Message.objects.filter(internal=True).count() == 4
    proofs = [sent_requests.sent(step) for step in Step.objects.order_by("pk")]
    assert [proof and proof.proven for proof in proofs] == [True] * 4
    assert [proof and proof.body for proof in proofs] == model.raw_bodies


def test_an_agent_that_speaks_by_tool_reflects_in_plain_text(
    agent: Agent, model: FakeOpenAI
) -> None:
    agent.configure(tools=["send_message", "core_memory_append"])
    model.script(calls(RETHINK), text("Shortened it."))
    run = execute(reflect(agent.first_conversation))
    assert (run.status, run.reason) == ("done", "end_turn")
    assert "request_heartbeat" not in json.dumps(model.requests[0]["tools"])


def test_rules_on_what_comes_first_do_not_hold_in_a_reflection(
    agent: Agent, model: FakeOpenAI
) -> None:
    first = {"type": "run_first", "tool_name": "archival_memory_search"}
    ends = {"type": "exit_loop", "tool_name": "memory_rethink"}
    agent.configure(tool_rules=[first, ends])
    model.script(calls(RETHINK), text("Shortened it."))
    assert execute(reflect(agent.first_conversation)).status == "done"
    assert human() == "Bob"
    assert len(model.requests) == 2


def test_it_reflects_by_itself_after_so_many_messages(
    agent: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    agent.configure(reflect_every=2)
    ask("One")
    assert not Run.objects.filter(kind="reflection").exists()
    ask("Two")
    reflection = Run.objects.get(kind="reflection")
    assert reflection.status == "running"
    execute(reflection)
    ask("Three")
    assert Run.objects.filter(kind="reflection").count() == 1
    ask("Four")
    assert Run.objects.filter(kind="reflection").count() == 2


def test_it_does_not_by_itself_unless_it_is_set(ask: Ask) -> None:
    for _ in range(6):
        ask("Hello")
    assert not Run.objects.filter(kind="reflection").exists()


def test_all_it_changed_is_undone_as_one(agent: Agent, model: FakeOpenAI, web: Client) -> None:
    append = ("core_memory_append", {"label": "human", "content": "Likes pie"})
    persona = ("core_memory_append", {"label": "persona", "content": "Kind"})
    model.script(calls(RETHINK, persona), calls(append), text("Done."))
    web.post(f"/agents/{agent.pk}/reflect/")
    run = execute(Run.objects.get())
    assert human() == "Bob\nLikes pie"
    page = web.get(f"/agents/{agent.pk}/").content.decode()
    assert "Reflection" in page
    assert "Undo all its changes" in page
    assert "time to reflect" not in page
    web.post(f"/agents/{agent.pk}/runs/{run.pk}/undo/")
    assert human() == "Name: Bob"
    assert Block.objects.get(label="persona").value == "You are a helpful assistant"
