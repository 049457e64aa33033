"""The demo model, through the official client's streaming parser."""

import asyncio
import json
import time
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import httpx2
import openai
import pytest

from agents.llm.demo import MODEL, DemoTransport
from agents.reflection import INSTRUCTIONS

HEARTBEAT = "request_heartbeat"
TOOLS = {
    "core_memory_append": ["label", "content"],
    "core_memory_replace": ["label", "old_content", "new_content"],
}
TASKS = {**TOOLS, "task_queue_push": ["task_description"], "task_queue_pop": []}
ARCHIVAL = {**TOOLS, "archival_memory_insert": ["content"], "archival_memory_search": ["query"]}


@dataclass
class Heard:
    """What the client made of one stream."""

    text: str = ""
    reasoning: str = ""
    finish: str | None = None
    calls: list[dict[str, Any]] = field(default_factory=list)
    usage: Any = None
    chunks: list[Any] = field(default_factory=list)

    def made(self) -> list[tuple[Any, ...]]:
        """Each call: its name, then its arguments."""
        return [(c["name"], *json.loads(c["arguments"]).values()) for c in self.calls]


@cache
def client(pace: float = 0) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(
        base_url="http://demo/v1",
        api_key="demo",
        max_retries=0,
        http_client=httpx2.AsyncClient(transport=DemoTransport(pace=pace)),
    )


def schema(name: str, parameters: list[str]) -> Any:
    properties = {each: {"type": "string"} for each in parameters}
    function = {"name": name, "parameters": {"type": "object", "properties": properties}}
    return {"type": "function", "function": function}


def system(human: str = "", persona: str = "You are a helpful assistant") -> Any:
    blocks = (
        f'<persona characters="{len(persona)}/2000">\n{persona}\n</persona>\n'
        f'<human characters="{len(human)}/2000">\n{human}\n</human>'
    )
    return {"role": "system", "content": f"You are an agent with core memory.\n\n{blocks}"}


def hear(messages: list[Any], tools: dict[str, list[str]] | None = None) -> Heard:
    """One streamed step of the demo model."""

    async def listen() -> Heard:
        heard = Heard()
        offered: Any = [schema(*tool) for tool in (tools or {}).items()] or openai.omit
        stream: Any = await client().chat.completions.create(
            model=MODEL,
            messages=messages,
            tools=offered,
            stream=True,
            stream_options={"include_usage": True},
        )
        async for chunk in stream:
            take(heard, chunk)
        return heard

    return asyncio.run(listen())


def take(heard: Heard, chunk: Any) -> None:
    heard.chunks.append(chunk)
    heard.usage = chunk.usage or heard.usage
    for choice in chunk.choices:
        heard.finish = choice.finish_reason or heard.finish
        heard.text += choice.delta.content or ""
        heard.reasoning += getattr(choice.delta, "reasoning_content", None) or ""
        for delta in choice.delta.tool_calls or []:
            if delta.index == len(heard.calls):
                heard.calls.append({"id": delta.id, "name": delta.function.name, "arguments": ""})
            heard.calls[delta.index]["arguments"] += delta.function.arguments or ""


def say(text: str, human: str = "", tools: Any = TOOLS, persona: str = "") -> Heard:
    """The first step of an answer to a message."""
    return hear([system(human, persona), {"role": "user", "content": text}], tools)


def converse(
    text: str, human: str = "", tools: Any = TOOLS, returns: Any = "Done.", persona: str = ""
) -> tuple[list[tuple[Any, ...]], Heard]:
    """A whole turn: all calls made, and the last step. `returns` may be a list, used in order."""
    queue = list(returns) if isinstance(returns, list) else None
    messages: list[Any] = [system(human, persona), {"role": "user", "content": text}]
    made: list[tuple[Any, ...]] = []
    for _ in range(12):
        heard = hear(messages, tools)
        if not heard.calls or heard.calls[0]["name"] == "send_message":
            return made, heard
        made += heard.made()
        calls = [
            {
                "id": c["id"],
                "type": "function",
                "function": {k: c[k] for k in ("name", "arguments")},
            }
            for c in heard.calls
        ]
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        for call in calls:
            content = returns if queue is None else queue.pop(0)
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})
    raise AssertionError("the turn does not end")


def append(content: str, label: str = "human") -> tuple[str, ...]:
    return ("core_memory_append", label, content)


