"""The demo model in the real loop: all of memory can be tried with it."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User

from agents.llm import openai, resolve
from agents.llm.demo.model import DemoTransport
from agents.memory.classes import BasicBlockMemory, ChatMemory, Memory, TaskMemory
from agents.memory.compaction import compact
from agents.memory.context import compile_context
from agents.models import Agent, Approval, Block, Compaction, Editor, Message, Passage, Run, Tool
from agents.runs.loop import run_agent
from agents.runs.reflection import reflect


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The demo model without its pace."""
    monkeypatch.setattr(DemoTransport.__init__, "__defaults__", (0,))
    openai.client.cache_clear()
    yield
    openai.client.cache_clear()


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
    tell(pupil, "Remember for later that the wifi password is hunter2. Tag it home and wifi.")
    assert Passage.objects.values_list("text", "tags").get() == (
        "the wifi password is hunter2",
        ["home", "wifi"],
    )
    assert tell(pupil, "What is the wifi password?") == (
        "My archive says: “the wifi password is hunter2”"
    )
    assert "- the wifi password" in tell(pupil, "What do you have in your archive tagged wifi?")
    assert tell(pupil, "What is the door code?").startswith("I do not know that")
    tell(pupil, "I walked around the lake with Anna")
    quoted = tell(pupil, "What did I say about the lake?", "Did I mention the lake?")
    assert "I walked around the lake with Anna”" in quoted
    assert quoted.count("\n- ") == 1
    assert block(pupil) == "Name: Bob"


def test_what_left_the_context_is_known_by_the_summary(pupil: Agent) -> None:
    tell(pupil, "My dog is called Rex", "Forget my dog", "I saw a heron by the old mill", "Hello")
    pupil.refresh_from_db()
    run = pupil.send("Next", "compaction")
    run.acquire()
    compact(run, compile_context(pupil), *resolve(pupil.model), all_but_last=True)
    summary = Compaction.objects.get()
    assert summary.written_by == "model"
    assert summary.summary == "They also said:\n- “I saw a heron by the old mill”"


def test_it_reflects(pupil: Agent) -> None:
    tell(pupil, "I like cherry pie", "I live in Riga")
    human = pupil.block("human")
    assert human
    human.append("Likes cherry pies\nLives in Oslo", by=Editor.person(pupil.owner))
    assert finish(reflect(pupil)) == "I put ‘human’ in order."
    assert block(pupil) == "Name: Bob\nLikes cherry pies\nLives in Oslo"
    assert finish(reflect(pupil)) == "My memory is in order: nothing had to be changed."


def test_a_refusal_by_the_person_is_told(pupil: Agent) -> None:
    rule = {"type": "requires_approval", "tool_name": "core_memory_append"}
    pupil.configure(tool_rules=[rule])
    run = pupil.send("I like tea", "key")
    run_agent(run.pk)
    Approval.objects.get().decide("refused", by=pupil.owner, reason="not yet")
    assert finish(run) == "I did not save “Likes tea”: you refused it: not yet."


PUSH = '''
def task_queue_push(agent_state: "AgentState", task_description: str):
    """
    Push to a task queue stored in core memory.

    Args:
        task_description (str): A description of the next task you must accomplish.

    Returns:
        Optional[str]: None is always returned as this function does not produce a response.
    """
    import json
    tasks = json.loads(agent_state.memory.get_block("tasks").value)
    tasks.append(task_description)
    agent_state.memory.update_block_value("tasks", json.dumps(tasks))
    return None
'''
POP = '''
def task_queue_pop(agent_state: "AgentState"):
    """
    Get the next task from the task queue
    """
    import json
    tasks = json.loads(agent_state.memory.get_block("tasks").value)
    if len(tasks) == 0:
        return None
    task = tasks[0]
    agent_state.memory.update_block_value("tasks", json.dumps(tasks[1:]))
    return {returned}
'''
ADD = "Add 'start calling me Charles' and 'tell me a haiku about my name' as two seperate tasks."


@pytest.fixture(params=["method", "task", "remaining"])
def worker(request: pytest.FixtureRequest, alice: User, quick: None) -> Agent:
    """An agent with a queue of tasks: the memory class's own, or either notebook's, which talks."""
    values = {"human": "Name: Sarah", "persona": "You must clear your tasks.", "tasks": "[]"}
    if request.param == "method":
        return Agent.create(alice, "Worker", TaskMemory(values["human"], values["persona"]))
    returned = {"task": "task", "remaining": "f'Remaining tasks {json.dumps(tasks[1:])}'"}
    for source in (PUSH, POP.format(returned=returned[request.param])):
        Tool.from_source(alice, source)
    tools = ["send_message", "core_memory_replace", "task_queue_push", "task_queue_pop"]
    memory = BasicBlockMemory(Block(label=label, value=value) for label, value in values.items())
    return Agent.create(alice, "Worker", memory, tools=tools)


def test_the_notebooks_task_agent_clears_its_tasks(worker: Agent) -> None:
    said = tell(worker, ADD)
    assert "1. start calling me Charles" in said
    assert json.loads(block(worker, "tasks")) == [
        "start calling me Charles",
        "tell me a haiku about my name",
    ]
    said = tell(worker, "complete your tasks")
    assert "2. tell me a haiku about my name" in said
    assert "Charles, softly said" in said
    assert block(worker) == "Name: Charles"
    assert block(worker, "tasks") == "[]"
    assert tell(worker, "keep going") == "There are no tasks in the queue."
