"""Agent files: what is written, what is read of other people's, and what is refused."""

from __future__ import annotations

import json
import time
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from agents.agent_file import AgentFileError, export_agent, import_agent, read, written
from agents.agent_file.toolset import renamed
from agents.blame import blame
from agents.history import history
from agents.models import (
    Agent,
    Block,
    Compaction,
    Editor,
    Event,
    Message,
    Passage,
    Run,
    Step,
    Tool,
)
from agents.models.tag import AgentTag
from tests.addresses import everything
from tests.conftest import Ask
from tests.fake_openai import FakeOpenAI, calls, text

FILES = Path(__file__).parent / "agent_files"
SOURCE = '''def look_up_book(title: str) -> str:
    """Look a book up.

    Args:
        title: The title of the book.
    """
    return title if len(title) < 5 else look_up_book(title[1:])
'''


def sample(name: str) -> Any:
    return read((FILES / name).read_bytes())


def refusal(owner: User, data: Any) -> str:
    """Why a file is refused; nothing may have been stored."""
    before = everything()
    with pytest.raises(AgentFileError) as refused:
        import_agent(owner, data)
    assert everything() == before
    return str(refused.value)


def noted(notes: list[str], *words: str) -> bool:
    """Whether one of the notes has all these words."""
    return any(all(word in note for word in words) for note in notes)


def comparable(agent: Agent) -> dict[str, Any]:
    """An agent's file without the times at which agent and file were made."""
    file: dict[str, Any] = json.loads("".join(written(agent)))
    file.pop("created_at")
    file["agents"][0]["messages"][0].pop("created_at")
    return file


# -- the older form: one agent -----------------------------------------------------------------


def test_an_older_file_becomes_an_agent_with_its_settings(alice: User) -> None:
    imported = import_agent(alice, sample("single.af"))
    agent = imported.agent
    assert (agent.owner, agent.name, agent.model) == (alice, "librarian", "openai/gpt-4o-mini")
    assert agent.system_prompt.startswith("You are a librarian")
    assert agent.context_window == 64_000
    assert (agent.description, agent.metadata) == ("Knows the shelves", {"shelf": 7})
    assert [tag.tag for tag in AgentTag.objects.filter(agent=agent)] == ["books"]
    assert agent.tools == [
        "send_message",
        "core_memory_replace",
        "conversation_search",
        "look_up_book",
    ]
    assert agent.tool_rules == [
        {"tool_name": "conversation_search", "type": "continue_loop"},
        {"tool_name": "send_message", "type": "exit_loop"},
    ]
    assert not noted(imported.notes, "continue_loop")
    assert noted(imported.notes, "CATALOGUE_KEY")
    assert noted(imported.notes, "temperature, max_tokens")
    assert agent.events.get().kind == Event.Kind.AGENT_CHANGED


def test_imported_blocks_are_written_by_the_import(alice: User) -> None:
    agent = import_agent(alice, sample("single.af")).agent
    assert [block.label for block in agent.core_memory()] == ["human", "persona"]
    human = agent.block("human")
    assert human is not None
    assert (human.value, human.limit, human.version) == ("Name: Ada\nReads crime", 2000, 1)
    edit = human.edits.get()
    assert (edit.editor_kind, edit.editor_name, edit.user) == (Editor.IMPORT, "alice", alice)


def test_what_was_said_is_in_order_and_without_what_letta_adds(alice: User) -> None:
    imported = import_agent(alice, sample("single.af"))
    said = [(m.role, m.content or m.tool_calls[0]["name"]) for m in imported.agent.messages.all()]
    assert [role for role, _ in said] == [
        *("assistant", "tool"),
        *("user", "assistant", "tool", "assistant", "tool"),
        *("user", "assistant", "tool"),
    ]
    assert said[2] == ("user", "My name is Ada, I read crime novels")
    assert noted(imported.notes, "3 messages", "compiled system prompt")
    assert noted(imported.notes, "2 messages", "heartbeat")
    thought = imported.agent.messages.get(number=4)
    assert thought.reasoning == "She told me her name. I should note it."
    failed = imported.agent.messages.last()
    assert failed is not None
    assert failed.is_error