def replace(old: str, new: str, label: str = "human") -> tuple[str, ...]:
    return ("core_memory_replace", label, old, new)


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


# -- what is told ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "My name is Sarah", "my name is sarah.", "My name's Sarah!", "I'm Sarah", "I’m Sarah",
        "Hi, I am Sarah.", "i am called Sarah", "Call me Sarah", "please call me Sarah",
        "You can call me Sarah, please", "Could you call me Sarah?", "People call me Sarah",
        "Hello! My name is Sarah.", "hey there, I'm Sarah", "No, my name is Sarah",
        "My name is actually Sarah", "Hello, my name actually Sarah", "From now on, call me Sarah",
        "My name isn't Bob, it's Sarah", "It's Sarah, not Bob", "No, it's Sarah.",
        "My name is Sarah, not Bob", "i'm sarah", "Remember that my name is Sarah",
        "I told you my name is Sarah", "Start calling me Sarah", "I go by Sarah",
        "MY NAME IS Sarah",
    ],
)  # fmt: skip
def test_a_name_is_appended_when_new_replaced_when_another_left_when_the_same(text):
    assert say(text).made() == [append("Name: Sarah")]
    assert say(text, "Name: Bob").made() == [replace("Name: Bob", "Name: Sarah")]
    assert say(text, "Name: Sarah").made() == []


@pytest.mark.parametrize(
    "text",
    [
        "I'm hungry", "I am feeling great", "i'm so tired", "I'm not sure", "I'm in a hurry",
        "Call me later", "I'm sorry!", "Thanks, I'm good", "I have a question", "I like it",
        "I would like a coffee", "never mind", "What if I like jazz?", "", "I", "?!",
        "you're great", "I have to go", "What is my name?", "Do I like jazz?", "Who am I?",
    ],
)  # fmt: skip
def test_small_talk_and_questions_write_nothing(text):
    heard = say(text, "Name: Bob")
    assert heard.made() == []
    assert heard.text


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("I like cherry pie", "Likes cherry pie"),
        ("i really like cherry pie!", "Likes cherry pie"),
        ("By the way, I love jazz very much", "Loves jazz"),
        ("I hate Mondays.", "Hates Mondays"),
        ("I don't like olives", "Does not like olives"),
        ("I'm a big fan of opera", "Likes opera"),
        ("I can't stand opera", "Hates opera"),
        ("my favourite colour is green", "Favourite colour: green"),
        ("My favorite color is green.", "Favorite color: green"),
        ("Green tea is my favourite drink", "Favourite drink: Green tea"),
        ("I live in Riga", "Lives in Riga"),
        ("I moved to Oslo last year", "Lives in Oslo"),
        ("I've just moved from Riga to Oslo", "Lives in Oslo"),
        ("I work as a nurse", "Works as a nurse"),
        ("I'm working at Google now", "Works at Google"),
        ("I'm a nurse", "Is a nurse"),
        ("I am allergic to nuts", "Is allergic to nuts"),
        ("I'm from Latvia", "Comes from Latvia"),
        ("I'm 34 years old", "Age: 34"),
        ("my best friend is Alya", "Best friend: Alya"),
        ("Alya is my best friend", "Best friend: Alya"),
        ("my dog is called Rex", "Dog: Rex"),
        ("My dog's name is Rex", "Dog: Rex"),
        ("I have two kids", "Has two kids"),
        ("I've got a cat", "Has a cat"),
        ("I don't have any pets", "Has no pets"),
        ("I speak Latvian", "Speaks Latvian"),
        ("I study physics", "Studies physics"),
        ("My email is a.b@c.org", "Email: a.b@c.org"),
        ("Remember that the meeting is on Friday", "The meeting is on Friday"),
        ("please remember: tea at five", "Tea at five"),
        ("Don't forget that I like tea", "Likes tea"),
        ("Can you remember that my dog is called Rex?", "Dog: Rex"),
        ("Remember my birthday is 3 May", "Birthday: 3 May"),
    ],
)
def test_a_fact_is_appended_once(text, line):
    assert say(text, "Name: Bob").made() == [append(line)]
    assert say(text, f"Name: Bob\n{line}").made() == []


