"""The real SDKs against a real server, with a scripted model: what notebooks do, as they do it."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.sdk.conftest import Play
from tests.support.fake_openai import FakeOpenAI, calls, text, text_and_calls
from tests.support.pictures import picture
from tests.support.server import MemoryWeb

pytestmark = pytest.mark.sdk
BASE_TOOLS = [
    "send_message",
    "conversation_search",
    "core_memory_append",
    "core_memory_replace",
    "archival_memory_insert",
    "archival_memory_search",
]


def say(message: str) -> Any:
    return calls(("send_message", {"message": message}))


def heartbeat(name: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
    return name, {**arguments, "request_heartbeat": True}


def without_pings(chunks: list[list[str]]) -> list[list[str]]:
    return [chunk for chunk in chunks if chunk != ["ping"]]


def test_images_are_sent_and_come_back(play: Play, scripted: FakeOpenAI, version: str) -> None:
    if version == "0.1.42":
        pytest.skip("its messages have no images")
    scripted.script(text("Pie."), text("Pie."))
    told = play("images", data=base64.b64encode(picture()).decode())
    assert told["listed"] == ["UserMessage", "See", "image", "letta"]
    assert (told["media_type"], told["again"]) == ("image/png", True)
    assert "This is no image; send a PNG, JPEG, GIF or WebP." in told["refused"]
    parts = [
        each["content"] for each in scripted.requests[-1]["messages"] if each["role"] == "user"
    ]
    assert [[part["type"] for part in content] for content in parts] == [["text", "image_url"]] * 2


def test_simple_agent_with_memory(play: Play, scripted: FakeOpenAI) -> None:
    scripted.script(text_and_calls("A greeting", ("send_message", {"message": "Great! 😀"})))
    told = play("simple_agent")
    assert told["tools"] == BASE_TOOLS
    assert told["blocks"] == {
        "human": ["My name is Charles", 10000],
        "persona": ["You are a helpful assistant", 5000],
    }
    said = [["reasoning_message", "A greeting"], ["assistant_message", "Great! 😀"]]
    assert told["said"] == said
    assert told["listed"][1:] == [["user_message", "hows it going????"], *said]
    assert told["system"] in told["listed"][0][1]
    assert told["classes"] == [
        "SystemMessage",
        "UserMessage",
        "ReasoningMessage",
        "AssistantMessage",
    ]
    prompt, completion, total, steps = told["usage"]
    assert (total, steps) == (prompt + completion, 1)
    assert prompt > 0
    assert (told["stop"], told["again"]) == ("end_turn", "simple_agent")
    assert "My name is Charles" in str(scripted.requests[-1]["messages"][0])


def test_new_information_changes_the_human_block(
    play: Play, scripted: FakeOpenAI, version: str
) -> None:
    change = heartbeat(
        "core_memory_replace",
        label="human",
        old_content="My name is Charles",
        new_content="My name is Sarah",
    )
    scripted.script(calls(change), say("Hello Sarah"))
    told = play("human_block_changes")
    assert told["after"] == "My name is Sarah"
    assert [kind for kind, _ in told["said"]] == [
        "tool_call_message",
        "tool_return_message",
        "assistant_message",
    ]
    assert told["by_script"] == ("" if version == "0.1.42" else "Name: Ann")


def test_archival_memory_of_the_agent_and_of_a_script(play: Play, scripted: FakeOpenAI) -> None:
    insert = heartbeat("archival_memory_insert", content="bob loves cats")
    search = heartbeat("archival_memory_search", query="cats")
    scripted.script(calls(insert), say("Saved"), calls(search), say("Cats"))
    told = play("archival_memory")
    assert told["said"][0][-1] == ["assistant_message", "Saved"]
    assert "bob loves cats" in told["said"][1][1][1]
    assert told["made"] == "Bob loves boston terriers"
    assert told["texts"] == ["bob loves cats", "Bob loves boston terriers"]


def test_memory_blocks_and_the_prompt_template(play: Play, version: str) -> None:
    told = play("memory_blocks")
    assert told["alone"] == ["human", "Name: Bob", 5000]
    assert told["found"]
    assert told["labels"] == ["human"]
    assert told["retrieved"] == told["by_label"] == "The human's name is Bob the Builder."
    assert told["name"]
    if version.startswith("0"):
        assert '<{{ block.label }} characters="' in told["template"]


def test_a_tool_that_reads_agent_state(play: Play, scripted: FakeOpenAI) -> None:
    scripted.script(calls(heartbeat("get_agent_id")), say("That was it"))
    told = play("agent_state_in_a_tool")
    assert told["schema"] == {}
    chunks = without_pings(told["chunks"])
    assert chunks[1] == ["tool_return_message", told["id"]]
    assert chunks[2] == ["assistant_message", "That was it"]
    assert [kind for kind, *_ in chunks[3:]] == ["stop_reason", "usage_statistics"]
    assert told["usage"][3] == 2


@pytest.mark.parametrize("form", ["agent_state", "client"])
def test_two_pushes_in_one_turn_leave_both_tasks(
    play: Play, scripted: FakeOpenAI, form: str
) -> None:
    pushes = [heartbeat("task_queue_push", task_description=each) for each in ("Charles", "haiku")]
    pop = heartbeat("task_queue_pop")
    scripted.script(calls(*pushes), say("Two tasks"))
    scripted.script(calls(pop), calls(pop), calls(pop), say("All done"))
    told = play("task_queue", form=form)
    assert told["tools"] == ["send_message", "task_queue_pop", "task_queue_push"]
    assert told["values"] == ["[]", '["Charles", "haiku"]', "[]"]
    pushed = without_pings(told["pushed"])
    assert [chunk for chunk in pushed if chunk[0] == "tool_return_message"] == [
        ["tool_return_message", "None"],
        ["tool_return_message", "None"],
    ]
    returned = [said for kind, said in told["popped"] if kind == "tool_return_message"]
    wanted = {
        "agent_state": ["Charles", "haiku", "None"],
        "client": ['Remaining tasks ["haiku"]', "Remaining tasks []", "None"],
    }
    assert returned == wanted[form]


def test_an_answer_is_streamed_in_pieces(play: Play, scripted: FakeOpenAI) -> None:
    story = "Once upon a time there was a heron. " * 40
    scripted.script(text(story))
    told = play("token_stream")
    assert told["text"].strip() == story.strip()
    assert (told["ids"], told["last"]) == (1, "usage_statistics")


def test_lists_come_to_an_end(play: Play, server: MemoryWeb) -> None:
    told = play("lists_come_to_an_end")
    assert told["agents"][:5] == [f"listed_{number}" for number in range(4, -1, -1)]
    assert len(told["agents"]) % 5 == 0
    assert told["blocks"] == [1] * 5
    assert told["tools"][0] == told["tools"][1] > 6


def test_errors_are_the_sdks_own(play: Play, version: str) -> None:
    new = [["NotFoundError", 404, True], ["UnprocessableEntityError", 422, True]]
    old = [["ApiError", 404, True], ["UnprocessableEntityError", 422, True]]
    refused = ["ApiError" if version.startswith("0") else "AuthenticationError", 401, True]
    assert play("errors") == [*(old if version.startswith("0") else new), refused]


@pytest.mark.parametrize("version", ["1.12.0", "1.12.1"], indirect=True)
def test_a_run_in_the_background_is_followed(play: Play, scripted: FakeOpenAI) -> None:
    scripted.script(say("Hello!"))
    told = play("goes_on")
    chunks = without_pings(told["chunks"])
    assert chunks == [["assistant_message", "Hello!"], ["stop_reason"], ["usage_statistics"]]
    assert (told["status"], told["steps"], told["health"]) == ("completed", 1, "ok")
    assert told["sent"] == "Hello"
    assert told["models"] == ["openai/fake-model"]


@pytest.mark.parametrize("version", ["0.1.324", "1.12.0", "1.12.1"], indirect=True)
def test_an_agent_file_is_exported_and_imported(
    play: Play, scripted: FakeOpenAI, version: str
) -> None:
    scripted.script(say("Hello!"))
    told = play("agent_file")
    assert told["names"] == ["exported_copy", "exported" if version == "0.1.324" else "renamed"]
    assert told["blocks"] == ["My name is Ada"] * 2
    assert told["said"] == [[["user_message", "Hello"], ["assistant_message", "Hello!"]], []]
    assert told["notes"] == []
    assert "is not JSON" in told["refused"]


@pytest.mark.parametrize("version", ["1.12.1"], indirect=True)
def test_one_conversation_is_exported_and_imported(
    play: Play, scripted: FakeOpenAI, version: str
) -> None:
    scripted.script(say("One."), say("Two."))
    assert play("conversation_file") == {
        "said": [["user_message", "In the second"], ["assistant_message", "Two."]],
        "titles": ["Second"],
    }


def test_tool_rules_come_back_as_what_they_were(play: Play, version: str) -> None:
    told = play("rules_of_tools")
    wanted = [
        ["ContinueToolRule", "continue_loop"],
        ["TerminalToolRule", "exit_loop"],
        ["ConditionalToolRule", "conditional"],
        ["ChildToolRule", "constrain_child_tools"],
        ["RequiredBeforeExitToolRule", "required_before_exit"],
        ["ParentToolRule", "parent_last_tool"],
    ]
    assert told == wanted[: 4 if version == "0.1.42" else 6]


@pytest.mark.parametrize("version", ["0.1.324", "1.12.0", "1.12.1"], indirect=True)
def test_agents_are_found_by_whom_they_are_for(play: Play, version: str) -> None:
    told = play("identities")
    assert told["same"]
    assert told["found"] == ([["hers"]] * 2 if version == "0.1.324" else [["hers"]])
    assert told["counts"] == ([1, 1] if version == "0.1.324" else [0, 1])