def test_a_summary_becomes_a_compaction_and_the_context_begins_where_it_did(alice: User) -> None:
    agent = import_agent(alice, sample("single.af")).agent
    compaction = Compaction.newest(agent)
    assert compaction is not None
    assert compaction.summary == "Ada told her name and that she reads crime novels."
    assert (compaction.first, compaction.last, agent.context_from) == (1, 7, 8)
    assert json.loads(history(agent)[0].json)["content"] == "What should I read next?"


def test_a_run_is_made_of_each_message_of_the_person_and_a_step_of_each_answer(
    alice: User,
) -> None:
    agent = import_agent(alice, sample("single.af")).agent
    runs = list(Run.objects.filter(agent=agent))
    assert [(run.text[:10], len(run.taken), run.reason) for run in runs] == [
        ("", 1, Run.Reason.GIVEN),
        ("My name is", 2, Run.Reason.ANSWERED),
        ("What shoul", 1, Run.Reason.ANSWERED),
    ]
    step = runs[1].taken[0]
    assert step.request == {}
    assert step.seconds == 120
    assert (step.started_at.minute, step.model) == (3, "gpt-4o-mini")
    [card] = step.cards()
    assert card.call.name == "core_memory_replace"
    assert card.answer is not None


def test_an_imported_agent_is_drawn_and_goes_on(
    client: Client, alice: User, model: FakeOpenAI, ask: Ask, agent: Agent, settings: Settings
) -> None:
    settings.ACCOUNTS = True
    client.force_login(alice)
    imported = import_agent(alice, sample("single.af")).agent
    page = client.get(reverse("agent", args=[imported.pk])).content.decode()
    for said in ("My name is Ada", "Nice to meet you, Ada!", "Ada told her name", "Reads crime"):
        assert said in page
    model.script(calls(("send_message", {"message": "Gaudy Night."})))
    ask("Another one?", of=imported)
    sent = model.requests[-1]["messages"]
    assert [m["role"] for m in sent] == ["system", "user", "assistant", "tool", "user"]
    assert "Ada told her name" in sent[0]["content"]
    assert sent[3]["tool_call_id"] == sent[2]["tool_calls"][0]["id"]


# -- the newer form: lists ---------------------------------------------------------------------


def test_all_agents_of_a_newer_file_are_made_and_share_their_blocks(alice: User) -> None:
    imported = import_agent(alice, sample("lists.af"))
    planner, packer = imported.agents
    assert (planner.name, packer.name) == ("planner", "packer")
    assert planner.block("human") == packer.block("human")
    assert Block.objects.filter(owner=alice).count() == 4
    assert noted(imported.notes, "1 group")
    assert noted(imported.notes, "1 MCP server", "trains")
    assert noted(imported.notes, "1 file")
    assert noted(imported.notes, "1 source", "maps")
    assert noted(imported.notes, "packer", "sleeptime_agent")
    assert noted(imported.notes, "packer", "reflected by itself")


def test_a_block_that_cannot_be_so_is_mended_and_noted(alice: User) -> None:
    imported = import_agent(alice, sample("lists.af"))
    blocks = {block.label: block for block in imported.agent.core_memory()}
    assert list(blocks) == ["human", "travel plans_", "human_2", "persona"]
    mended = blocks["travel plans_"]
    assert (mended.value, mended.limit, mended.metadata) == ("Oslo, then Riga", 15, {"by": "hand"})
    assert blocks["persona"].read_only
    assert blocks["persona"].description == "Who I am"
    assert noted(imported.notes, "'travel plans!' is called 'travel plans_'")
    assert noted(imported.notes, "raised from 5 to 15")
    assert noted(imported.notes, "'human' is called 'human_2'")