@pytest.mark.parametrize(
    ("text", "human", "old", "new"),
    [
        ("I don't like cherry pie any more", "Likes cherry pie", "", "No longer likes cherry pie"),
        ("I no longer like cherry pie", "Likes cherry pie", "", "No longer likes cherry pie"),
        ("I stopped liking cherry pie.", "Likes cherry pie", "", "No longer likes cherry pie"),
        ("I like cherry pie again", "No longer likes cherry pie", "", "Likes cherry pie"),
        ("My favourite food is now rice", "Favourite food: pie", "", "Favourite food: rice"),
        ("my favourite colour is blue", "Favorite color: green", "", "Favourite colour: blue"),
        ("I moved to Oslo", "Name: Bob\nLives in Riga", "Lives in Riga", "Lives in Oslo"),
        ("Not Riga, Oslo", "Lives in Riga", "", "Lives in Oslo"),
        ("It's not Riga, it's Oslo", "Lives in Riga", "", "Lives in Oslo"),
        ("Change my name to Sarah", "Name: Bob", "", "Name: Sarah"),
        ("I live in Oslo, not Riga", "Lives in Riga", "", "Lives in Oslo"),
        ("It's Oslo, not Riga", "Name: Bob\nLives in Riga", "Lives in Riga", "Lives in Oslo"),
        ("I now work as a baker", "Works as a nurse", "", "Works as a baker"),
        ("My best friend is Ann", "Best friend: Alya", "", "Best friend: Ann"),
        ("I have three kids", "Has two kids", "", "Has three kids"),
        ("I just turned 35", "Age: 34", "", "Age: 35"),
        ("My name is Sarah", "My name is Bob", "", "Name: Sarah"),
        ("My name is Sarah", "The user's name is Bob. Likes tea.", "The user's name is Bob",
         "Name: Sarah"),
        ("My name is Sarah", "Name: Bob, likes jazz", "Name: Bob", "Name: Sarah"),
        ("I don't live in Riga any more", "Lives in Riga", "", "No longer lives in Riga"),
    ],
)  # fmt: skip
def test_what_changed_is_replaced(text, human, old, new):
    assert say(text, human).made() == [replace(old or human, new)]


@pytest.mark.parametrize(
    ("text", "human", "old"),
    [
        ("Forget that I like cherry pie", "Name: Bob\nLikes cherry pie", "Likes cherry pie"),
        ("please forget my name", "Name: Bob\nLikes cherry pie", "Name: Bob"),
        ("Forget my favourite colour.", "Favourite colour: green", "Favourite colour: green"),
        ("forget where I live", "Lives in Riga", "Lives in Riga"),
        ("Delete my name from your memory", "Name: Bob", "Name: Bob"),
        ("Can you forget about cherry pie?", "Likes cherry pie", "Likes cherry pie"),
        ("Forget everything you know about me", "Name: Bob\nLikes pie", "Name: Bob\nLikes pie"),
    ],
)
def test_forgetting_replaces_by_nothing(text, human, old):
    made, last = converse(text, human)
    assert made == [replace(old, "")]
    assert last.text.startswith("Forgotten: ")


def test_what_is_not_known_cannot_be_forgotten():
    heard = say("Forget that I live in Paris", "Lives in Riga")
    assert heard.made() == []
    assert "nothing to forget" in heard.text


@pytest.mark.parametrize(
    "text",
    [
        "My name is Sarah and I like cherry pie",
        "My name is Sarah. I like cherry pie.",
        "Hi! I'm Sarah, and I really like cherry pie!",
        "I'm Sarah, I like cherry pie",
        "Call me Sarah but also remember that I like cherry pie",
    ],
)
def test_two_things_told_make_two_calls_in_one_message(text):
    heard = say(text)
    assert heard.made() == [append("Name: Sarah"), append("Likes cherry pie")]
    assert len({call["id"] for call in heard.calls}) == 2


def test_a_subject_is_carried_over_an_and():
    assert say("I live in Riga and work as a nurse").made() == [
        append("Lives in Riga"),
        append("Works as a nurse"),
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("You are a pirate", "You are a pirate"),
        ("From now on you are a pirate.", "You are a pirate"),
        ("I want you to be a pirate", "You are a pirate"),
        ("act like a pirate", "You are a pirate"),
        ("From now on be brief", "Be brief"),
        ("be brief from now on", "Be brief"),
        ("Please be more formal", "Be more formal"),
        ("Always answer in rhyme!", "Always answer in rhyme"),
        ("Never use emojis", "Never use emojis"),
        ("Call yourself Max", "Name: Max"),
        ("your name is Max", "Name: Max"),
        ("I'll call you Max", "Name: Max"),
    ],
)
def test_what_the_agent_should_be_goes_to_its_persona(text, line):
    assert say(text, "Name: Bob").made() == [append(line, "persona")]


