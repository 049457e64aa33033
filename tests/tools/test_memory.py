"""What the model does to core memory with its tools, and what it is told."""

from __future__ import annotations

from typing import Any

import pytest

from agents import tools
from agents.models import Agent, Block, MemoryRefusal, Run, Step
from agents.text.similar_lines import new_similar_lines, similar_lines
from agents.tools import Caller
from tests.support.stored import of

LINES = "Name: Bob\nCity: Riga\nLikes: pie"


@pytest.fixture
def caller(agent: Agent) -> Caller:
    """The agent in a step; its `human` block has three lines."""
    Block.objects.filter(label="human").update(value=LINES)
    run = Run.objects.create(**of(agent), key="k", text="Hello", status=Run.Status.RUNNING)
    step = Step.objects.create(run=run, number=1, model="m", endpoint="e")
    return Caller(agent, step, "call-1")


def call(caller: Caller, name: str, **arguments: Any) -> str:
    return tools.get(name).call(caller, arguments).content


def human() -> str:
    return Block.objects.get(label="human").value


@pytest.mark.parametrize(
    ("line", "value"),
    [
        (0, f"New\n{LINES}"),
        (1, "Name: Bob\nNew\nCity: Riga\nLikes: pie"),
        (3, f"{LINES}\nNew"),
        (-1, f"{LINES}\nNew"),
    ],
)
def test_insert_puts_a_line_below_another(caller: Caller, line: int, value: str) -> None:
    call(caller, "memory_insert", label="human", new_string="New", insert_line=line)
    assert human() == value


@pytest.mark.parametrize("line", [4, -2, 10**9])
def test_insert_beyond_the_lines_says_how_many_there_are(caller: Caller, line: int) -> None:
    with pytest.raises(MemoryRefusal, match="has 3 lines; insert_line is 0"):
        call(caller, "memory_insert", label="human", new_string="New", insert_line=line)
    assert human() == LINES


def test_insert_into_an_empty_block_leaves_no_empty_line(caller: Caller) -> None:
    Block.objects.filter(label="human").update(value="")
    call(caller, "memory_insert", label="human", new_string="New")
    assert human() == "New"


def test_replace_wants_exactly_one_match(caller: Caller) -> None:
    call(caller, "memory_replace", label="human", old_string="Riga", new_string="Rome")
    assert "City: Rome" in human()
    with pytest.raises(MemoryRefusal, match="does not occur"):
        call(caller, "memory_replace", label="human", old_string="Riga", new_string="Rome")
    with pytest.raises(MemoryRefusal, match=r"occurs 3 times .* in lines 1, 2, 3;"):
        call(caller, "memory_replace", label="human", old_string=": ", new_string="=")
    with pytest.raises(MemoryRefusal, match="is empty"):
        call(caller, "memory_replace", label="human", old_string="", new_string="=")


def test_rethink_writes_the_whole_value(caller: Caller) -> None:
    call(caller, "memory_rethink", label="human", new_memory="Bob of Riga")
    assert human() == "Bob of Riga"


def test_save_adds_to_a_section(caller: Caller) -> None:
    told = call(caller, "core_memory_save", section="human", memory="Has a dog")
    assert human() == f"{LINES}\nHas a dog"
    assert told.startswith("Done.")
    with pytest.raises(MemoryRefusal, match="'persona', 'human'"):
        call(caller, "core_memory_save", section="agent", memory="x")


# -- typed blocks ----------------------------------------------------------------------------------


@pytest.fixture
def tasks(caller: Caller) -> Block:
    block = Block.objects.create(
        owner=caller.agent.owner, label="tasks", kind="list", value="[]", limit=500
    )
    caller.agent.attach(block)
    return block


def test_an_append_cannot_break_a_list(caller: Caller, tasks: Block) -> None:
    with pytest.raises(MemoryRefusal, match="holds a JSON list and was left as it is"):
        call(caller, "core_memory_append", label="tasks", content="1. Water the garden")
    tasks.refresh_from_db()
    assert (tasks.value, tasks.version) == ("[]", 0)
    call(caller, "memory_rethink", label="tasks", new_memory='["Water the garden"]')
    tasks.refresh_from_db()
    assert tasks.value == '["Water the garden"]'


@pytest.mark.parametrize("value", ["{}", "7", "null", '"x"', "[1,", "", "[" * 100_000])
def test_a_list_stays_a_list(caller: Caller, tasks: Block, value: str) -> None:
    tasks.configure(limit=200_000)
    with pytest.raises(MemoryRefusal):
        call(caller, "memory_rethink", label="tasks", new_memory=value)


def test_a_schema_holds(caller: Caller, tasks: Block) -> None:
    tasks.configure(schema={"items": {"type": "string", "minLength": 2}})
    with pytest.raises(MemoryRefusal, match=r"at \[1\], 7 is not of type 'string'"):
        call(caller, "memory_rethink", label="tasks", new_memory='["ab", 7]')
    call(caller, "memory_rethink", label="tasks", new_memory='["ab"]')


def test_a_schema_fetches_nothing(caller: Caller, tasks: Block) -> None:
    tasks.configure(schema={"items": {"$ref": "http://127.0.0.1:9/schema.json"}})
    with pytest.raises(MemoryRefusal, match="schema cannot be applied"):
        call(caller, "memory_rethink", label="tasks", new_memory="[1]")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"schema": {"type": "nonsense"}}, "schema"),
        ({"schema": [1]}, "schema"),
        ({"kind": "object"}, "value"),
        ({"schema": {"minItems": 1}}, "value"),
    ],
)
def test_settings_that_do_not_fit_are_refused(
    tasks: Block, changes: dict[str, Any], field: str
) -> None:
    from django.core.exceptions import ValidationError

    with pytest.raises(ValidationError) as caught:
        tasks.configure(**changes)
    assert field in caught.value.message_dict


# -- duplicates ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Likes cherry pie", "- likes cherry pie."),
        ("Likes cherry pie", "2. Likes  cherry pie!"),
        ("Lives in the old town of Riga", "Lives in the old town of Riga."),
        ("Has a dog called Rex, a spaniel", "Has a dog called Rex, the spaniel"),
    ],
)
def test_lines_that_say_the_same_are_found(one: str, other: str) -> None:
    assert similar_lines(f"Name: Bob\n{one}\n{other}") == {2: 1}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Likes cherry pie", "Likes apple pie"),
        ("Born in 1971 in Riga", "Born in 1972 in Riga"),
        ("---", "---"),
        ("Name: Bob", "Name: Rob and Anna"),
    ],
)
def test_lines_that_differ_are_left_alone(one: str, other: str) -> None:
    assert similar_lines(f"{one}\n{other}") == {}


def test_the_model_is_told_of_a_line_that_repeats_another(caller: Caller) -> None:
    told = call(caller, "core_memory_append", label="human", content="- likes pie")
    assert "Note: '- likes pie' repeats 'Likes: pie'." in told
    assert human() == f"{LINES}\n- likes pie"  # nothing is merged
    told = call(caller, "core_memory_append", label="human", content="Plays chess")
    assert "Note" not in told  # said once, not with every later edit


def test_only_what_an_edit_brought_about_is_new() -> None:
    assert new_similar_lines("a line\na line", "a line\na line\nmore") == []
    assert new_similar_lines("a line", "a line\nA line.") == [("a line", "A line.")]


def test_a_long_block_is_compared_quickly() -> None:
    value = "\n".join(f"Fact number {n} about {'x' * (n % 40)} and more" for n in range(5000))
    assert similar_lines(value) == {}
