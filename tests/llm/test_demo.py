"""The demo model, through the official client's streaming parser."""

import asyncio
import json
import time
from typing import Any

import httpx2
import openai
import pytest

from agents.llm.demo.model import MODEL, DemoTransport
from tests.support.demo_model import (
    HEARTBEAT,
    MEMORY,
    TOOLS,
    append,
    client,
    converse,
    hear,
    replace,
    say,
    schema,
    system,
)

# -- the wire --------------------------------------------------------------------------------


def test_the_one_model_is_listed():
    async def listed() -> list[str]:
        return [model.id for model in (await client().models.list()).data]

    assert asyncio.run(listed()) == [MODEL]


def test_a_stream_has_role_deltas_finish_reason_and_usage_in_that_order():
    heard = say("What is my name?", "Name: Sarah")
    assert heard.chunks[0].choices[0].delta.role == "assistant"
    assert heard.text == "Your name is Sarah."
    assert len(heard.chunks) > 5
    assert heard.chunks[-2].choices[0].finish_reason == heard.finish == "stop"
    assert heard.chunks[-1].choices == []
    assert heard.usage.total_tokens == heard.usage.prompt_tokens + heard.usage.completion_tokens
    assert len({chunk.id for chunk in heard.chunks}) == 1


def test_usage_comes_only_when_asked_for():
    async def usages() -> list[Any]:
        messages: Any = [{"role": "user", "content": "Hello"}]
        stream: Any = await client().chat.completions.create(
            model=MODEL, messages=messages, stream=True
        )
        return [chunk.usage async for chunk in stream]

    assert set(asyncio.run(usages())) == {None}


def test_the_stream_is_server_sent_events_that_end_with_done():
    async def body() -> str:
        async with httpx2.AsyncClient(transport=DemoTransport(pace=0)) as http:
            asked = {"messages": [{"role": "user", "content": "Hello"}], "stream": True}
            return (await http.post("http://demo/v1/chat/completions", json=asked)).text

    events = asyncio.run(body()).split("\n\n")
    assert events[-2:] == ["data: [DONE]", ""]
    assert all(event.startswith("data: {") for event in events[:-2])


def test_a_tool_call_streams_its_name_first_and_then_its_arguments_in_pieces():
    heard = say("My name is Sarah")
    deltas = [d for c in heard.chunks for o in c.choices for d in o.delta.tool_calls or []]
    assert deltas[0].function.name == "core_memory_append"
    assert deltas[0].id.startswith("call_")
    assert not deltas[0].function.arguments
    assert len(deltas) > 3
    assert all(delta.function.name is None for delta in deltas[1:])
    assert heard.finish == "tool_calls"


def test_without_stream_the_answer_is_one_completion():
    async def whole() -> Any:
        messages: Any = [system(), {"role": "user", "content": "I live in Riga"}]
        return await client().chat.completions.create(
            model=MODEL, messages=messages, tools=[schema(*tool) for tool in TOOLS.items()]
        )

    completion = asyncio.run(whole())
    [call] = completion.choices[0].message.tool_calls
    assert json.loads(call.function.arguments)["content"] == "Lives in Riga"
    assert completion.choices[0].finish_reason == "tool_calls"
    assert completion.usage.prompt_tokens > 10


def test_other_addresses_are_not_found():
    with pytest.raises(openai.NotFoundError, match="Unknown request URL"):
        asyncio.run(client().embeddings.create(model=MODEL, input="x"))


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[]",
        b"{}",
        b'{"messages": []}',
        b'{"messages": ["hi"]}',
        b'{"messages": 3}',
        b'{"messages": [{"role": "assistant", "tool_calls": [{}]}]}',
    ],
)
def test_a_request_without_proper_messages_is_refused_in_openais_form(body):
    async def send() -> httpx2.Response:
        async with httpx2.AsyncClient(transport=DemoTransport(pace=0)) as http:
            return await http.post("http://demo/v1/chat/completions", content=body)

    response = asyncio.run(send())
    assert response.status_code == 400
    assert response.json()["error"]["type"] == "invalid_request_error"