def test_another_character_replaces_the_one_there_was():
    heard = say("You are a pirate", persona="You are a helpful assistant. Name: Max")
    assert heard.made() == [replace("You are a helpful assistant", "You are a pirate", "persona")]


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


# -- questions -------------------------------------------------------------------------------

BOB = (
    "Name: Bob\nLikes cherry pie\nLoves jazz\nFavourite colour: green\nLives in Riga\n"
    "Works as a nurse\nBest friend: Alya\nDog: Rex\nHas two kids\nAge: 34\nHates olives"
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is my name?", "Your name is Bob."),
        ("what's my name", "Your name is Bob."),
        ("Do you know my name?", "Your name is Bob."),
        ("Do you remember what my name is?", "Your name is Bob."),
        ("Can you tell me my name?", "Your name is Bob."),
        ("Hi! Who am I?", "Your name is Bob."),
        ("Do I like cherry pie?", "You like cherry pie."),
        ("What do I hate?", "You hate olives."),
        ("What's my favourite colour?", "Your favourite colour is green."),
        ("what is my favorite color?", "Your favourite colour is green."),
        ("Where do I live?", "You live in Riga."),
        ("Do you know where I live?", "You live in Riga."),
        ("Who is my best friend?", "Your best friend is Alya."),
        ("What is my dog called?", "Your dog is Rex."),
        ("What's my dog's name?", "Your dog is Rex."),
        ("What do I do for a living?", "You work as a nurse."),
        ("How many kids do I have?", "You have two kids."),
        ("Do I have any kids?", "You have two kids."),
        ("How old am I?", "Your age is 34."),
        ("What is my name and where do I live?", "Your name is Bob.\n\nYou live in Riga."),
    ],
)
def test_questions_are_answered_from_core_memory(question, answer):
    assert say(question, BOB).text == answer


@pytest.mark.parametrize("question", ["What do I like?", "Do you know what I like?"])
def test_all_that_is_liked_is_told(question):
    text = say(question, BOB).text
    assert text == "You like cherry pie, you love jazz and your favourite colour is green."


@pytest.mark.parametrize(
    "question",
    ["What do you know about me?", "Tell me what you know about me", "What do you remember?"],
)
def test_all_that_is_known_is_a_markdown_list(question):
    lines = say(question, BOB).text.splitlines()
    assert len([line for line in lines if line.startswith("- ")]) == 11
    assert "- Your name is Bob." in lines


@pytest.mark.parametrize(
    "question",
    [
        "What is my name?", "What do I like?", "What's my favourite colour?", "Where do I live?",
        "Who is my best friend?", "What do you know about me?", "How old am I?", "Do I like tea?",
    ],
)  # fmt: skip
def test_what_is_not_known_is_said_with_how_to_tell_it(question):
    text = say(question).text
    assert "I do not know" in text
    assert "Tell me, for example" in text


def test_it_says_who_it_is_from_its_persona():
    text = say("Who are you?", persona="Name: Max\nYou are a pirate").text
    assert text.startswith("I am Max.")
    assert "> You are a pirate" in text
    assert say("What's your name?", persona="Name: Max").text == "My name is Max."


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


# -- archival memory and tasks ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("Remember in archival: Bob loves cats", "Bob loves cats"),
        ("Save the information that 'Bob loves cats' to archival", "Bob loves cats"),
        ("save Bob loves cats to your archival memory", "Bob loves cats"),
        ("Please store in archival memory that Bob loves cats.", "Bob loves cats"),
    ],
)
def test_archival_memory_is_written_on_request(text, content):
    made, last = converse(text, tools=ARCHIVAL)
    assert made == [("archival_memory_insert", content)]
    assert last.text == f"Saved to archival memory: “{content}”."


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Search archival for cats", "cats"),
        ("search your archival memory for: cats", "cats"),
        ("Search archival to answer the question: Who likes cats?", "Who likes cats"),
        ("Who likes cats? Search archival.", "Who likes cats"),
        ("What is in archival about cats?", "cats"),
    ],
)
def test_archival_memory_is_searched_and_reported(text, query):
    made, last = converse(text, tools=ARCHIVAL, returns='[{"content": "Bob loves cats"}]')
    assert made == [("archival_memory_search", query)]
    assert "- Bob loves cats" in last.text
    assert "found nothing" in converse(text, tools=ARCHIVAL, returns="No results.")[1].text