def test_tools_that_can_be_used_are_taken_and_the_others_named(alice: User) -> None:
    imported = import_agent(alice, sample("lists.af"))
    assert imported.agent.tools == ["weather", "memory_insert"]
    assert [tool.name for tool in Tool.objects.filter(owner=alice)] == ["weather"]
    assert noted(imported.notes, "run_code", "the server they come from")
    assert noted(imported.notes, "pack", "typescript")
    assert noted(imported.notes, "fetch", "requests")
    assert noted(imported.notes, "'odd' was not taken over", "no docstring")
    assert imported.agent.tool_rules == [
        {"tool_name": "weather", "type": "max_count_per_step", "max_count_limit": 3},
        {
            "tool_name": "weather",
            "type": "conditional",
            "child_output_mapping": {"Rain": "memory_insert"},
        },
    ]
    assert noted(imported.notes, "'run_first' for 'fetch'")


def test_rules_are_taken_over_by_the_names_that_tools_have_here(alice: User) -> None:
    file = sample("lists.af")
    Tool.from_source(alice, SOURCE.replace("look_up_book", "weather"))
    rules = file["agents"][0]["tool_rules"]
    rules[:] = [
        {"tool_name": "memory_insert", "type": "required_before_exit"},
        {"tool_name": "memory_insert", "type": "parent_last_tool", "children": ["weather"]},
        {
            "tool_name": "weather",
            "type": "conditional",
            "child_output_mapping": {"weather": "weather"},
            "default_child": "memory_insert",
            "require_output_mapping": True,
        },
        {
            "tool_name": "weather",
            "type": "constrain_child_tools",
            "children": ["weather"],
            "child_arg_nodes": [{"name": "weather", "args": {"city": "Oslo"}}],
        },
        {"tool_name": "weather", "type": "conditional", "child_output_mapping": {"x": 3}},
        {"tool_name": "weather", "type": "dance"},
    ]
    imported = import_agent(alice, file)
    assert imported.agent.tool_rules == [
        {"tool_name": "memory_insert", "type": "required_before_exit"},
        {"tool_name": "memory_insert", "type": "parent_last_tool", "children": ["weather_2"]},
        {
            "tool_name": "weather_2",
            "type": "conditional",
            "child_output_mapping": {"weather": "weather_2"},
            "default_child": "memory_insert",
            "require_output_mapping": True,
        },
        {"tool_name": "weather_2", "type": "constrain_child_tools", "children": ["weather_2"]},
    ]
    assert noted(imported.notes, "arguments", "'constrain_child_tools' for 'weather' sets")
    assert noted(imported.notes, "'conditional' for 'weather' was not taken over")
    assert noted(imported.notes, "'dance'", "mean nothing here")


def test_what_a_file_written_by_hand_says_in_the_agent_itself_is_taken_too(alice: User) -> None:
    file = sample("lists.af")
    agent = file["agents"][0]
    agent["memory_blocks"] = [{"label": "notes", "value": "By hand"}]
    agent["tools"] = ["archival_memory_insert", "teleport"]
    file["tools"][0]["default_requires_approval"] = True
    imported = import_agent(alice, file)
    notes = imported.agent.block("notes")
    assert notes is not None
    assert (notes.value, notes.limit) == ("By hand", 2000)
    assert imported.agent.tools == ["weather", "memory_insert", "archival_memory_insert"]
    assert noted(imported.notes, "teleport")
    assert imported.agent.tool_rules[-1] == {"tool_name": "weather", "type": "requires_approval"}


