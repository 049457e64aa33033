"""Approvals and client-side tools, by the SDKs that know of them."""

from __future__ import annotations

import json

import pytest

from tests.sdk.conftest import Play
from tests.support.fake_openai import FakeOpenAI, calls
from tests.support.server import MemoryWeb, eventually

pytestmark = [
    pytest.mark.sdk,
    pytest.mark.parametrize("version", ["0.1.324", "1.12.0", "1.12.1"], indirect=True),
]
HELLO = calls(("send_message", {"message": "Hello!"}))
SHOUT = calls(("shout", {"words": "hi", "request_heartbeat": True}))
EXPIRE = (
    "from django.utils import timezone; from agents.models import Approval;"
    "Approval.objects.pending().update(expires_at=timezone.now())"
)


def test_a_person_is_in_the_loop(play: Play, scripted: FakeOpenAI) -> None:
    scripted.script(SHOUT, HELLO, SHOUT, HELLO)
    told = play("human_in_the_loop")
    assert told["asked"] == ["ApprovalRequestMessage", "shout", "requires_approval"]
    assert told["waiting"] == ["requires_approval", True]
    assert told["pending"] == [409, "PENDING_APPROVAL", True]
    assert told["wrong"] == [400, "Invalid tool call IDs"]
    kind, returned = told["refused"][0]
    assert (kind, "Too loud." in returned) == ("tool_return_message", True)
    assert told["refused"][1] == ["assistant_message", ""]
    assert told["approved"] == [
        "tool_return_message",
        "assistant_message",
        "stop_reason",
        "usage_statistics",
    ]
    asked = ["approval_request_message", "approval_response_message", "tool_return_message"]
    once = ["user_message", *asked, "assistant_message"]
    assert told["listed"] == ["system_message", *once, *once]
    assert told["answers"] == [
        ["ApprovalResponseMessage", False, "Too loud."],
        ["ApprovalResponseMessage", True, None],
    ]


def test_a_script_runs_a_tool_that_it_brought_along(play: Play, scripted: FakeOpenAI) -> None:
    scripted.script(calls(("read_thermometer", {"unit": "C"})), HELLO)
    told = play("thermometer")
    kind, name, arguments = told["asked"]
    assert (kind, name) == ("ApprovalRequestMessage", "read_thermometer")
    assert json.loads(arguments) == {"unit": "C"}
    assert told["answered"] == ["tool_return_message", "assistant_message"]
    assert told["returned"] == told["listed"] == "21 °C"
    assert told["said"] == "Hello!"
    assert scripted.requests[-1]["messages"][-1]["content"] == "21 °C"


def test_the_address_that_a_script_names_is_asked_if_that_is_allowed(
    play: Play, scripted: FakeOpenAI
) -> None:
    scripted.script(HELLO)
    run = play("told_elsewhere")
    told = eventually(lambda: (now := play("what_was_told", run=run))[3] and now)
    assert told[:3] == ["completed", "http://127.0.0.1:8080/told", None]
    assert "not public" in told[3]


def test_what_nobody_answers_in_time_goes_on_without(
    play: Play, scripted: FakeOpenAI, server: MemoryWeb
) -> None:
    scripted.script(SHOUT, HELLO)
    run = play("left_alone")["run"]
    eventually(
        lambda: play("how_it_stands", run=run)["state"] == ["completed", "requires_approval"]
    )
    expired = server.command("shell", "-c", EXPIRE)
    assert expired.returncode == 0, expired.stderr
    told = eventually(
        lambda: (
            (now := play("how_it_stands", run=run))["state"] == ["completed", "end_turn"] and now
        )
    )
    assert [kind for kind, _ in told["messages"]] == [
        "approval_request_message",
        "tool_return_message",
    ]
    assert "nobody approved it in time" in told["messages"][1][1]