def test_a_tool_that_is_missing_is_named():
    assert "`archival_memory_search`" in say("Search archival for cats").text


def test_the_conversation_is_searched():
    tools = {**TOOLS, "conversation_search": ["query"]}
    made, last = converse("What did I say about cats?", tools=tools, returns="I like cats")
    assert made == [("conversation_search", "cats")]
    assert "- I like cats" in last.text


@pytest.mark.parametrize(
    "text",
    [
        "Add 'start calling me Charles' and 'tell me a haiku about my name' as two seperate tasks.",
        'add "start calling me Charles" and "tell me a haiku about my name" as two tasks',
    ],
)
def test_two_tasks_are_pushed_in_one_message(text):
    heard = say(text, tools=TASKS)
    assert heard.made() == [
        ("task_queue_push", "start calling me Charles"),
        ("task_queue_push", "tell me a haiku about my name"),
    ]


@pytest.mark.parametrize(
    "text", ["Complete your tasks", "do all of your tasks", "Work on the tasks!"]
)
def test_tasks_are_popped_and_done_until_there_are_none(text):
    returns = ["start calling me Charles", "Done.", "tell me a haiku about my name", "None"]
    made, last = converse(text, "Name: Bob", TASKS, returns)
    assert made == [
        ("task_queue_pop",),
        replace("Name: Bob", "Name: Charles"),
        ("task_queue_pop",),
        ("task_queue_pop",),
    ]
    assert "1. start calling me Charles" in last.text
    assert "softly said" in last.text


def test_an_empty_queue_is_said_to_be_empty():
    assert converse("Complete your tasks", "", TASKS, "None")[1].text == (
        "There are no tasks in the queue."
    )


# -- archival memory -------------------------------------------------------------------------

MEMORY = {
    **TOOLS,
    "archival_memory_insert": ["content", "tags"],
    "archival_memory_search": ["query", "tags", "tag_match_mode", "top_k"],
    "conversation_search": ["query", "roles", "limit"],
}
LONG = "the boiler is bled by opening the small valve on its left side " * 3


def found(*texts: str, **more: Any) -> str:
    """Search results as the built-in tools return them; what is of rats scores least."""
    results = [
        {"id": 1, "time": "2026-05-03T10:00:00Z", **more, "text": text, "score": score}
        for text in texts
        for score in [1.5 if "Rats" in text else 8.2]
    ]
    return json.dumps({"results": results})


@pytest.mark.parametrize(
    ("text", "content", "tags"),
    [
        ("Remember for later that the wifi password is hunter2", "the wifi password is hunter2",
         None),
        ("Please remember for later: tea at five", "tea at five", None),
        ("Save for later that tea is at five", "tea is at five", None),
        ("Put in your archive that tea is at five.", "tea is at five", None),
        ("Note in your archive: tea is at five", "tea is at five", None),
        ("Can you make a note in your archive that tea is at five?", "tea is at five", None),
        ("Put in your archive that we met in Rome. Tag it travel and Italy.", "we met in Rome",
         ["travel", "Italy"]),
        ("Remember that we met in Rome, tagged travel", "we met in Rome", ["travel"]),
        ("Archive this: we met in Rome (tags: travel, Italy)", "we met in Rome",
         ["travel", "Italy"]),
        (f"Remember this: {LONG}", LONG.strip(), None),
        (f"I like {LONG}", f"Likes {LONG.strip()}", None),
    ],
)  # fmt: skip
def test_what_is_for_later_goes_to_archival_memory(text, content, tags):
    made, last = converse(text, tools=MEMORY, returns="Done. It is passage 3 of archival memory.")
    assert made == [("archival_memory_insert", content, *([tags] if tags else []))]
    assert last.text.startswith(f"Saved to archival memory: “{content}”")
    assert all(tag in last.text for tag in tags or [])