def test_every_call_is_answered_in_the_context(alice: User) -> None:
    imported = import_agent(alice, sample("lists.af"))
    sent = [json.loads(each.json) for each in history(imported.agent)]
    for place, message in enumerate(sent):
        for n, call in enumerate(message.get("tool_calls", []), 1):
            assert sent[place + n]["tool_call_id"] == call["id"]
    returns = {m["tool_call_id"]: m["content"] for m in sent if m["role"] == "tool"}
    assert returns["call-a"] == "No such city"
    assert returns["call-b"] == "Rain"
    assert returns["call-c"].startswith("No return is known")
    assert Message.objects.get(tool_call_id="call-a").is_error
    assert Message.objects.get(tool_call_id="call-b").stdout == "asked the station"
    asked = imported.agent.messages.get(number=2)
    assert (asked.content, asked.reasoning) == ("I look both up.", "I ask for both at once.")
    for words in (
        ("1 tool return", "no call"),
        ("1 tool call had no return",),
        ("1 message of the context",),
        ("picture",),
        ("role",),
    ):
        assert noted(imported.notes, *words)


def test_an_unanswered_message_is_a_run_that_stopped(alice: User) -> None:
    agent = import_agent(alice, sample("lists.af")).agent
    last = agent.last_run()
    assert last is not None
    assert (last.text, last.status, last.reason) == ("Hello?", "stopped", Run.Reason.CANCELLED)


def test_reading_the_same_file_again_uses_the_same_tool(alice: User) -> None:
    for _ in range(2):
        imported = import_agent(alice, sample("single.af"))
        assert imported.agent.tools[-1] == "look_up_book"
    assert Tool.objects.filter(owner=alice).count() == 1


def test_another_tool_of_that_name_is_left_alone(alice: User, bob: User) -> None:
    own = Tool.from_source(alice, SOURCE)
    imported = import_agent(alice, sample("single.af"))
    assert imported.agent.tools[-1] == "look_up_book_2"
    assert noted(imported.notes, "'look_up_book' is called 'look_up_book_2'")
    own.refresh_from_db()
    assert own.source == SOURCE
    assert import_agent(bob, sample("single.af")).agent.tools[-1] == "look_up_book"
    over = import_agent(alice, sample("single.af"), overwrite_tools=True)
    assert over.agent.tools[-1] == "look_up_book"
    own.refresh_from_db()
    assert "second floor" in own.source


def test_a_tool_that_is_named_like_a_built_in_one_is_renamed(alice: User) -> None:
    file = sample("single.af")
    file["tools"][-1]["name"] = "send_message"
    file["tools"][-1]["source_code"] = SOURCE.replace("look_up_book", "send_message")
    imported = import_agent(alice, file)
    assert "send_message_2" in imported.agent.tools
    assert noted(imported.notes, "send_message_2")


def test_a_function_is_renamed_where_it_calls_itself_and_not_in_texts() -> None:
    changed = renamed(SOURCE.replace("Look a book up", "Call look_up_book"), "look_up_book", "find")
    assert "def find(title" in changed
    assert "else find(title[1:])" in changed
    assert "Call look_up_book" in changed


def test_options_name_the_agent_choose_the_model_and_leave_messages_out(alice: User) -> None:
    made = import_agent(
        alice, sample("single.af"), name="Ada's", suffix="_copy", model="demo/x"
    ).agent
    assert (made.name, made.model, made.message_count) == ("Ada's_copy", "demo/x", 10)
    bare = import_agent(alice, sample("single.af"), with_messages=False).agent
    assert (bare.message_count, bare.context_from) == (0, 0)
    assert not bare.messages.exists()
    assert not bare.runs.exists()
    assert bare.block("human") is not None


def test_characters_that_cannot_be_stored_are_marked(alice: User) -> None:
    file = sample("single.af")
    file["messages"][4]["content"][0]["text"] = json.dumps(
        {"type": "user_message", "message": "in\ud800side"}
    )
    file["core_memory"][0]["value"] = "a\0b"
    file["name"] = "half \ud800"
    imported = import_agent(alice, file)
    human = imported.agent.block("human")
    assert human is not None
    assert human.value == "a\ufffdb"
    assert imported.agent.name == "half \ufffd"
    assert imported.agent.messages.get(number=3).content == "in\ufffdside"
    assert noted(imported.notes, "2 texts", "cannot be stored")