def test_closing_the_stream_stops_it_while_it_waits():
    async def first_chunk_then_close() -> str:
        messages: Any = [{"role": "user", "content": "Tell me a long story"}]
        stream: Any = await client(pace=3600).chat.completions.create(
            model=MODEL, messages=messages, stream=True
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


# -- other memories and tools ----------------------------------------------------------------


def test_the_json_template_is_read_as_well():
    blocks = {"agent": "You are kind", "human": "Name: Bob\nLikes tea"}
    prompt = "You have a section called [MEMORY] in your context.\n[MEMORY]\n" + json.dumps(blocks)
    sent = [{"role": "system", "content": prompt}, {"role": "user", "content": "My name is Sarah"}]
    assert hear(sent, TOOLS).made() == [replace("Name: Bob", "Name: Sarah")]
    sent[-1]["content"] = "You are a pirate"
    assert hear(sent, TOOLS).made() == [append("You are a pirate", "agent")]


def test_the_message_may_come_in_parts():
    parts = [{"type": "text", "text": "My name is Sarah"}]
    heard = hear([system(), {"role": "user", "content": parts}], TOOLS)
    assert heard.made() == [append("Name: Sarah")]


def test_core_memory_save_is_used_where_it_is_the_only_tool():
    heard = say("My name is Sarah", tools={"core_memory_save": ["section", "memory"]})
    assert heard.made() == [("core_memory_save", "human", "Name: Sarah")]


def test_parameters_are_called_as_the_tool_calls_them():
    heard = say("I like tea", tools={"core_memory_append": ["name", "content"]})
    assert json.loads(heard.calls[0]["arguments"]) == {"name": "human", "content": "Likes tea"}


def test_without_a_memory_tool_it_says_it_cannot_note_anything():
    heard = say("My name is Sarah", tools={})
    assert "no tool" in heard.text


def test_with_send_message_it_talks_by_that_tool_and_asks_for_heartbeats():
    tools = {name: [*parameters, HEARTBEAT] for name, parameters in TOOLS.items()}
    tools["send_message"] = ["message"]
    made, last = converse("My name is Sarah", tools=tools)
    assert made == [(*append("Name: Sarah"), True)]
    assert last.made() == [("send_message", "Nice to meet you, Sarah.")]
    assert last.text == ""


def test_after_send_message_there_is_nothing_more_to_say():
    call = {"id": "call_1", "type": "function"}
    call["function"] = {"name": "send_message", "arguments": '{"message": "Hi"}'}  # type: ignore[assignment]
    messages = [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "Sent."},
    ]
    heard = hear(messages, {"send_message": ["message"]})
    assert (heard.calls, heard.text, heard.finish) == ([], "", "stop")


# -- after the tools -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "human", "answer"),
    [
        ("My name is Sarah", "", "Nice to meet you, Sarah."),
        ("I like cherry pie", "", "Noted: you like cherry pie."),
        ("My name is Sarah and I like pie", "", "Nice to meet you, Sarah. Noted: you like pie."),
        ("My dog is called Rex", "", "Noted: your dog is Rex."),
        ("No, it's Sarah", "Name: Bob", "Corrected: your name is Sarah (it said “Name: Bob”)."),
        ("I moved to Rome", "Lives in Oslo",
         "Corrected: you live in Rome (it said “Lives in Oslo”)."),
        ("You are a pirate", "", "Noted, as part of my persona: You are a pirate."),
        ("My name is Sarah. Where do I live?", "Lives in Riga",
         "Nice to meet you, Sarah.\n\nYou live in Riga."),
    ],
)  # fmt: skip
def test_it_says_what_it_noted(text, human, answer):
    assert converse(text, human)[1].text == answer


@pytest.mark.parametrize(
    "error",
    [
        "'Name: Bob' does not occur in block 'human'; its value is now:\nName: Rob",
        "block 'human' would be 2,010 of 2,000 characters; shorten it by 10",
        "Error: no such block",
        "Block 'human' is read-only; tell the person what should change",
        json.dumps({"status": "Failed", "message": "No luck", "time": "now"}),
    ],
)
def test_an_error_is_told_plainly_and_not_tried_again(error):
    made, last = converse("My name is Sarah", "Name: Bob", returns=error)
    assert made == [replace("Name: Bob", "Name: Sarah")]
    assert last.text.startswith("I could not save “Name: Sarah”: ")
    plain = error.removeprefix("Error: ").split(";")[0]
    assert "No luck" in last.text or plain in last.text