def test_without_an_archive_what_is_for_later_goes_to_core_memory():
    assert say("Remember for later that tea is at five").made() == [append("Tea is at five")]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("What do you have in your archive about Rome?", "Rome"),
        ("What's in your archive on Rome?", "Rome"),
        ("Look in your archive for Rome", "Rome"),
        ("Look in your memory for Rome", "Rome"),
        ("search your archive for Rome", "Rome"),
        ("What does your archive say about Rome?", "Rome"),
        ("Do you have anything about Rome in your archive?", "Rome"),
        ("Is there anything in your archive about Rome?", "Rome"),
        ("What is in your archive?", ""),
    ],
)
def test_the_archive_is_searched_in_many_words(text, query):
    made, last = converse(text, tools=MEMORY, returns=found("We met in Rome", "Rats in a cellar"))
    assert made == [("archival_memory_search", query)]
    assert "- We met in Rome" in last.text
    assert "Rats" not in last.text
    assert "found nothing" in converse(text, tools=MEMORY, returns=found())[1].text


def test_the_archive_is_searched_by_tag():
    heard = say("What do you have in your archive about Rome, tagged travel?", tools=MEMORY)
    assert heard.made() == [("archival_memory_search", "Rome", ["travel"])]


# -- questions that core memory cannot answer ------------------------------------------------


@pytest.mark.parametrize(
    ("text", "query", "text_found"),
    [
        ("What is the wifi password?", "wifi password", "the wifi password is hunter2"),
        ("Where do I live?", "live", "They live in Rome since 2019"),
        ("Tell me about the lake", "lake", "We walked around the lake"),
        ("Do you know when the meeting starts?", "meeting starts", "The meeting starts at 5"),
    ],
)
def test_what_core_memory_does_not_say_is_looked_up_once(text, query, text_found):
    unrelated = found("Rats in a cellar")
    made, last = converse(text, "Name: Bob", MEMORY, found("Rats in a cellar", text_found))
    assert made == [("archival_memory_search", query)]
    assert last.text == f"My archive says: “{text_found}”"
    made, last = converse(text, "Name: Bob", MEMORY, unrelated)
    assert made == [("archival_memory_search", query)]
    assert last.text.startswith("I do not know")
    assert "Rats" not in last.text


@pytest.mark.parametrize(
    "text",
    ["Hi!", "How are you?", "What is my name?", "Show me some code", "Thanks", "What can you do?",
     "Where is the spare key?", "I like jazz, do you?"],
)  # fmt: skip
def test_nothing_is_looked_up_that_is_known_or_not_asked(text):
    heard = say(text, "Name: Bob\nThe spare key is under the mat", MEMORY)
    assert [name for name, *_ in heard.made()] in ([], ["core_memory_append"])


def test_an_empty_archive_is_not_searched():
    prompt = system("Name: Bob")
    prompt["content"] += "\n\n<memory_metadata>\n0 passages are in archival memory.\n"
    asked = [prompt, {"role": "user", "content": "What is the wifi password?"}]
    assert hear(asked, MEMORY).made() == []


def test_a_line_of_core_memory_that_has_all_the_words_answers():
    text = say("Where is the spare key?", "Name: Bob\nThe spare key is under the mat").text
    assert text == "The spare key is under the mat."


# -- recall memory ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "query", "roles"),
    [
        ("What did I say about cats?", "cats", ["user"]),
        ("What did I say about cats earlier?", "cats", ["user"]),
        ("What did I tell you about my cats last week?", "cats", ["user"]),
        ("What have you said about cats?", "cats", ["assistant"]),
        ("Do you remember when we spoke of cats?", "cats", None),
        ("Do you remember what I said about cats?", "cats", ["user"]),
        ("Did I ever mention cats?", "cats", ["user"]),
        ("Have we talked about cats?", "cats", None),
        ("Do you remember our conversation about cats?", "cats", None),
        ("Search our conversations for cats", "cats", None),
        ("What did we talk about last time?", "", None),
    ],
)
def test_the_conversation_is_searched_in_many_words(text, query, roles):
    returned = found("What did I say about cats?", "I have two cats", role="user")
    made, last = converse(text, tools=MEMORY, returns=returned)
    assert made == [("conversation_search", query, *([roles] if roles else []))]
    what = f" for “{query}”" if query else ""
    assert last.text == (
        f"I searched our conversations{what} and found:\n\n"
        "- You said on 3 May 2026: “I have two cats”"
    )