# -- there and back ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["single.af", "lists.af"])
def test_what_was_imported_and_exported_is_imported_the_same(name: str, alice: User) -> None:
    first = import_agent(alice, sample(name)).agent
    again = import_agent(alice, export_agent(first))
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
    AgentTag.put(agent, ["maths"])
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
    run = agent.last_run()
    assert run is not None
    numbers = {"first": 1, "last": 4, "tokens_before": 90, "tokens_after": 40}
    Compaction.objects.create(
        agent=agent, run=run, summary="They talked of pie.", written_by="person", **numbers
    )
    Agent.objects.filter(pk=agent.pk).update(context_from=5)
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
    assert [each.json for each in history(again)] == [each.json for each in history(lived)]
    assert Tool.objects.get(owner=bob).limits().seconds == 2.0
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
    compaction = Compaction.newest(again)
    assert compaction is not None
    assert compaction.summary == "They talked of pie."
    assert again.context_from == 5
    assert [b.value for b in again.core_memory()] == [b.value for b in lived.core_memory()]
    assert again.passage_count == 0


def test_a_running_agent_is_exported_without_what_is_not_complete(
    agent: Agent, bob: User, settings: Settings
) -> None:
    run = agent.send("Hello", "one")
    agent.send("And then?", "two")
    step = Step.objects.create(run=run, number=1)
    Message.objects.create(
        agent=agent, run=run, step=step, number=2, role="assistant", status="draft"
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
    run = Run.objects.create(agent=agent, key="x", text="Hi", status=Run.Status.DONE)
    rows = [
        Message(agent=agent, run=run, number=n, role="user", content=f"Message {n}")
        for n in range(1, 3001)
    ]
    Message.objects.bulk_create(rows)
    with django_assert_max_num_queries(25):
        began = time.monotonic()
        size = sum(len(piece) for piece in written(agent))
    assert size > 1_000_000
    assert time.monotonic() - began < 2


# -- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "not JSON"),
        (b"no", "not JSON"),
        (b'{"agents": [NaN]}', "no number"),
        (b"\xff\xfe", "UTF-8"),
        (b"[" * 100_000, "nested"),
    ],
)
def test_what_is_no_json_is_refused_in_a_sentence(raw: bytes, said: str) -> None:
    with pytest.raises(AgentFileError, match=said):
        read(raw)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([], "The file should be an object, not a list."),
        (None, "The file should be an object, not null."),
        ({"a": 1}, "neither 'agents'"),
        ({"agents": []}, "The file has 0 agents"),
        ({"agents": [5]}, "agents[0] should be an object, not a whole number."),
        ({"agents": [{}]}, "agents[0].id is missing; it should be a text."),
        ({"agents": [{"id": "a", "messages": [{}]}]}, "agents[0].messages[0].id is missing"),
        ({"agents": [{"id": "a"}], "blocks": [{"label": "x"}]}, "blocks[0].id is missing"),
        ({"agents": [{"id": "a", "x": 1e999}]}, "a number that is too large"),
        ({"core_memory": {}}, "core_memory should be a list, not an object."),
        (
            {"core_memory": [], "in_context_message_indices": [3]},
            "names the message 3; there are 0",
        ),
    ],
)
def test_what_is_no_agent_file_is_refused_in_a_sentence(data: Any, said: str, alice: User) -> None:
    assert said in refusal(alice, data)


