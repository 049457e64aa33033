"""The demo model: a door into the product, an honest stand-in for a model."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx2
import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.llm.demo import DemoTransport
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
    return json.dumps(
        {"results": [{"id": 1, "text": text, "score": 1.5, **more} for text in texts]}
    )


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


def test_the_stream_is_server_sent_events_that_end_with_done() -> None:
    async def body() -> str:
        async with httpx2.AsyncClient(transport=DemoTransport(pace=0)) as http:
            request = {"model": "m", "messages": [{"role": "user", "content": "Hello"}]}
            return (await http.post("http://demo/v1/chat/completions", json=request)).text

    events = asyncio.run(body()).split("\n\n")
    assert events[-2:] == ["data: [DONE]", ""]
    assert all(event.startswith("data: {") for event in events[:-2])


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


# -- core memory -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "My name is Sarah.", "my name is sarah", "Hi, I'm Sarah!", "I’m Sarah",
        "Please call me Sarah",        "Actually, my name is Sarah.", "My name is Sarah, not Bob",
        "Remember that my name is Sarah",
    ],
)  # fmt: skip
def test_a_name_is_appended_when_new_replaced_when_another_left_when_the_same(text: str) -> None:
    assert first_calls(text) == [append("Name: Sarah")]
    assert first_calls(text, "Likes tea\nName: Bob") == [replace("Name: Bob", "Name: Sarah")]
    assert first_calls(text, "Name: Sarah") == []


@pytest.mark.parametrize(
    ("text", "human", "call"),
    [
        ("I like cherry pie.", "", append("Likes cherry pie")),
        ("I really love jazz", "", append("Loves jazz")),
        ("I don't like olives", "", append("Does not like olives")),
        ("I no longer like tea", "Likes tea", replace("Likes tea", "Does not like tea")),
        ("I moved to Oslo", "- Lives in Riga", replace("- Lives in Riga", "Lives in Oslo")),
        ("Remember that tea is at five", "Likes tea", append("Tea is at five")),
        ("Don't forget: tea at five", "", append("Tea at five")),
    ],
)
def test_what_is_told_is_noted_or_corrected(text: str, human: str, call: tuple[str, ...]) -> None:
    assert first_calls(text, human) == [call]


def test_two_things_told_make_two_calls_in_one_message() -> None:
    calls = first_calls("Hi! I'm Sarah, and I like cherry pie.")
    assert calls == [append("Name: Sarah"), append("Likes cherry pie")]


@pytest.mark.parametrize(
    "text",
    [
        "I'm hungry", "I'm British", "I like it", "I would like a coffee",
        "Do I like jazz?", "", "?!",        "What if I like jazz?", "Thanks!", "i'm so tired",
    ],
)  # fmt: skip
def test_small_talk_and_questions_write_nothing(text: str) -> None:
    assert [call for call in first_calls(text) if call[0] != "archival_memory_search"] == []


def test_the_json_template_is_read_as_well() -> None:
    blocks = {"agent": "You are kind", "facts": "Name: Bob\nLikes tea"}
    prompt = "You have a section [MEMORY] in your context.\n\n[MEMORY]\n" + json.dumps(blocks)
    messages = [{"role": "system", "content": prompt}, {"role": "user", "content": "I'm Sarah"}]
    _, calls = step(messages, schemas(*MEMORY))
    assert named(calls) == [("core_memory_replace", "facts", "Name: Bob", "Name: Sarah")]


def test_a_block_shared_by_another_person_is_read() -> None:
    block = '<human characters="9/2000" owner="alice">\nName: Bob\n</human>'
    messages = [{"role": "system", "content": block}, {"role": "user", "content": "Who am I?"}]
    assert step(messages)[0] == "Your name is Bob."


def test_what_is_known_is_told() -> None:
    known = answer("What do you know about me?", "Name: Bob\nLikes tea")
    assert known == "This is what I know about you:\n\n- Name: Bob\n- Likes tea"
    assert "I do not know that" in answer("What do you know about me?")
    assert "I do not know that" in answer("What is my name?")
    assert answer("Where are my keys?", "The keys are in a box") == (
        "I remember: “The keys are in a box”."
    )
    summary = "<conversation_summary>\nThe person said:\n- “I met Rex”\n</conversation_summary>"
    assert answer("Who is Rex?", more=summary) == "I remember: “““I met Rex”””.".replace(
        "“““", "““"
    ).replace("”””", "””")


# -- archival and recall memory, tasks -------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "Remember for later that the key is here.",
        "Please remember this for later: the key is here",
        "Save to archival memory: the key is here",
    ],
)
def test_what_is_for_later_goes_to_archival_memory(text: str) -> None:
    assert first_calls(text) == [("archival_memory_insert", "the key is here")]
    assert answer(text) == "I saved to archival memory: “the key is here”."
    assert first_calls(text, offered=schemas("core_memory_append")) == [append("The key is here")]


def test_what_core_memory_does_not_say_is_looked_up_in_archival_memory() -> None:
    question = "Where is the spare key?"
    assert first_calls(question, more=ARCHIVE) == [("archival_memory_search", "spare key")]
    assert first_calls(question, more=EMPTY) == []
    assert first_calls("Search your archive for keys") == [("archival_memory_search", "keys")]
    returned = results("the spare key is under the mat", "Rats in a cellar")
    assert answer(question, returned=returned, more=ARCHIVE) == (
        "My archive says: “the spare key is under the mat”"
    )
    nothing = answer(question, returned=results("Rats in a cellar"), more=ARCHIVE)
    assert nothing.startswith("My archive says nothing about “spare key”.\n\nI do not know that.")


def test_the_conversation_is_searched() -> None:
    question = "What did I say about cherry pie?"
    assert first_calls(question) == [("conversation_search", "cherry pie")]
    returned = results("I like cherry pie", "Cherry pie is out", role="user")
    assert answer(question, returned=returned) == (
        "Our conversations say:\n\n- “You said: I like cherry pie”\n- “You said: Cherry pie is out”"
    )


@pytest.mark.parametrize("name", ["task_queue_push", "task_push", "add_task"])
def test_a_tool_of_ones_own_is_called_for_a_task(name: str) -> None:
    own = [schema(name, {"what": "string"})]
    assert first_calls("Add a task: water the garden.", offered=own) == [(name, "water the garden")]
    returned = answer("Add a task: water the garden.", returned="Pushed.", offered=own)
    assert returned == f"`{name}` returned: Pushed."


# -- tools as they are offered ---------------------------------------------------------------------


@pytest.mark.parametrize("name", ["memory_insert", "core_memory_save"])
def test_other_tools_that_add_to_memory_are_used_where_they_are_offered(name: str) -> None:
    assert first_calls("I like tea", offered=schemas(name)) == [(name, "human", "Likes tea")]
    assert first_calls("I'm Bob", "Name: Al", schemas("memory_replace")) == [
        ("memory_replace", "human", "Name: Al", "Name: Bob")
    ]


def test_arguments_have_the_tools_own_names_and_fill_what_is_required() -> None:
    own = schema("core_memory_append", {"name": "string", "text": "string"})
    messages = [system(), {"role": "user", "content": "I like tea"}]
    [call] = step(messages, [own])[1]
    assert json.loads(call["function"]["arguments"]) == {"name": "human", "text": "Likes tea"}
    for other in (
        schema("core_memory_append", {"label": "string", "content": "string", "why": "string"}),
        schema("core_memory_append", {"label": "string", "content": "integer"}),
    ):
        assert "does not have" in step(messages, [other])[0]


def test_without_a_tool_or_a_choice_it_says_so_and_claims_nothing() -> None:
    messages = [system(), {"role": "user", "content": "My name is Sarah"}]
    text, calls = step(messages)
    assert (calls, "`core_memory_append`" in text) == ([], True)
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


# -- what it says ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "human", "said"),
    [
        ("I like tea", "", "I noted in core memory: “Likes tea”."),
        ("I'm Al", "Name: Bo", "I changed “Name: Bo” to “Name: Al” in core memory."),
        ("I'm Al. Where is Rex?", "Rex is home",
         "I noted in core memory: “Name: Al”.\n\nI remember: “Rex is home”."),
        ("I'm Al", "Name: Al", "I know that already: “Name: Al”."),
    ],
)  # fmt: skip
def test_it_says_what_it_did(text: str, human: str, said: str) -> None:
    assert answer(text, human) == said


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        ("Error: Block 'human' is read-only.",
         "The call of `core_memory_append` failed: Block 'human' is read-only."),
        ("No return is known.", "`core_memory_append` returned: No return is known."),
        ('(The person approved this with other arguments: {"content": "Likes rum"})\nDone.',
         "`core_memory_append` returned: (The person approved this with other arguments:"
         ' {"content": "Likes rum"})\nDone.'),
    ],
)  # fmt: skip
def test_what_a_call_did_not_do_is_not_claimed(returned: str, said: str) -> None:
    assert answer("I like tea", returned=returned) == said


@pytest.mark.parametrize(
    "text", ["Explain quantum physics", "asdf", "What is 2+2?", "Hello", "", "I"]
)
def test_anything_else_is_answered_by_what_it_is_and_how_to_use_a_real_model(text: str) -> None:
    said = answer(text, more=EMPTY)
    assert "a small set of rules, not a language model" in said
    assert "OPENAI_API_KEY" in said


def test_code_comes_in_a_fenced_block_and_a_story_is_long_enough_to_stop() -> None:
    assert "```python\ndef " in answer("Show me some code.")
    assert 350 < len(answer("Tell me a long story.").split()) < 520


# -- summaries and reflection ----------------------------------------------------------------------


def summarised(*lines: str, earlier: str = "", words: int = 300) -> str:
    """The summary of a conversation, asked for as compaction does."""
    asked = f"Earlier summary:\n{earlier}\n\n" if earlier else ""
    asked += "The conversation:\n" + "\n".join(lines)
    instructions = f"You summarise a conversation. Write plain sentences, at most {words} words."
    messages = [{"role": "system", "content": instructions}, {"role": "user", "content": asked}]
    return step(messages)[0]


def test_a_summary_holds_what_the_person_said_and_the_summary_before() -> None:
    first = summarised(
        "Person: I saw\na heron", "Agent: Good.", "Person: Where?", "Tool returned: x"
    )
    assert first == "The person said:\n- “I saw a heron”"
    second = summarised("Person: I like tea", earlier=first)
    assert second == f"{first}\n- “I like tea”"
    assert summarised("Person: Who?", earlier=second) == second
    assert summarised("Person: Who?") == "The person said nothing but questions."


def test_a_summary_keeps_to_the_words_it_is_given_and_drops_the_oldest() -> None:
    text = summarised(*(f"Person: number {n} of many things" for n in range(99)), words=40)
    assert len(text.split()) <= 40
    assert "number 98" in text
    assert "number 1 " not in text


@pytest.mark.parametrize(
    ("human", "tidy"),
    [
        ("Likes tea\nName: Bob\n- likes tea.", "- likes tea.\nName: Bob"),
        ("Likes tea\nName: Bob", ""),
    ],
)
def test_a_reflection_merges_lines_that_say_the_same(human: str, tidy: str) -> None:
    editing = schemas("core_memory_replace", "memory_rethink")
    calls = first_calls(INSTRUCTIONS, human, editing)
    assert calls == ([("memory_rethink", "human", tidy)] if tidy else [])
    said = "I put the block “human” in order." if tidy else "My memory is in order"
    assert answer(INSTRUCTIONS, human, offered=editing).startswith(said)
    replacing = first_calls(INSTRUCTIONS, human, schemas("core_memory_replace"))
    assert replacing == ([replace(human, tidy)] if tidy else [])


# -- whatever is said and offered ------------------------------------------------------------------

WORDS = st.sampled_from(
    """my name is Sarah I like remember for later that where the key ? . , and add a task: call me
    what do you know about show code story search archive "x" 'y' not error""".split()  # noqa: SIM905
)
TEXTS = st.one_of(st.text(max_size=60), st.lists(WORDS, max_size=12).map(" ".join))
NAMES = st.sampled_from([*MEMORY, "send_message", "memory_rethink", "task_push", "shout"])
TYPES = st.sampled_from(["string", "integer", "boolean"])
RETURNS = st.one_of(
    TEXTS,
    st.just("Done."),
    TEXTS.map("Error: {}".format),
    TEXTS.map(results),
    st.just('{"results": [3]}'),
)


@st.composite
def tools_of_all_kinds(draw: st.DrawFn) -> list[Any]:
    """Tools by the usual names, with parameters of any names and types."""
    made = []
    for name in draw(st.sets(NAMES, max_size=5)):
        typed = draw(st.dictionaries(st.sampled_from(["label", "content", "x", "y"]), TYPES))
        made.append(schema(name, typed, draw(st.lists(st.sampled_from(["content", "x", "y"])))))
    return made


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
@given(histories(), tools_of_all_kinds())
def test_any_history_is_answered_and_only_with_calls_that_fit_the_tools(
    messages: list[Any], offered: list[Any]
) -> None:
    text, calls = step(messages, offered)
    schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in offered}
    for call in calls:
        arguments = json.loads(call["function"]["arguments"])
        jsonschema_rs.validate(schemas[call["function"]["name"]], arguments)
    assert text or calls or any("tool_calls" in message for message in messages)