def test_what_the_agent_said_of_earlier_searches_is_not_quoted():
    earlier = ("I searched our conversations for “cats” and found:", "My archive says: “cats”")
    returned = found(*earlier, "You have cats", role="assistant")
    assert converse("What did you say about cats?", tools=MEMORY, returns=returned)[1].text == (
        "I searched our conversations for “cats” and found:\n\n"
        "- I said on 3 May 2026: “You have cats”"
    )


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


# -- compaction ------------------------------------------------------------------------------


def summarised(*said: str, earlier: str = "") -> str:
    """The summary of a conversation, asked for as compaction does."""
    lines = "\n".join(f"Person: {each}\nAgent: I am called Max and live in Rome." for each in said)
    asked = f"Earlier summary:\n{earlier}\n\n" if earlier else ""
    asked += f"The conversation:\n{lines}\nTool returned: I like rats\n"
    instructions = {"role": "system", "content": "You summarise a conversation between …"}
    return hear([instructions, {"role": "user", "content": asked}]).text


def test_a_summary_holds_what_the_person_told():
    text = summarised(
        "My name is Sarah and I live in Riga", "Hello", "What is my name?",
        "We walked around the lake\nand saw a heron", "From now on be brief", "I moved to Oslo",
    )  # fmt: skip
    assert text == (
        "The person told:\n- Name: Sarah\n- Lives in Oslo\n"
        "The agent's part:\n- Be brief\n"
        "They also said:\n- “We walked around the lake and saw a heron”"
    )


def test_a_summary_takes_the_earlier_one_over():
    first = summarised("I'm Sarah and I like tea", "We walked around the lake yesterday")
    second = summarised("I don't like tea any more", "My dog is called Rex", earlier=first)
    assert second == (
        "The person told:\n- Name: Sarah\n- No longer likes tea\n- Dog: Rex\n"
        "They also said:\n- “We walked around the lake yesterday”"
    )
    assert summarised("Hello", earlier=second) == second
    prose = "Sarah lives in Riga. She wants to learn Latvian."
    assert prose in summarised("I like tea", earlier=prose)
    assert "Nothing was said" in summarised("Hello")


def test_a_summary_stays_short():
    said = [f"My friend number{n} is somebody called {n} of some far away place" for n in range(99)]
    said += [f"Then the {n} walked slowly over the green hill until evening" for n in range(99)]
    text = summarised(*said, earlier="Sarah once said this. " * 200)
    assert 200 < len(text.split()) <= 300
    assert "number98" in text


def test_what_the_summary_says_is_known():
    prompt = system("Likes jazz")
    prompt["content"] += "\n\n<conversation_summary>\n"
    prompt["content"] += summarised(
        "I'm Sarah, I like jazz", "I live in Riga", "We walked around the lake yesterday"
    )
    prompt["content"] += "\n</conversation_summary>"

    def asked(question: str) -> Heard:
        return hear([prompt, {"role": "user", "content": question}], MEMORY)

    assert asked("What is my name?").text == "Your name is Sarah."
    assert asked("Where do I live?").text == "You live in Riga."
    assert asked("What do you know about me?").text == (
        "This is what I know about you:\n\n- You like jazz.\n\n"
        "And from what we said earlier:\n\n- Your name is Sarah.\n- You live in Riga.\n"
        "- You said “We walked around the lake yesterday”."
    )
    assert asked("What did I say about the lake?").made() == [
        ("conversation_search", "lake", ["user"])
    ]
    assert asked("I like jazz").made() == []
    assert asked("I live in Riga").made() == [append("Lives in Riga")]


# -- reflection ------------------------------------------------------------------------------

EDITING = {
    **TOOLS,
    "memory_insert": ["label", "new_string", "insert_line"],
    "memory_replace": ["label", "old_string", "new_string"],
    "memory_rethink": ["label", "new_memory"],
}


@pytest.mark.parametrize(
    ("human", "tidy"),
    [
        ("Likes tea\nName: Bob\n- likes tea.", "- likes tea.\nName: Bob"),
        ("Name: Bob\nLikes tea\nName: Sarah", "Likes tea\nName: Sarah"),
        ("Lives in Riga\nLives in Oslo", "Lives in Oslo"),
        ("My name is Bob\nName: Sarah", "Name: Sarah"),
        ("The user lives in Riga.\nHas a cat\nLives in Oslo", "Has a cat\nLives in Oslo"),
        ("Likes cherry pie\nNo longer likes cherry pie", "No longer likes cherry pie"),
        ("Age: 34\nWorks as a nurse\nAge: 35", "Works as a nurse\nAge: 35"),
        ("Has two kids\nHas three kids", "Has three kids"),
        ("Favourite food: pie\nFavourite food: rice", "Favourite food: rice"),
    ],
)
def test_a_reflection_merges_what_is_double_and_drops_what_is_over(human, tidy):
    made, last = converse(INSTRUCTIONS, human, EDITING)
    assert made == [("memory_rethink", "human", tidy)]
    assert last.text == "I put ‘human’ in order."
    assert converse(INSTRUCTIONS, human)[0] == [replace(human, tidy)]
    assert converse(INSTRUCTIONS, tidy, EDITING)[0] == []