def test_a_file_that_is_nested_too_deeply_is_refused(alice: User) -> None:
    deep: Any = "x"
    for _ in range(200):
        deep = [deep]
    assert "levels deep" in refusal(alice, {"agents": [{"id": "agent-0", "x": deep}]})


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("name", 5, "agents[0].name should be a text, not a whole number."),
        ("system", "x" * 100_001, "agents[0].system has 100,001 characters"),
        ("messages.1.role", None, "agents[0].messages[1].role is missing"),
        ("messages.1.created_at", "soon", "'soon', which is no date"),
        ("messages.2.tool_calls.0.id", "", "should have 1 to 200 characters"),
        ("messages.2.tool_calls.0.id", None, "tool_calls[0].id is missing"),
        ("messages.2.content.0", 5, "content[0] should be an object"),
        ("tool_rules.0.max_count_limit", "3", "max_count_limit should be a whole number"),
        ("llm_config", "gpt", "agents[0].llm_config should be an object"),
        ("tags", [1], "agents[0].tags[0] should be a text"),
    ],
)
def test_a_wrong_value_is_named_with_its_place(
    path: str, value: Any, said: str, alice: User
) -> None:
    file = sample("lists.af")
    *steps, last = path.split(".")
    place = file["agents"][0]
    for step in steps:
        place = place[int(step) if isinstance(place, list) else step]
    place[int(last) if isinstance(place, list) else last] = value
    assert said in refusal(alice, file)


@pytest.mark.parametrize(
    ("part", "value", "said"),
    [
        ("runs", [{"kind": "x"}], "runs[0]"),
        ("messages", [{"id": "message-1", "run": 9}], "'message-1' is of run 9"),
        ("passages", [{"text": " "}], "The passage is empty"),
        ("passages", [{"text": "x", "tags": ["y" * 101]}], "101 characters"),
        ("compactions", [{"run": 7}], "run is 7"),
        ("blocks", {"block-0": {"first": "x" * 3000}}, "over the limit"),
        ("blocks", {"block-0": {"edits": [{"undoes": 1}]}}, "undoes should be from 1 to 0"),
        ("settings", {"max_steps": 0}, "max_steps should be from 1 to 1,000"),
    ],
)
def test_our_own_part_is_checked_as_well(
    part: str, value: Any, said: str, agent: Agent, ask: Ask, bob: User
) -> None:
    ask("Hello")
    file = export_agent(agent)
    file["memoryweb"]["agents"]["agent-0"][part] = value
    assert said in refusal(bob, file)


def test_a_later_version_of_our_part_is_left_out(agent: Agent, bob: User) -> None:
    file = export_agent(agent)
    file["memoryweb"]["version"] = 2
    imported = import_agent(bob, file)
    assert noted(imported.notes, "version 2")


# -- the pages ---------------------------------------------------------------------------------


@pytest.fixture
def as_alice(client: Client, alice: User, settings: Settings) -> Client:
    settings.ACCOUNTS = True
    client.force_login(alice)
    return client


def upload(client: Client, raw: bytes, **more: str) -> Any:
    file = SimpleUploadedFile("agent.af", raw)
    return client.post(reverse("agent_import"), {"file": file, **more})


def test_a_file_is_uploaded_and_what_is_not_as_it_was_is_told(
    as_alice: Client, alice: User
) -> None:
    assert 'enctype="multipart/form-data"' in as_alice.get(reverse("agent_import")).content.decode()
    raw = (FILES / "lists.af").read_bytes()
    response = upload(as_alice, raw, with_messages="on")
    assert response.url == reverse("agent_imported")
    agents = Agent.objects.filter(owner=alice)
    assert {agent.name for agent in agents} == {"planner", "packer"}
    for _ in range(2):  # looking again is not importing again
        page = as_alice.get(response.url).content.decode()
        for agent in agents:
            assert reverse("agent", args=[agent.pk]) in page
        assert "STATION_KEY" in page
    assert Agent.objects.count() == 2


def test_the_form_can_name_the_agent_and_leave_messages_out(as_alice: Client, alice: User) -> None:
    upload(as_alice, (FILES / "single.af").read_bytes(), name="Mine")
    agent = Agent.objects.get(owner=alice)
    assert (agent.name, agent.message_count) == ("Mine", 0)