def test_one_of_two_edits_may_fail():
    returns = ["Done.", "block 'human' would be 12 of 10 characters"]
    made, last = converse("I'm Sarah and I like pie", returns=returns)
    assert len(made) == 2
    assert "Nice to meet you, Sarah." in last.text
    assert "could not save “Likes pie”" in last.text


def test_a_known_fact_is_acknowledged():
    assert say("My name is Bob", "Name: Bob").text == "I know: your name is Bob."


# -- set pieces ------------------------------------------------------------------------------


@pytest.mark.parametrize("words", ["no, ", "my dog ", "and I ", "' ", "write code ", "a", "\n"])
def test_a_long_message_is_answered_quickly(words):
    started = time.perf_counter()
    assert say((words * 20_000)[:20_000]).finish
    assert time.perf_counter() - started < 2


@pytest.mark.parametrize("text", ["show me some code", "Write a python function", "Code example?"])
def test_code_comes_in_a_fenced_block(text):
    assert "```python\ndef " in say(text).text


@pytest.mark.parametrize("text", ["Tell me a long story", "write a long text", "tell me a story"])
def test_a_long_story_has_about_four_hundred_words(text):
    assert 350 < len(say(text).text.split()) < 520


@pytest.mark.parametrize("text", ["Think about dragons", "Think step by step: what is my name?"])
def test_thinking_comes_before_the_answer(text):
    heard = say(text, "Name: Bob")
    thought = [bool(getattr(o.delta, "reasoning_content", None)) for c in heard.chunks
               for o in c.choices]  # fmt: skip
    spoken = [bool(o.delta.content) for c in heard.chunks for o in c.choices]
    assert heard.reasoning
    assert heard.text
    assert max(i for i, is_one in enumerate(thought) if is_one) < spoken.index(True)


@pytest.mark.parametrize("text", ["Explain quantum physics", "asdf", "What is 2+2?", "Hello"])
def test_anything_else_is_answered_with_what_it_is_and_what_to_try(text):
    answer = say(text).text
    assert "no language model" in answer
    assert answer.count("\n- ") == 4


# -- tool returns ----------------------------------------------------------------------------


def test_a_note_on_a_duplicate_does_not_make_an_edit_a_failure():
    note = "Done. Block 'human' has 20 of 2,000 characters."
    note += " Note: 'Likes my read-only book' says what 'Likes my book, which is read-only' says."
    made, last = converse("I like my read-only book", returns=note)
    assert made == [append("Likes my read-only book")]
    assert last.text == (
        "Noted: you like your read-only book."
        " My memory says nearly the same already: “Likes my book, which is read-only”."
    )


@pytest.mark.parametrize(
    ("text", "opening"),
    [
        ("My name is Sarah", "I did not save “Name: Sarah”: "),
        ("Put in your archive that tea is at five", "I did not save “tea is at five”: "),
        ("Search your archive for tea", "I did not search: "),
        ("What did I say about tea?", "I did not search: "),
    ],
)
@pytest.mark.parametrize(
    ("error", "told"),
    [
        ("Error: not run, because the person refused it: not yet", "you refused it: not yet."),
        ("Error: not run: nobody approved it in time, which counts as a refusal.",
         "nobody approved it in time, which counts as a refusal."),
    ],
)  # fmt: skip
def test_a_refusal_is_told_and_not_tried_again(text, opening, error, told):
    made, last = converse(text, tools=MEMORY, returns=error)
    assert len(made) == 1
    assert last.text == opening + told


def test_what_was_approved_with_other_arguments_is_what_it_speaks_of():
    other = json.dumps({"label": "human", "content": "Likes tea (green)"})
    returned = f"(The person approved this with other arguments: {other})\nDone. Block 'human' has"
    assert converse("I like tea", returns=returned)[1].text == "Noted: you like tea (green)."