@pytest.mark.parametrize(
    "human",
    ["", BOB, "Note: tea at five\nNote: bring bread", "Hobbies: chess\nHobbies: jazz",
     "Has a cat\nHas a dog", "Speaks Latvian\nSpeaks English", "Born in 1971\nBorn in 1972",
     "Is a nurse\nIs a mother", "# Work\nTea at five\n# Home\nTea at six, with the neighbours"],
)  # fmt: skip
def test_a_reflection_leaves_alone_what_is_in_order(human):
    made, last = converse(INSTRUCTIONS, human, EDITING, persona="You are kind\nYou are a pirate")
    assert made == []
    assert last.text == "My memory is in order: nothing had to be changed."


def test_a_reflection_tells_its_reasons_and_what_went_wrong():
    human, persona = "Lives in Riga\nLives in Oslo", "Be brief\nBe brief."
    first = say(INSTRUCTIONS, human, EDITING, persona)
    assert first.text == (
        "“Be brief.” says what “Be brief” says; “Lives in Oslo” is newer than “Lives in Riga”."
    )
    returns = ["Done.", "Error: Block 'human' is read-only; tell the person what should change."]
    made, last = converse(INSTRUCTIONS, human, EDITING, returns, persona)
    assert [label for _, label, _ in made] == ["persona", "human"]
    assert last.text.startswith("I put ‘persona’ in order. I could not put ‘human’ in order: Block")


# -- tasks, as the notebooks have them -------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "tasks"),
    [
        ("add a task: water the garden", ["water the garden"]),
        ("Add a task to water the garden", ["water the garden"]),
        ("Add the task “water the garden”.", ["water the garden"]),
        ("add two tasks: water the garden and feed the cat", ["water the garden", "feed the cat"]),
        ("Add these tasks: water the garden, feed the cat", ["water the garden", "feed the cat"]),
        ("Add these 2 tasks: 1. Explain my name, Task 2. Tell me a story about my name in less"
         " than 100 words",
         ["Explain my name", "Tell me a story about my name in less than 100 words"]),
    ],
)  # fmt: skip
def test_tasks_are_pushed_one_call_each(text, tasks):
    assert say(text, tools=TASKS).made() == [("task_queue_push", task) for task in tasks]
    own = {"task_queue_push": ["what", HEARTBEAT], "send_message": ["message"]}
    heard = say(text, tools=own)
    assert [json.loads(c["arguments"]) for c in heard.calls] == [
        {"what": task, HEARTBEAT: True} for task in tasks
    ]


@pytest.mark.parametrize("text", ["keep going", "Continue.", "next task"])
def test_going_on_pops_only_where_there_is_a_queue(text):
    assert say(text, tools=TASKS).made() == [("task_queue_pop",)]
    assert say(text).made() == []


def test_the_task_is_known_though_the_tool_returns_only_what_remains():
    tasks = '<tasks characters="20/2000">\n["what is my name?"]\n</tasks>'
    sent: list[Any] = [{"role": "system", "content": tasks}, {"role": "user", "content": "go on"}]
    for returned in ("Remaining tasks []", "None"):
        heard = hear(sent, {"task_queue_pop": []})
        assert heard.made() == [("task_queue_pop",)]
        [made] = heard.calls
        call = {"id": made["id"], "type": "function", "function": {"name": made["name"]}}
        sent[0] = {"role": "system", "content": tasks.replace('"what is my name?"', "")}
        sent.append({"role": "assistant", "content": heard.text, "tool_calls": [call]})
        sent.append({"role": "tool", "tool_call_id": made["id"], "content": returned})
    said = hear(sent, {"task_queue_pop": []}).text
    assert said.startswith("I worked through one task:\n\n1. what is my name?\n\nI do not know")
