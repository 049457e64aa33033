"""Tools that users write: when their changes are written, and when not."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from django.db import transaction

from agents.memory.classes import BasicBlockMemory
from agents.models import Agent, BlockEdit, Editor, Event, MemoryRefusal, Run, Step, Tool
from agents.tools import Caller, ToolError
from agents.tools.custom import CustomTool, WriteConflict, from_row
from tests.support.custom_tools import PUSH, tool, tried, value
from tests.support.stored import of
from tests.support.threads import at_once


def test_a_call_that_was_only_prepared_has_changed_nothing(caller: Caller) -> None:
    agent = caller.agent
    events = agent.events.count()
    push = from_row(Tool.from_source(agent.owner, PUSH))
    ran = push.prepare(agent, {"task": "wash"})
    (change,) = ran.changes
    assert (change.label, change.before, change.after) == ("tasks", "[]", '["wash"]')
    assert {kind for kind, _ in change.pieces()} != {"same"}
    assert value(agent, "tasks") == "[]"
    assert (agent.events.count(), BlockEdit.objects.count()) == (events, 0)


def test_a_call_that_is_kept_is_one_edit_a_block_with_its_event(caller: Caller) -> None:
    agent = caller.agent
    ran = tried(
        agent,
        "for n in range(3):\n"
        "    agent_state.memory.update_block_value('tasks', str([n]))\n"
        "agent_state.memory.update_block_value('human', 'Ann')",
    )
    with transaction.atomic():
        assert ran.apply(caller).content == "None"
    edits = {e.block.label: (e.before, e.after) for e in BlockEdit.objects.all()}
    assert edits == {"tasks": ("[]", "[2]"), "human": ("Bob", "Ann")}
    assert agent.events.filter(kind=Event.Kind.BLOCK_EDITED).count() == 2


def test_a_raise_after_a_write_takes_it_back(caller: Caller) -> None:
    agent = caller.agent
    ran = tried(
        agent,
        "from letta_client import Letta\n"
        "agent_state.memory.update_block_value('human', 'Ann')\n"
        "Letta().agents.passages.create(agent_state.id, text='x')\n"
        "print('so far')\n"
        "raise RuntimeError('oh')",
    )
    assert (ran.changes, ran.passages, ran.stdout) == ([], [], "so far\n")
    with pytest.raises(ToolError, match="Error executing function probe: RuntimeError: oh"):
        ran.apply(caller)
    assert value(agent, "human") == "Bob"
    assert not agent.passages.exists()


def test_what_a_call_read_must_still_read_so_when_it_is_kept(caller: Caller) -> None:
    agent = caller.agent
    push = from_row(Tool.from_source(agent.owner, PUSH))
    ran = push.prepare(agent, {"task": "wash"})
    tasks = agent.block("tasks")
    assert tasks
    tasks.set_value('["cook"]', by=Editor.person(agent.owner))
    with pytest.raises(WriteConflict), transaction.atomic():
        ran.apply(caller)
    assert value(agent, "tasks") == '["cook"]'
    with transaction.atomic():
        push.prepare(agent, {"task": "wash"}).apply(caller)
    assert value(agent, "tasks") == '["cook", "wash"]'


def test_a_block_the_call_did_not_touch_may_change_meanwhile(caller: Caller) -> None:
    agent = caller.agent
    ran = from_row(Tool.from_source(agent.owner, PUSH)).prepare(agent, {"task": "wash"})
    human = agent.block("human")
    assert human
    human.set_value("Ann", by=Editor.person(agent.owner))
    with transaction.atomic():
        ran.apply(caller)
    assert (value(agent, "human"), value(agent, "tasks")) == ("Ann", '["wash"]')


def test_a_block_that_was_detached_meanwhile_is_not_written(caller: Caller) -> None:
    agent = caller.agent
    push = from_row(Tool.from_source(agent.owner, PUSH))
    ran = push.prepare(agent, {"task": "wash"})
    tasks = agent.block("tasks")
    assert tasks
    agent.detach(tasks)
    with pytest.raises(WriteConflict), transaction.atomic():
        ran.apply(caller)
    assert "There is no block 'tasks'" in push.prepare(agent, {"task": "wash"}).error


def test_a_block_that_became_read_only_meanwhile_is_not_written(caller: Caller) -> None:
    agent = caller.agent
    ran = from_row(Tool.from_source(agent.owner, PUSH)).prepare(agent, {"task": "wash"})
    tasks = agent.block("tasks")
    assert tasks
    tasks.configure(read_only=True)
    with pytest.raises(MemoryRefusal, match="read-only"), transaction.atomic():
        ran.apply(caller)
    assert value(agent, "tasks") == "[]"


def call_until_written(tool: CustomTool, caller: Caller, arguments: dict[str, Any]) -> None:
    """Call a tool, and again where another call wrote meanwhile."""
    while True:
        ran = tool.prepare(caller.agent, arguments)
        with suppress(WriteConflict), transaction.atomic():
            ran.apply(caller)
            return


@pytest.mark.django_db(transaction=True)
def test_of_calls_at_the_same_time_none_is_lost(caller: Caller) -> None:
    agent = caller.agent
    push = from_row(Tool.from_source(agent.owner, PUSH))

    def ten_times(worker: int) -> None:
        for n in range(10):
            call_until_written(push, caller, {"task": f"{worker}/{n}"})

    at_once(ten_times, range(4))
    done = eval(value(agent, "tasks"))
    assert sorted(done) == sorted(f"{w}/{n}" for w in range(4) for n in range(10))
    assert BlockEdit.objects.count() == 40


@pytest.mark.django_db(transaction=True)
def test_calls_that_write_to_several_shared_blocks_do_not_wait_for_each_other_for_ever(
    caller: Caller,
) -> None:
    first = caller.agent
    second = Agent.create(first.owner, "Second", BasicBlockMemory())
    for block in reversed(first.core_memory()[:2]):
        second.attach(block)
    body = (
        "m = agent_state.memory\n"
        "for label in m.list_block_labels()[:2]:\n"
        "    m.update_block_value(label, m.get_block(label).value + '.')"
    )
    dot = tool(first.owner, body)
    steps = [caller]
    run = Run.objects.create(**of(second), key="k", text="Hello", status=Run.Status.RUNNING)
    step = Step.objects.create(run=run, number=1, model="m", endpoint="e")
    steps.append(Caller(second, step, "call-2"))

    def ten_times(by: Caller) -> None:
        for _ in range(10):
            call_until_written(dot, by, {})

    at_once(ten_times, steps)
    dots = sum(block.value.count(".") for block in first.core_memory())
    assert dots == 40
