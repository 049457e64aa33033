"""Memory classes: their blocks, their methods as tools, and classes of one's own."""

from __future__ import annotations

import json
import sys
import types
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.db import transaction

from agents.memory.classes import (
    CLASSES,
    BasicBlockMemory,
    ChatMemory,
    Memory,
    TaskMemory,
    load_classes,
)
from agents.models import Agent, Block, BlockEdit, Editor, MemoryRefusal, Run, Step
from agents.text.core_memory import TAGS_TEMPLATE
from agents.tools import Caller, ToolError, of_agent
from agents.tools.memory_methods import method_tools
from tests.support.stored import of
from tests.support.threads import at_once


class Diary(ChatMemory):
    """A class of one's own, partly in the way of those written for Letta."""

    description = "A diary"

    def __init__(self, human: str, persona: str, days: list[str] | None = None) -> None:
        super().__init__(human=human, persona=persona, limit=500)
        self.set_block(Block(label="days", value=json.dumps(days or []), limit=100))

    def write_down(  # type: ignore[misc]
        self: "Agent",  # noqa: UP037
        what: str,
        stars: int = 3,
    ) -> dict[str, int]:
        """Write down what happened.

        Args:
            what (str): What happened.
            stars (int): How good it was.
        """
        days = json.loads(self.memory.get_block("days").value)  # type: ignore[attr-defined]
        days.append(f"{what} {'*' * stars}")
        self.memory.update_block_value("days", json.dumps(days))  # type: ignore[attr-defined]
        return {"days": len(days)}

    def swap(self) -> None:
        """Swap persona and human."""
        persona, human = self.get_block("persona"), self.get_block("human")
        persona.value, human.value = human.value, persona.value

    def fail(self) -> None:
        """Write, then fail."""
        self.update_block_value("human", "nobody")
        raise RuntimeError("oh")

    def invent(self) -> None:
        """Make a block."""
        self.set_block(Block(label="new", value="x"))

    def unsaid(self) -> None:
        self.update_block_value("human", "no docstring, so no tool")

    def _hidden(self) -> None:
        """Nobody's business."""


@pytest.fixture
def diary(monkeypatch: pytest.MonkeyPatch) -> type[Diary]:
    monkeypatch.setitem(CLASSES, "Diary", Diary)
    return Diary


@pytest.fixture
def agent(alice: User) -> Agent:
    return Agent.create(alice, "Worker", TaskMemory(human="Bob", persona="I work", tasks=["a"]))


def calling(agent: Agent) -> Caller:
    run = Run.objects.create(**of(agent), key="k", text="Hello", status=Run.Status.RUNNING)
    return Caller(agent, Step.objects.create(run=run, number=1, model="m", endpoint="e"), "call-1")


def value(agent: Agent, label: str) -> str:
    block = agent.block(label)
    assert block is not None
    return block.value


def call(caller: Caller, name: str, **arguments: Any) -> str:
    tool = of_agent(caller.agent)[name]
    return tool.call(caller, tool.parse(json.dumps(arguments))).content


# -- the built-in classes --------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ChatMemory", "BasicBlockMemory", "TaskMemory"])
def test_each_class_can_begin_an_agent(name: str, alice: User) -> None:
    memory = CLASSES[name].blank()
    agent = Agent.create(alice, "New", memory)
    assert [b.label for b in agent.core_memory()] == memory.list_block_labels()
    assert list(of_agent(agent)) == agent.tools == memory.tools()
    assert memory.get_prompt_template() == TAGS_TEMPLATE


def test_a_memory_lists_gets_updates_and_compiles_its_blocks() -> None:
    memory = ChatMemory(human="Name: Bob", persona="You are a helpful assistant", limit=2000)
    assert memory.list_block_labels() == ["persona", "human"]
    memory.update_block_value("human", "Name: Ann")
    assert memory.get_block("human").value == "Name: Ann"
    assert memory.compile() == (
        '<persona characters="27/2000">\nYou are a helpful assistant\n</persona>\n'
        '<human characters="9/2000">\nName: Ann\n</human>'
    )
    with pytest.raises(KeyError, match=r"no block 'dog'; there are \['persona', 'human'\]"):
        memory.get_block("dog")
    with pytest.raises(TypeError, match="must be a string"):
        memory.update_block_value("human", ["Ann"])  # type: ignore[arg-type]


def test_a_task_memory_begins_with_its_tasks() -> None:
    memory = TaskMemory(human="Bob", persona="I work", tasks=["wasch’ ab"])
    assert memory.list_block_labels() == ["persona", "human", "tasks"]
    assert memory.get_block("tasks").value == '["wasch’ ab"]'
    assert TaskMemory().get_block("tasks").value == "[]"
    assert memory.tools() == [*Memory.tool_names, "task_queue_push", "task_queue_pop"]


def test_an_agent_works_off_its_tasks(agent: Agent) -> None:
    caller = calling(agent)
    assert call(caller, "task_queue_push", task_description="b") == "None"
    assert value(agent, "tasks") == '["a", "b"]'
    popped = [call(caller, "task_queue_pop") for _ in range(3)]
    assert popped == ["a", "b", "None"]
    assert value(agent, "tasks") == "[]"
    edits = BlockEdit.objects.order_by("pk")
    assert [e.after for e in edits] == ['["a", "b"]', '["b"]', "[]"]
    assert {(e.editor_kind, e.tool_call_id) for e in edits} == {("agent", "call-1")}


