"""Agent files: there and back, and anything at all between."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from agents.agent_file import AgentFileError, export_agent, import_agent, written
from agents.ledger.blame import blame
from agents.memory.context_messages import context_messages
from agents.models import Agent, Block, Compaction, Editor, Message, Passage, Run, Step, Tool
from agents.models.tag import AgentTag
from agents.tools.custom.sandbox import limits_of
from tests.conftest import Ask
from tests.support.agent_file_samples import SOURCE, noted, sample
from tests.support.fake_openai import FakeOpenAI, calls, text
from tests.support.stored import of


def comparable(agent: Agent) -> dict[str, Any]:
    """An agent's file without the times at which agent and file were made."""
    file: dict[str, Any] = json.loads("".join(written(agent)))
    file.pop("created_at")
    file["agents"][0]["messages"][0].pop("created_at")
    return file


# -- there and back ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["single.af", "lists.af"])
def test_what_was_imported_and_exported_is_imported_the_same(name: str, alice: User) -> None:
    first = import_agent(alice, sample(name)).agent
    values = dict.fromkeys(first.secrets, "k")
    again = import_agent(alice, export_agent(first), secrets=values)
    assert again.notes == []
    assert again.agent.pk != first.pk
    assert comparable(again.agent) == comparable(first)


@pytest.fixture
def lived(agent: Agent, model: FakeOpenAI, ask: Ask) -> Agent:
    """An agent with a bit of everything: edits, an undo, a tool, passages, a compaction."""
    Tool.from_source(agent.owner, SOURCE, tags=["books"], seconds=2.0)
    agent.configure(
        tools=[*agent.tools, "look_up_book"],
        tool_rules=[{"tool_name": "look_up_book", "type": "requires_approval"}],
        description="For sums",
        metadata={"room": 3},
        max_steps=9,
        reflect_every=7,
        context_window=5000,
    )
    AgentTag.replace(agent, ["maths"])
    insert = ("archival_memory_insert", {"content": "Likes pie", "tags": ["food"]})
    append = ("core_memory_append", {"label": "human", "content": "Pie"})
    model.script(calls(append, insert), text("Noted."), text("Two."), text("Three."))
    ask("I like pie")
    ask("One plus one?")
    ask('{"type": "heartbeat"}')
    by = Editor.person(agent.owner)
    human, persona = agent.block("human"), agent.block("persona")
    assert human is not None
    assert persona is not None
    edit = human.append("Wrong", by=by)
    assert edit is not None
    human.undo(edit, by=by)
    human.set_value("Name: Bob\nLast", by=by)
    human.restore(1, by=by)
    persona.configure(read_only=True, description="Who I am", ask_before_write=True)
    tasks = Block(
        owner=agent.owner, label="tasks", kind="list", value='["a"]', schema={"type": "array"}
    )
    tasks.save()
    agent.attach(tasks)
    Passage.insert(agent, "Old", ["x"], by=by, created_at=timezone.now().replace(year=2020))
    run = agent.first_conversation.last_run()
    assert run is not None
    numbers = {"first": 1, "last": 4, "tokens_before": 90, "tokens_after": 40}
    Compaction.objects.create(
        conversation_id=agent.pk,
        run=run,
        summary="They talked of pie.",
        written_by="person",
        **numbers,
    )
    agent.conversations.update(context_from=5)
    agent.refresh_from_db()
    return agent


def test_an_exported_agent_comes_back_whole(lived: Agent, bob: User) -> None:
    file = json.loads("".join(written(lived)))
    imported = import_agent(bob, file)
    assert imported.notes == []
    again = imported.agent
    assert comparable(again) == comparable(lived)
    assert again.owner == bob
    assert (again.passage_count, again.message_count) == (2, lived.message_count)
    assert [each.json for each in context_messages(again.first_conversation)] == [
        each.json for each in context_messages(lived.first_conversation)
    ]
    assert limits_of(Tool.objects.get(owner=bob)).seconds == 2.0
    messages = zip(again.messages.all(), lived.messages.all(), strict=True)
    for copied, first in messages:
        assert (copied.content, copied.created_at) == (first.content, first.created_at)
        assert copied.tool_calls == first.tool_calls
    assert again.messages.filter(content='{"type": "heartbeat"}').exists()


def test_the_ledger_comes_back_as_imported_and_can_be_undone(lived: Agent, bob: User) -> None:
    again = import_agent(bob, export_agent(lived)).agent
    human, first = again.block("human"), lived.block("human")
    assert human is not None
    assert first is not None
    edits = list(human.edits.order_by("version"))
    before = list(first.edits.order_by("version"))
    assert {edit.editor_kind for edit in edits} == {Editor.IMPORT}
    assert [edit.editor_name for edit in edits] == ["Tutor", *["alice"] * 4]
    for copied, was in zip(edits, before, strict=True):
        assert (copied.before, copied.after, copied.created_at) == (
            was.before,
            was.after,
            was.created_at,
        )
    assert edits[2].undoes == edits[1]
    assert edits[4].restores == 1
    step = edits[0].step
    assert isinstance(step, Step)
    assert step.run.agent == again
    human.undo(edits[4], by=Editor.person(bob))
    assert human.value == "Name: Bob\nLast"
    assert [line.text for line in blame(human).lines] == ["Name: Bob", "Last"]


