"""Agent files: what is read of other people's."""

from __future__ import annotations

import json

from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from agents.agent_file import import_agent
from agents.memory.context_messages import context_messages
from agents.models import Agent, Block, Compaction, Editor, Event, Message, Run, Tool
from agents.models.tag import AgentTag
from tests.conftest import Ask
from tests.support.agent_file_samples import noted, sample
from tests.support.fake_openai import FakeOpenAI, calls

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
    assert imported.agent.model_settings == {"temperature": 0.3, "max_output_tokens": 4096}
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
    compaction = Compaction.newest(agent.first_conversation)
    assert compaction is not None
    assert compaction.summary == "Ada told her name and that she reads crime novels."
    assert (compaction.first, compaction.last, agent.first_conversation.context_from) == (1, 7, 8)
    assert (
        json.loads(context_messages(agent.first_conversation)[0].json)["content"]
        == "What should I read next?"
    )


def test_a_run_is_made_of_each_message_of_the_person_and_a_step_of_each_answer(alice: User) -> None:
    agent = import_agent(alice, sample("single.af")).agent
    runs = list(Run.objects.filter(agent=agent))
    assert [(run.text[:10], len(run.step_list), run.reason) for run in runs] == [
        ("", 1, Run.Reason.GIVEN),
        ("My name is", 2, Run.Reason.ANSWERED),
        ("What shoul", 1, Run.Reason.ANSWERED),
    ]
    step = runs[1].step_list[0]
    assert step.request == {}
    assert step.seconds == 120
    assert (step.started_at.minute, step.model) == (3, "gpt-4o-mini")
    [card] = step.cards()
    assert card.call.name == "core_memory_replace"
    assert card.answer is not None


def test_an_imported_agent_is_drawn_and_goes_on(
    alice: User, model: FakeOpenAI, ask: Ask, agent: Agent, web: Client
) -> None:
    imported = import_agent(alice, sample("single.af")).agent
    page = web.get(reverse("agent", args=[imported.pk])).content.decode()
    for said in ("My name is Ada", "Nice to meet you, Ada!", "Ada told her name", "Reads crime"):
        assert said in page
    model.models = ["fake-model", "gpt-4o-mini"]
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
    assert (planner.agent_type, packer.agent_type) == ("letta_v1_agent", "sleeptime_agent")
    assert noted(imported.notes, "packer", "reflected by itself")


def test_a_block_that_cannot_be_so_is_mended_and_noted(alice: User) -> None:
    imported = import_agent(alice, sample("lists.af"))
    blocks = {block.label: block for block in imported.agent.core_memory()}
    assert list(blocks) == ["human", "travel plans_", "human_2", "persona"]
    mended = blocks["travel plans_"]
    assert (mended.value, mended.limit, mended.metadata) == ("Oslo, then Riga", 15, {"by": "hand"})
    assert blocks["persona"].read_only
    assert blocks["persona"].description == "Who I am"
    assert noted(imported.notes, "'travel plans!' is now called 'travel plans_'")
    assert noted(imported.notes, "raised from 5 to 15")
    assert noted(imported.notes, "'human' is now called 'human_2'")


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
    assert imported.agent.tools == [
        *("weather", "memory_insert", "run_code", "archival_memory_insert")
    ]
    assert noted(imported.notes, "teleport")
    assert Tool.objects.get(name="weather").default_requires_approval


def test_every_call_is_answered_in_the_context(alice: User) -> None:
    imported = import_agent(alice, sample("lists.af"))
    sent = [json.loads(each.json) for each in context_messages(imported.agent.first_conversation)]
    for place, message in enumerate(sent):
        for n, call in enumerate(message.get("tool_calls", []), 1):
            assert sent[place + n]["tool_call_id"] == call["id"]
    returns = {m["tool_call_id"]: m["content"] for m in sent if m["role"] == "tool"}
    assert returns["call-a"] == "No such city"
    assert returns["call-b"] == "Rain"
    assert returns["call-c"].startswith("The return of this call is unknown")
    assert Message.objects.get(tool_call_id="call-a").is_error
    assert Message.objects.get(tool_call_id="call-b").stdout == "asked the station"
    asked = imported.agent.messages.get(number=2)
    assert (asked.content, asked.reasoning) == ("I look both up.", "I ask for both at once.")
    for words in (
        ("1 tool return", "no call"),
        ("1 tool call had no return",),
        ("1 message of the context",),
        ("image that cannot be read",),
        ("role",),
    ):
        assert noted(imported.notes, *words)


def test_an_unanswered_message_is_a_run_that_stopped(alice: User) -> None:
    agent = import_agent(alice, sample("lists.af")).agent
    last = agent.first_conversation.last_run()
    assert last is not None
    assert (last.text, last.status, last.reason) == ("Hello?", "stopped", Run.Reason.CANCELLED)


def test_options_name_the_agent_choose_the_model_and_leave_messages_out(alice: User) -> None:
    made = import_agent(
        alice, sample("single.af"), name="Ada's", suffix="_copy", model="demo/x"
    ).agent
    assert (made.name, made.model, made.message_count) == ("Ada's_copy", "demo/x", 10)
    bare = import_agent(alice, sample("single.af"), with_messages=False).agent
    assert (bare.message_count, bare.first_conversation.context_from) == (0, 0)
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