def test_a_queue_that_is_no_list_any_more_is_left_alone(agent: Agent) -> None:
    agent.blocks.filter(label="tasks").update(value='["a"]\n1. c', kind=Block.Kind.TEXT)
    caller = calling(agent)
    with pytest.raises(MemoryRefusal, match="not a JSON list any more"):
        call(caller, "task_queue_push", task_description="b")
    assert value(agent, "tasks") == '["a"]\n1. c'


def test_nothing_but_a_list_is_written_into_the_queue(agent: Agent) -> None:
    block = agent.block("tasks")
    assert block
    for by in (Editor.person(agent.owner), calling(agent).editor):
        with pytest.raises(MemoryRefusal, match="holds a JSON list"):
            block.append("1. c", by=by)
    assert value(agent, "tasks") == '["a"]'


def test_a_full_queue_refuses(agent: Agent) -> None:
    with pytest.raises(MemoryRefusal, match="of 2,000 characters; shorten it"):
        call(calling(agent), "task_queue_push", task_description="x" * 2000)
    assert value(agent, "tasks") == '["a"]'


@pytest.mark.django_db(transaction=True)
def test_of_pushes_at_the_same_time_none_is_lost(agent: Agent) -> None:
    caller = calling(agent)

    def push(worker: int) -> None:
        for n in range(10):
            with transaction.atomic():
                call(caller, "task_queue_push", task_description=f"{worker}/{n}")

    at_once(push, range(4))
    assert len(json.loads(value(agent, "tasks"))) == 41


# -- methods as tools ------------------------------------------------------------------------------


def test_public_methods_with_docstrings_are_tools(diary: type[Diary]) -> None:
    assert list(method_tools(diary)) == ["write_down", "swap", "fail", "invent"]
    assert method_tools(diary)["write_down"].schema == {
        "name": "write_down",
        "description": "Write down what happened.",
        "parameters": {
            "type": "object",
            "properties": {
                "what": {"type": "string", "description": "What happened."},
                "stars": {"type": "integer", "default": 3, "description": "How good it was."},
            },
            "required": ["what"],
            "additionalProperties": False,
        },
    }
    assert method_tools(ChatMemory) == method_tools(BasicBlockMemory) == {}


def test_a_method_works_on_the_agents_blocks(diary: type[Diary], alice: User) -> None:
    agent = Agent.create(alice, "Writer", diary("Bob", "I write"))
    caller = calling(agent)
    assert call(caller, "write_down", what="Sun", stars=1) == '{"days": 1}'
    assert call(caller, "write_down", what="Rain") == '{"days": 2}'
    assert value(agent, "days") == '["Sun *", "Rain ***"]'
    assert call(caller, "swap") == "None"
    assert (value(agent, "persona"), value(agent, "human")) == ("Bob", "I write")


def test_a_method_that_fails_changes_nothing(diary: type[Diary], alice: User) -> None:
    agent = Agent.create(alice, "Writer", diary("Bob", "I write"))
    caller = calling(agent)
    with pytest.raises(RuntimeError, match="oh"):
        call(caller, "fail")
    with pytest.raises(MemoryRefusal, match="no block 'new'"):
        call(caller, "invent")
    with pytest.raises(MemoryRefusal, match="'days' would be"), transaction.atomic():
        call(caller, "write_down", what="x" * 100)
    assert not BlockEdit.objects.exists()


def test_a_methods_arguments_are_checked(diary: type[Diary], alice: User) -> None:
    caller = calling(Agent.create(alice, "Writer", diary("Bob", "I write")))
    with pytest.raises(ToolError, match="the argument 'what' must be a string"):
        call(caller, "write_down", what=3)


def test_a_method_whose_argument_is_not_described_is_refused_by_its_name() -> None:
    class Mute(ChatMemory):
        def say(self, what: str) -> None:
            """Say it."""

    with pytest.raises(ImproperlyConfigured) as error:
        method_tools(Mute)
    assert "The method say of the memory class Mute" in str(error.value)
    assert "does not describe the argument 'what'" in str(error.value)


# -- classes of one's own --------------------------------------------------------------------------


@pytest.fixture
def module() -> Iterator[types.ModuleType]:
    """A module of the operator's, `ours`."""
    made = types.ModuleType("ours")
    sys.modules["ours"] = made
    yield made
    del sys.modules["ours"]


def test_a_class_of_ones_own_is_found_by_its_path(module: types.ModuleType) -> None:
    module.Diary = Diary  # type: ignore[attr-defined]
    assert load_classes(["ours.Diary"]) == {"Diary": Diary}
    assert Diary.blank().list_block_labels() == ["persona", "human", "days"]


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("nowhere.Diary", "names nowhere.Diary, which cannot be imported: ModuleNotFoundError"),
        ("ours.Missing", 'cannot be imported: ImportError: Module "ours" does not define'),
        ("Diary", "names Diary, which cannot be imported"),
        ("ours.number", "names ours.number, which is not a subclass of agents.memory.Memory"),
        ("ours.ChatMemory", "there is a memory class ChatMemory already"),
    ],
)
def test_a_path_that_leads_nowhere_is_told_with_the_reason(
    path: str, words: str, module: types.ModuleType
) -> None:
    module.number = 3  # type: ignore[attr-defined]
    module.ChatMemory = ChatMemory  # type: ignore[attr-defined]
    with pytest.raises(ImproperlyConfigured) as error:
        load_classes([path])
    assert words in str(error.value)