@pytest.mark.parametrize("raw", [b"{", b"[]", b"{}", b"\xff", b"null", b'{"agents": 5}'])
def test_a_bad_file_is_refused_on_the_page(raw: bytes, as_alice: Client) -> None:
    response = upload(as_alice, raw)
    assert response.status_code == 422
    assert "errorlist" in response.content.decode()
    assert not Agent.objects.exists()


def test_no_file_and_an_empty_one_are_refused(as_alice: Client) -> None:
    assert as_alice.post(reverse("agent_import")).status_code == 422
    assert upload(as_alice, b"").status_code == 422


def test_a_file_that_is_too_large_is_refused(
    as_alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.views.agent_files.LARGEST", 100)
    response = upload(as_alice, (FILES / "single.af").read_bytes())
    assert response.status_code == 422
    assert "MB is the most" in response.content.decode()
    assert not Agent.objects.exists()


def test_an_upload_needs_the_page_s_token(alice: User, settings: Settings) -> None:
    settings.ACCOUNTS = True
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice)
    assert upload(client, (FILES / "single.af").read_bytes()).status_code == 403
    assert not Agent.objects.exists()


def test_before_any_import_there_is_nothing_to_tell(as_alice: Client) -> None:
    assert as_alice.get(reverse("agent_imported"))["Location"] == reverse("agent_import")


def test_an_agent_is_downloaded_and_that_writes_nothing(
    as_alice: Client, agent: Agent, ask: Ask
) -> None:
    ask("Hello")
    before = everything()
    response = as_alice.get(reverse("agent_export", args=[agent.pk]))
    raw = b"".join(response)
    assert everything() == before
    assert response["Content-Disposition"] == 'attachment; filename="tutor.af"'
    assert response["Content-Length"] == str(len(raw))
    assert read(raw)["agents"][0]["name"] == "Tutor"
    assert as_alice.post(reverse("agent_export", args=[agent.pk])).status_code == 405


def test_nobody_downloads_another_s_agent(client: Client, agent: Agent, bob: User, settings: Any):
    settings.ACCOUNTS = True
    client.force_login(bob)
    assert client.get(reverse("agent_export", args=[agent.pk])).status_code == 404


def test_the_pages_lead_to_import_and_export(as_alice: Client, agent: Agent) -> None:
    page = as_alice.get(reverse("agent_new")).content.decode()
    assert reverse("agent_import") in page
    page = as_alice.get(reverse("agent_settings", args=[agent.pk])).content.decode()
    assert reverse("agent_export", args=[agent.pk]) in page


# -- the commands ------------------------------------------------------------------------------


def test_an_agent_is_exported_and_imported_by_commands(
    agent: Agent, bob: User, tmp_path: Path
) -> None:
    path = tmp_path / "tutor.af"
    call_command("export_agent", str(agent.pk), str(path), stdout=StringIO())
    said = StringIO()
    call_command("import_agent", str(path), owner="bob", name="Mine", stdout=said)
    made = Agent.objects.get(owner=bob)
    assert made.name == "Mine"
    assert str(made.pk) in said.getvalue()
    human = made.block("human")
    assert human is not None
    assert human.value == "Name: Bob"


def test_commands_say_what_is_wrong(agent: Agent, tmp_path: Path, settings: Settings) -> None:
    bad = tmp_path / "bad.af"
    bad.write_text("{}")
    for arguments, said in (
        (("export_agent", "nobody"), "no agent with the id 'nobody'"),
        (("export_agent", str(agent.pk), str(tmp_path)), "cannot be written"),
        (("import_agent", str(bad)), "neither 'agents'"),
        (("import_agent", str(tmp_path / "none.af")), "cannot be read"),
        (("import_agent", str(bad), "--owner", "carol"), "no person 'carol'"),
    ):
        with pytest.raises(CommandError, match=said):
            call_command(*arguments)
    settings.ACCOUNTS = True
    with pytest.raises(CommandError, match="--owner"):
        call_command("import_agent", str(bad))


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
