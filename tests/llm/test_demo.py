"""The demo model: a door into the product, an honest stand-in for a model."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.runs.reflection import INSTRUCTIONS
from tests.support.demo_model import (
    MEMORY,
    answer,
    chunks_of,
    client,
    first_calls,
    named,
    schema,
    schemas,
    step,
    system,
)

ARCHIVE = "3 passages are in archival memory."
EMPTY = "0 passages are in archival memory."


def append(line: str) -> tuple[str, ...]:
    return ("core_memory_append", "human", line)


def replace(old: str, new: str) -> tuple[str, ...]:
    return ("core_memory_replace", "human", old, new)


def results(*texts: str, **more: str) -> str:
    """What a search tool returns."""
    return json.dumps({"results": [{"id": 1, "text": text, **more} for text in texts]})


# -- the wire --------------------------------------------------------------------------------------


def test_a_stream_has_the_role_pieces_of_text_the_finish_reason_and_the_usage() -> None:
    chunks = chunks_of([system("Name: Bob"), {"role": "user", "content": "What is my name?"}])
    deltas = [choice.delta for chunk in chunks for choice in chunk.choices]
    assert deltas[0].role == "assistant"
    assert "".join(delta.content or "" for delta in deltas) == "Your name is Bob."
    assert len(deltas) > 4
    assert chunks[-2].choices[0].finish_reason == "stop"
    assert chunks[-1].choices == []
    usage = chunks[-1].usage
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens > 20


def test_a_tool_call_streams_its_name_first_and_then_its_arguments_in_pieces() -> None:
    messages = [system(), {"role": "user", "content": "My name is Sarah"}]
    chunks = chunks_of(messages, schemas(*MEMORY))
    deltas = [d for chunk in chunks for o in chunk.choices for d in o.delta.tool_calls or []]
    assert deltas[0].function.name == "core_memory_append"
    assert not deltas[0].function.arguments
    assert len(deltas) > 3
    assert chunks[-2].choices[0].finish_reason == "tool_calls"


def test_closing_the_stream_stops_it_while_it_waits() -> None:
    async def first_chunk_then_close() -> str:
        messages: Any = [{"role": "user", "content": "Tell me a long story"}]
        stream: Any = await client(pace=3600).chat.completions.create(
            model="memoryweb-demo", messages=messages, stream=True
        )
        chunks = aiter(stream)
        role = (await anext(chunks)).choices[0].delta.role
        waiting = asyncio.ensure_future(anext(chunks, None))
        await asyncio.sleep(0)
        await stream.response.aclose()
        await asyncio.wait([waiting], timeout=5)
        assert waiting.done()
        assert waiting.cancelled() or waiting.exception() or waiting.result() is None
        return str(role)

    assert asyncio.run(first_chunk_then_close()) == "assistant"


# -- what is called --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "My name is Sarah.", "my name is sarah", "Hi, I'm Sarah!", "I’m Sarah",
        "Please call me Sarah", "Actually, my name is Sarah.", "My name is Sarah, not Bob",
        "Remember that my name is Sarah", "My name is actually Sarah",
    ],
)  # fmt: skip
def test_a_name_is_appended_when_new_replaced_when_another_left_when_the_same(text: str) -> None:
    assert first_calls(text) == [append("Name: Sarah")]
    assert first_calls(text, "Likes tea\nName: Bob") == [replace("Name: Bob", "Name: Sarah")]
    assert first_calls(text, "Name: Sarah") == []


@pytest.mark.parametrize(
    ("text", "human", "calls"),
    [
        ("I like cherry pie.", "", [append("Likes cherry pie")]),
        ("I don't like olives", "", [append("Does not like olives")]),
        ("I no longer like tea", "- Likes tea", [replace("- Likes tea", "Does not like tea")]),
        ("I'm Al, and I love pie.", "", [append("Name: Al"), append("Loves pie")]),
        ("Add a task: water the roses.", "", [("task_queue_push", "water the roses")]),
        ("Remember for later that tea is out", "", [("archival_memory_insert", "tea is out")]),
        ("Please save this to archival memory: x", "", [("archival_memory_insert", "x")]),
        ("Where is the spare key?", "", [("archival_memory_search", "spare key")]),
        ("Where is the spare key?", "The spare key is here", []),
        ("What did I say about pie?", "", [("conversation_search", "pie")]),
        *((text, "", []) for text in ("I'm hungry", "I'm British", "I like it", "Thanks!", "?!")),
    ],
)  # fmt: skip
def test_what_is_said_becomes_calls(text: str, human: str, calls: list[Any]) -> None:
    offered = [*schemas(*MEMORY), schema("task_queue_push", {"task": "string"})]
    assert first_calls(text, human, offered, ARCHIVE) == calls


@pytest.mark.parametrize("name", ["memory_insert", "core_memory_save"])
def test_other_tools_that_add_to_memory_are_used_where_they_are_offered(name: str) -> None:
    assert first_calls("I like tea", offered=schemas(name)) == [(name, "human", "Likes tea")]
    calls = first_calls("I'm Bob", "Name: Al", schemas("memory_replace"))
    assert calls == [("memory_replace", "human", "Name: Al", "Name: Bob")]


def test_without_a_tool_or_a_choice_it_says_so_and_claims_nothing() -> None:
    messages = [system(), {"role": "user", "content": "My name is Sarah"}]
    text, calls = step(
        messages, [schema("core_memory_append", {"label": "string", "n": "integer"})]
    )
    assert (calls, "`core_memory_append`" in text, "does not have" in text) == ([], True, True)
    assert step(messages, schemas(*MEMORY), tool_choice="none")[1] == []


def test_with_send_message_it_talks_by_that_tool_and_asks_for_heartbeats() -> None:
    offered = schemas("send_message", "core_memory_append", heartbeat=True)
    messages: list[Any] = [system(), {"role": "user", "content": "I like tea"}]
    _, calls = step(messages, offered)
    assert named(calls) == [(*append("Likes tea"), True)]
    messages.append({"role": "assistant", "content": None, "tool_calls": calls})
    messages.append({"role": "tool", "tool_call_id": calls[0]["id"], "content": "Done."})
    text, calls = step(messages, offered)
    assert (text, named(calls)) == ("", [("send_message", "I noted in core memory: “Likes tea”.")])
    messages.append({"role": "assistant", "content": None, "tool_calls": calls})
    messages.append({"role": "tool", "tool_call_id": calls[0]["id"], "content": "Sent."})
    assert step(messages, offered) == ("", [])
    messages[-1]["content"] = "Error: not run, because the person refused it: no"
    assert "the person refused it: no" in step(messages, offered)[0]


# -- what is answered ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "human", "returned", "answered"),
    [
        ("I like tea", "", "Done.", "I noted in core memory: “Likes tea”."),
        ("I'm Al", "Name: Bo", "Done.", "I changed “Name: Bo” to “Name: Al” in core memory."),
        ("I'm Al", "Name: Al", "", "I know that already: “Name: Al”."),
        ("I like tea", "", "Error: Block 'human' is read-only.",
         "The call of `core_memory_append` failed: Block 'human' is read-only."),
        ("I like tea", "", "No return is known.",
         "`core_memory_append` returned: No return is known."),
        ("What is my name?", "My name is Bob", "", "Your name is Bob."),
        ("What do you know about me?", "Name: Bob\n- Likes tea", "",
         "This is what I know about you:\n\n- Name: Bob\n- Likes tea"),
        ("Where are my keys?", "The keys are in a box", "",
         "I remember: “The keys are in a box”."),
        ("Remember for later: x", "", "Done.", "I saved to archival memory: “x”."),
        ("Where is the spare key?", "", results("The key is under the mat", "Rats"),
         "My archive says: “The key is under the mat”"),
        ("What did I say about pie?", "", results("I like pie", "Pie is out", role="user"),
         "You said: “I like pie”, “Pie is out”"),
    ],
)  # fmt: skip
def test_it_says_what_it_knows_and_what_its_calls_returned(
    text: str, human: str, returned: str, answered: str
) -> None:
    assert answer(text, human, returned, more=ARCHIVE) == answered


def test_a_block_shared_by_another_person_is_read() -> None:
    block = '<human characters="9/2000" owner="alice">\nName: Bob\n</human>'
    messages = [{"role": "system", "content": block}, {"role": "user", "content": "Who am I?"}]
    assert step(messages)[0] == "Your name is Bob."


def test_what_nothing_is_known_of_is_not_made_up() -> None:
    for text in ("What do you know about me?", "What is my name?", "What is the door code?"):
        assert answer(text, more=EMPTY).startswith("I do not know that.")
    nothing = answer("Where is the spare key?", returned=results("Rats"), more=ARCHIVE)
    assert nothing.startswith("My archive says nothing about “spare key”.\n\nI do not know that.")


@pytest.mark.parametrize("text", ["Explain quantum physics", "asdf", "What is 2+2?", "Hello", ""])
def test_anything_else_is_answered_by_what_it_is_and_how_to_use_a_real_model(text: str) -> None:
    answered = answer(text, more=EMPTY)
    assert "a small set of rules, not a language model" in answered
    assert "OPENAI_API_KEY" in answered


def test_code_comes_in_a_fenced_block_and_a_story_is_long_enough_to_stop() -> None:
    assert "```python\ndef " in answer("Show me some code.")
    assert 350 < len(answer("Tell me a long story.").split()) < 520


# -- summaries and reflection ----------------------------------------------------------------------


def summarised(*lines: str, earlier: str = "", words: int = 300) -> str:
    """The summary of a conversation, asked for as compaction does."""
    request = f"Earlier summary:\n{earlier}\n\n" if earlier else ""
    request += "The conversation:\n" + "\n".join(lines)
    instructions = f"You summarise a conversation. Write plain sentences, at most {words} words."
    messages = [{"role": "system", "content": instructions}, {"role": "user", "content": request}]
    return step(messages)[0]


def test_a_summary_holds_what_the_person_said_and_the_summary_before() -> None:
    lines = ("Person: I saw\na heron", "Agent: Good.", "Person: Where?", "Tool returned: x")
    first = summarised(*lines)
    assert first == "The person said:\n- “I saw a heron”"
    assert summarised("Person: I like tea", earlier=first) == f"{first}\n- “I like tea”"
    assert summarised("Person: Who?") == "The person said nothing but questions."


def test_a_summary_keeps_to_the_words_it_is_given_and_drops_the_oldest() -> None:
    text = summarised(*(f"Person: number {n} of many things" for n in range(99)), words=40)
    assert len(text.split()) <= 40
    assert "number 98" in text
    assert "number 1 " not in text


def test_a_reflection_merges_lines_that_say_the_same() -> None:
    human, merged = "Likes tea\nName: Bob\n- likes tea.", "- likes tea.\nName: Bob"
    editing = schemas("core_memory_replace", "memory_rethink")
    assert first_calls(INSTRUCTIONS, human, editing) == [("memory_rethink", "human", merged)]
    assert first_calls(INSTRUCTIONS, human) == [replace(human, merged)]
    assert answer(INSTRUCTIONS, human, offered=editing) == "I put the block “human” in order."
    assert answer(INSTRUCTIONS, merged, offered=editing).startswith("My memory is in order")


# -- whatever is said and offered ------------------------------------------------------------------

WORDS = st.sampled_from(
    """my name is Sarah I like remember for later that where the key ? . , and add a task: call me
    what do you know about show code story search archive "x" 'y' not error""".split()  # noqa: SIM905
)
TEXTS = st.one_of(st.text(max_size=60), st.lists(WORDS, max_size=12).map(" ".join))
NAMES = st.sampled_from([*MEMORY, "send_message", "memory_rethink", "task_queue_push", "shout"])
TYPES = st.sampled_from(["string", "integer", "boolean"])
FIXED = st.sampled_from(["Done.", '{"results": [3]}'])
RETURNS = st.one_of(TEXTS, FIXED, TEXTS.map("Error: {}".format), TEXTS.map(results))
PARAMETERS = st.dictionaries(st.sampled_from(["label", "content", "x", "y"]), TYPES)
OPTIONAL = st.lists(st.sampled_from(["content", "x", "y"]))
TOOLS = st.lists(
    st.builds(schema, NAMES, PARAMETERS, OPTIONAL),
    max_size=5,
    unique_by=lambda tool: tool["function"]["name"],
)


@st.composite
def histories(draw: st.DrawFn) -> list[Any]:
    """Conversations as endpoints are sent them."""
    messages: list[Any] = [{"role": "system", "content": draw(TEXTS)}] * draw(st.integers(0, 1))
    messages += [system(draw(TEXTS), draw(TEXTS))] * draw(st.integers(0, 1))
    for turn in range(draw(st.integers(1, 3))):
        messages.append({"role": "user", "content": draw(TEXTS)})
        for number in range(draw(st.integers(0, 2))):
            key = f"call_{turn}_{number}"
            arguments = json.dumps(draw(st.dictionaries(st.sampled_from(["label", "q"]), TEXTS)))
            function = {"name": draw(NAMES), "arguments": arguments}
            call = {"id": key, "type": "function", "function": function}
            messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
            messages.append({"role": "tool", "tool_call_id": key, "content": draw(RETURNS)})
    return messages


@settings(deadline=None, database=None)
@given(histories(), TOOLS)
def test_any_history_is_answered_and_only_with_calls_that_fit_the_tools(
    messages: list[Any], offered: list[Any]
) -> None:
    text, calls = step(messages, offered)
    schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in offered}
    for call in calls:
        arguments = json.loads(call["function"]["arguments"])
        jsonschema_rs.validate(schemas[call["function"]["name"]], arguments)
    assert text or calls or any("tool_calls" in message for message in messages)
