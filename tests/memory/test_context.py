"""What the model is sent: compiled memory, whole exchanges, every call with its return."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from jinja2.exceptions import SecurityError, UndefinedError

from agents.memory.classes import BasicBlockMemory, ChatMemory, compile_blocks
from agents.memory.context import compile_context
from agents.models import Agent, Block, Message
from agents.text.core_memory import JSON_TEMPLATE, TAGS_TEMPLATE
from tests.conftest import Ask
from tests.support.addresses import everything
from tests.support.conversation import add_message
from tests.support.fake_openai import FakeOpenAI, calls, text

COMPILED = (
    '<persona characters="27/2000">\nYou are a helpful assistant\n</persona>\n'
    '<human characters="9/2000">\nName: Bob\n</human>'
)


def messages_of(agent: Agent) -> list[dict[str, Any]]:
    body: dict[str, Any] = json.loads(compile_context(agent.first_conversation).body("m"))
    return list(body["messages"])


def test_the_default_template_is_exact() -> None:
    memory = ChatMemory(human="Name: Bob", persona="You are a helpful assistant")
    assert memory.compile() == COMPILED
    assert memory.list_block_labels() == ["persona", "human"]


def test_the_template_of_the_notebooks_compiles_the_same() -> None:
    theirs = TAGS_TEMPLATE.replace("in blocks", "in memory.values()")
    blocks = ChatMemory(human="Name: Bob", persona="You are a helpful assistant").get_blocks()
    assert compile_blocks(blocks, theirs) == COMPILED


def test_the_json_template_is_a_json_object_after_its_mark() -> None:
    blocks = [Block(label="human", value='Says "hi"\nand ü'), Block(label="agent", value="")]
    mark, _, values = compile_blocks(blocks, JSON_TEMPLATE).partition("\n")
    assert mark == "[MEMORY]"
    assert json.loads(values) == {"human": 'Says "hi"\nand ü', "agent": ""}


def test_a_template_reaches_nothing_but_the_blocks() -> None:
    block = Block(label="human", value="x")
    with pytest.raises(Exception, match=r"unsafe|undefined"):
        compile_blocks([block], "{{ blocks[0].__class__.__mro__ }}")


WAYS_OUT = [
    "{{ block.owner }}",
    "{{ block.owner.tokens.all() }}",
    "{{ block.agents.all() }}",
    "{{ block.attachment_set.all() }}",
    "{{ block.objects.all() }}",
    "{{ block.refresh_from_db() }}",
    "{{ block.set_value('Mine') }}",
    "{{ block.delete() }}",
    "{{ block._state.db }}",
]


@pytest.mark.parametrize("way", WAYS_OUT)
def test_a_template_cannot_get_from_a_block_to_other_rows(agent: Agent, way: str) -> None:
    before = everything()
    for found in ("blocks", "memory.values()"):
        template = f"{{% for block in {found} %}}[{way}]{{% endfor %}}"
        with suppress(UndefinedError, SecurityError):
            assert compile_blocks(agent.core_memory(), template) == "[][]"
    assert everything() == before


def test_any_blocks_may_be_a_memory() -> None:
    memory = BasicBlockMemory([Block(label="notes", value="a")])
    memory.update_block_value("notes", "b")
    assert memory.get_block("notes").value == "b"


def test_the_system_message_is_prompt_then_memory_then_metadata(agent: Agent) -> None:
    (system,) = messages_of(agent)
    prompt, memory, metadata = system["content"].split("\n\n")
    assert (prompt, memory) == ("You are a tutor.", COMPILED)
    assert "recall memory" in metadata


def test_a_call_that_was_never_answered_is_sent_with_a_return_that_says_so(agent: Agent) -> None:
    add_message(agent, "user", "Hello")
    two = [{"id": name, "name": "core_memory_append", "arguments": "{}"} for name in ("a", "b")]
    add_message(agent, "assistant", tool_calls=two)
    add_message(agent, "tool", "Done.", tool_call_id="b")
    add_message(agent, "tool", "Whose?", tool_call_id="z")
    assert [m["role"] for m in messages_of(agent)][2:] == ["assistant", "tool", "tool"]
    add_message(agent, "user", "Still there?")
    sent = messages_of(agent)[2:]
    assert [m.get("tool_call_id") for m in sent] == [None, "b", "a", None]
    assert sent[2]["content"] == "No return is known."


def test_what_was_broken_off_is_not_sent_and_what_was_stopped_is(agent: Agent) -> None:
    add_message(agent, "user", "Hello")
    add_message(agent, "assistant", "Hel", status=Message.Status.BROKEN)
    add_message(agent, "assistant", "Hello, B", status=Message.Status.STOPPED)
    assert [m["content"] for m in messages_of(agent)[1:]] == ["Hello", "Hello, B"]


def test_history_read_bit_by_bit_is_the_history_read_at_once(
    model: FakeOpenAI, agent: Agent, ask: Ask
) -> None:
    append = ("core_memory_append", {"label": "human", "content": "Likes pie"})
    model.script(text("Hello."), calls(append, append), text("Noted."), text("Bye."))
    for words in ("Hi", "I like pie", "Bye"):
        ask(words)
    from agents.memory import context_messages

    bit_by_bit = messages_of(agent)
    context_messages._histories.clear()
    assert messages_of(agent) == bit_by_bit