def test_an_export_is_of_the_format_that_letta_reads(lived: Agent) -> None:
    file, model = export_agent(lived), sample("lists.af")
    assert list(file)[: len(model)] == list(model)
    assert all(isinstance(value, str) for value in file["metadata"].values())
    agent, theirs = file["agents"][0], model["agents"][0]
    assert theirs.keys() <= agent.keys()
    for kind in ("blocks", "tools"):
        assert file[kind][0].keys() == model[kind][0].keys()
        prefix = kind.rstrip("s")
        assert [each["id"] for each in file[kind]] == [
            f"{prefix}-{n}" for n in range(len(file[kind]))
        ]
    assert agent["messages"][0].keys() == theirs["messages"][0].keys()
    ids = [message["id"] for message in agent["messages"]]
    assert len(ids) == len(set(ids))
    assert set(agent["in_context_message_ids"]) <= set(ids)
    first = agent["messages"][0]
    assert (first["role"], first["id"]) == ("system", agent["in_context_message_ids"][0])
    assert agent["messages"][5]["role"] == "user"
    assert "They talked of pie." in agent["messages"][5]["content"][0]["text"]
    assert agent["messages"][5]["id"] == agent["in_context_message_ids"][1]


def test_another_reader_s_file_without_our_part_keeps_memory_and_messages(
    lived: Agent, bob: User
) -> None:
    file = export_agent(lived)
    del file["memoryweb"]
    again = import_agent(bob, file).agent
    compaction = Compaction.newest(again.first_conversation)
    assert compaction is not None
    assert compaction.summary == "They talked of pie."
    assert again.first_conversation.context_from == 5
    assert [b.value for b in again.core_memory()] == [b.value for b in lived.core_memory()]
    assert again.passage_count == 0


def test_a_running_agent_is_exported_without_what_is_not_complete(
    agent: Agent, bob: User, settings: Settings
) -> None:
    run = agent.send("Hello", "one")
    agent.send("And then?", "two")
    step = Step.objects.create(run=run, number=1)
    Message.objects.create(
        **of(agent), run=run, step=step, number=2, role="assistant", status="draft"
    )
    again = import_agent(bob, export_agent(agent)).agent
    assert [(each.text, each.status) for each in again.runs.all()] == [("Hello", "stopped")]
    assert [message.content for message in again.messages.all()] == ["Hello"]


def test_a_template_of_ones_own_is_not_read_from_a_file(agent: Agent, bob: User) -> None:
    file = export_agent(agent)
    file["memoryweb"]["agents"]["agent-0"]["settings"]["prompt_template"] = "{{ 7 * 7 }}"
    imported = import_agent(bob, file)
    assert imported.agent.prompt_template == ""
    assert noted(imported.notes, "template")


def test_an_export_reads_no_more_often_for_more_messages(
    agent: Agent, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    run = Run.objects.create(**of(agent), key="x", text="Hi", status=Run.Status.DONE)
    rows = [
        Message(**of(agent), run=run, number=n, role="user", content=f"Message {n}")
        for n in range(1, 3001)
    ]
    Message.objects.bulk_create(rows)
    with django_assert_max_num_queries(25):
        size = sum(len(piece) for piece in written(agent))
    assert size > 1_000_000


# -- anything at all ---------------------------------------------------------------------------


ANYTHING: list[Any] = [
    None,
    5,
    "x",
    [],
    {},
    [[1]],
    [{}],
    True,
    -1,
    1.5,
    "a\0b",
    10**30,
    {"a": {"b": [1]}},
]


def places(value: Any, *above: Any) -> list[tuple[Any, ...]]:
    """The way to each value inside a value."""
    found: list[tuple[Any, ...]] = [above]
    inside: Any = value.items() if isinstance(value, dict) else ()
    for name, each in enumerate(value) if isinstance(value, list) else inside:
        found += places(each, *above, name)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", ["single.af", "lists.af", "ours"])
def test_whatever_stands_somewhere_is_taken_or_refused_in_a_sentence(
    name: str, lived: Agent, bob: User
) -> None:
    whole = json.dumps(export_agent(lived) if name == "ours" else sample(name))
    chance = Random(7)
    refused = 0
    for _ in range(60):
        file = json.loads(whole)
        *way, last = chance.choice(places(file)[1:])
        place = file
        for step in way:
            place = place[step]
        place[last] = chance.choice(ANYTHING)
        before = stored()
        said = ""
        try:
            import_agent(bob, file)
        except AgentFileError as error:
            said = str(error)
        if said:
            refused += 1
            assert said.endswith(".")
            assert stored() == before
    assert 0 < refused < 60


def stored() -> list[int]:
    return [model.objects.count() for model in (Agent, Block, Message, Tool)]
