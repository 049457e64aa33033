"""The demo model in the real loop: all of memory can be tried with it."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User

from agents.llm import clients, resolve
from agents.llm.demo import DemoTransport
from agents.memory.classes import ChatMemory, Memory, TaskMemory
from agents.memory.compaction import compact
from agents.memory.context import compile_context
from agents.models import Agent, Approval, Compaction, Editor, Message, Passage, Run
from agents.runs.loop import run_agent
from agents.runs.reflection import reflect
from tests.support.stored import acquired


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The demo model without its pace."""
    monkeypatch.setattr(DemoTransport.__init__, "__defaults__", (0,))
    clients._client.cache_clear()
    clients._connections.cache_clear()
    yield
    clients._client.cache_clear()
    clients._connections.cache_clear()


@pytest.fixture
def pupil(alice: User, quick: None) -> Agent:
    return Agent.create(alice, "Pupil", ChatMemory(human="Name: Bob", persona="You are kind"))


def tell(agent: Agent, *texts: str) -> str:
    """The answer to the last of these messages, each sent and answered by the demo model."""
    for text in texts:
        run = agent.send(text, f"key-{Message.objects.count()}")
        answered = finish(run)
    return answered


def finish(run: Run) -> str:
    run_agent(run.pk)
    run.refresh_from_db()
    assert (run.status, run.reason, run.error) == ("done", "end_turn", "")
    said = run.messages.filter(role="assistant", status="complete").order_by("number").last()
    assert said
    sent = [json.loads(c.arguments)["message"] for c in said.calls() if c.name == "send_message"]
    return sent[0] if sent else said.content


def block(agent: Agent, label: str = "human") -> str:
    held = agent.block(label)
    assert held
    return held.value


def test_a_new_agent_remembers_in_all_its_memories(pupil: Agent) -> None:
    assert pupil.tools == list(Memory.tool_names)
    tell(pupil, "My name is Sarah and I like cherry pie.")
    assert block(pupil) == "Name: Sarah\nLikes cherry pie"
    tell(pupil, "Remember for later that the spare key is under the mat.")
    assert Passage.objects.get().text == "the spare key is under the mat"
    assert tell(pupil, "Where is the spare key?") == (
        "My archive says: “the spare key is under the mat”"
    )
    assert "I do not know that" in tell(pupil, "What is the door code?")
    assert tell(pupil, "What did I say about cherry pie?") == (
        "You said: “My name is Sarah and I like cherry pie.”"
    )


def test_what_left_the_context_is_summed_up(pupil: Agent) -> None:
    tell(pupil, "I saw a heron by the old mill", "What is my name?")
    pupil.refresh_from_db()
    run = acquired(pupil.send("Next", "compaction"))
    compact(
        run,
        compile_context(pupil.first_conversation),
        *resolve(pupil.model, None),
        all_but_last=True,
    )
    summary = Compaction.objects.get()
    assert summary.written_by == "model"
    assert summary.summary == "The person said:\n- “I saw a heron by the old mill”"


def test_it_reflects(pupil: Agent) -> None:
    human = pupil.block("human")
    assert human
    human.append("Likes cherry pie\nLikes cherry pies", by=Editor.person(pupil.owner))
    assert finish(reflect(pupil.first_conversation)) == "I put the block “human” in order."
    assert block(pupil) == "Name: Bob\nLikes cherry pies"
    assert (
        finish(reflect(pupil.first_conversation))
        == "My memory is in order: nothing had to be changed."
    )


def test_a_refusal_by_the_person_is_told(pupil: Agent) -> None:
    rule = {"type": "requires_approval", "tool_name": "core_memory_append"}
    pupil.configure(tool_rules=[rule])
    run = pupil.send("I like tea", "key")
    run_agent(run.pk)
    Approval.objects.get().decide("refused", by=pupil.owner, reason="not yet")
    assert "the person refused it: not yet" in finish(run)
    assert block(pupil) == "Name: Bob"


def test_it_queues_tasks_and_talks_by_tool(alice: User, quick: None) -> None:
    """As in the notebooks: an agent that speaks by `send_message`, with a queue of tasks."""
    tools = ["send_message", "core_memory_replace", "task_queue_push", "task_queue_pop"]
    worker = Agent.create(alice, "Worker", TaskMemory("Name: Sarah", "You are kind"), tools=tools)
    assert "task_queue_push" in tell(worker, "Add a task: water the garden.")
    assert json.loads(block(worker, "tasks")) == ["water the garden"]
    assert "“Name: Charles”" in tell(worker, "Actually, my name is Charles.")
    assert block(worker) == "Name: Charles"
