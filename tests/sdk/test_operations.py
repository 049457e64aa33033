"""Each operation that an SDK has a method for is called by it, and does what it says."""

from __future__ import annotations

import pytest

from tests.sdk.conftest import Play
from tests.support.fake_openai import FakeOpenAI, calls, stall

pytestmark = pytest.mark.sdk
HELLO = calls(("send_message", {"message": "Hello!"}))


def test_agents_are_counted_changed_reset_and_deleted(play: Play) -> None:
    assert play("agents") == {
        "counted": True,
        "tagged": True,
        "renamed": "another",
        "messages": ["system_message"],
        "left": False,
    }


def test_blocks_are_counted_changed_attached_detached_and_deleted(play: Play, version: str) -> None:
    assert play("blocks") == {
        "held": "Sail",
        "labels": [["plans"], []],
        "holders": ["holder"],
        "counted": True,
        "left": False,
    }


def test_tools_are_made_tried_changed_attached_detached_and_deleted(
    play: Play, version: str
) -> None:
    assert play("tools") == {
        "attached": [True, False],
        "described": "Say it very loud",
        "tried": "HI" if version.startswith("0") else True,
        "counted": True,
        "left": False,
    }


def test_a_tool_that_needs_approval_waits_until_the_agent_is_told_otherwise(
    play: Play, scripted: FakeOpenAI, version: str
) -> None:
    if version == "0.1.42":
        pytest.skip("This version knows of no approval.")
    shout = calls(("shout", {"words": "hi", "request_heartbeat": True}))
    scripted.script(shout, HELLO, shout, HELLO)
    assert play("gated_tool") == {
        "flag": True,
        "rules": ["requires_approval"],
        "waited": "requires_approval",
        "returned": "HI",
    }


def test_a_schema_that_a_script_sends_acts(play: Play, version: str) -> None:
    if version == "0.1.42":
        pytest.skip("This version sends no requirements.")
    new = version.startswith("1")
    assert play("schemas") == {
        "described": ["Greets", True, "The greet tool"],
        "schema": True,
        "found": "greet" if new else True,
        "ran": ["success", "Hello Bob! Hello Bob! "] if new else True,
        "refused": True,
    }


def test_an_agent_file_is_one_by_the_types_that_letta_published(
    play: Play, scripted: FakeOpenAI, version: str
) -> None:
    if version != "0.1.324":
        pytest.skip("This version has no types of agent files.")
    scripted.script(HELLO)
    assert play("judged_file") == {
        "asks": ["shout"],
        "rules": [],
        "roles": ["system", "user", "assistant", "tool"],
        "blocks": ["human"],
    }


def test_messages_are_changed_searched_and_cancelled(
    play: Play, scripted: FakeOpenAI, version: str
) -> None:
    scripted.script(HELLO)
    words = "I like blackcurrants" if version.startswith("0") else "I like gooseberries"
    assert play("messages") == {"said": [words], "found": True}


def test_passages_are_searched_changed_and_deleted(play: Play, version: str) -> None:
    found = True if version == "0.1.42" else ["Bob keeps bees"]
    assert play("passages") == {"found": found, "left": []}


def test_a_run_has_messages_steps_and_usage(play: Play, scripted: FakeOpenAI, version: str) -> None:
    scripted.script(HELLO)
    told = play("runs")
    assert told["streamed"] in (True, "usage_statistics")
    assert told["listed"]
    assert told["said"][-1] == "assistant_message"
    assert told["used"]
    assert told["steps"] == 1
    assert told["step"] == {"tokens": True, "messages": True, "metrics": True}


@pytest.mark.parametrize("version", ["0.1.42", "0.1.324"], indirect=True)
def test_runs_are_taken_back(play: Play, scripted: FakeOpenAI) -> None:
    scripted.script(stall("Once"))
    assert play("taken_back") == "cancelled"


def test_what_there_is_to_choose_from(play: Play) -> None:
    told = play("catalogue")
    assert told["health"] == "ok"
    assert told["models"] == ["openai/fake-model"]


@pytest.mark.parametrize("version", ["1.12.0", "1.12.1"], indirect=True)
def test_messages_are_scheduled_sent_and_stopped(play: Play, scripted: FakeOpenAI) -> None:
    scripted.script(HELLO)
    assert play("schedules") == {
        "when": True,
        "over": None,
        "kept": ["0 9 * * 1-5", 3],
        "pages": [True, False],
        "second": True,
        "stopped": True,
        "left": 1,
    }


@pytest.mark.parametrize("version", ["0.1.42", "0.1.324"], indirect=True)
def test_identities_are_made_changed_and_deleted(play: Play, version: str) -> None:
    new = version != "0.1.42"
    assert play("people") == {
        "same": True,
        "agents": 1 if new else True,
        "blocks": 0 if new else True,
        "name": "Theodora",
        "counted": True,
        "listed": ["Theodora"],
    }
