"""Tool calls that wait, in every tab: asked, answered here, there or by a script, and stopped."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.calls_that_wait import bring_a_tool
from tests.browser.conftest import Chat, button, log, status
from tests.browser.stage import Stage, script
from tests.support.fake_openai import FakeOpenAI, calls, text
from tests.support.server import MemoryWeb

pytestmark = pytest.mark.browser
APPEND = ("core_memory_append", {"label": "human", "content": "Likes pie"})
AGAIN = ("core_memory_append", {"label": "human", "content": "Likes cake"})


@pytest.fixture
def stage(server: MemoryWeb, model: FakeOpenAI) -> Iterator[Stage]:
    stage = Stage(server, model, server.make_agent("Tutor", human="Name: Bob"))
    yield stage
    stage.stop()
    stage.rest()


@pytest.fixture
def tabs(stage: Stage, chat: Chat) -> list[Page]:
    """Two tabs of the agent."""
    return [chat(stage.agent), chat(stage.agent)]


def test_a_script_s_tool_is_waited_for_in_every_tab_and_a_person_can_return_it(
    stage: Stage, tabs: list[Page]
) -> None:
    bring_a_tool(stage)
    forms = [log(tab).get_by_role("form", name="Return read_file") for tab in tabs]
    for tab, form in zip(tabs, forms, strict=True):
        expect(form).to_contain_text("read_file is run by the script that brought it")
        expect(log(tab)).to_contain_text("waiting for its script")
        expect(status(tab)).to_contain_text("Waiting for a script’s return")
    stage.model.script(text("Buy milk."))
    forms[0].get_by_label("What does it return?").fill("milk")
    button(forms[0], "Return this").click()
    for tab, form in zip(tabs, forms, strict=True):
        expect(form).to_have_count(0)
        expect(log(tab)).to_contain_text("Return given")
        expect(log(tab)).to_contain_text("Buy milk.")
    assert stage.model.requests[-1]["messages"][-1]["content"] == "milk"


def test_an_error_is_returned_as_one(stage: Stage, tabs: list[Page]) -> None:
    bring_a_tool(stage)
    form = log(tabs[0]).get_by_role("form", name="Return read_file")
    stage.model.script(text("I cannot read it."))
    form.get_by_label("What does it return?").fill("no such file")
    button(form, "Return it as an error").click()
    for tab in tabs:
        expect(log(tab).locator(".tool-error")).to_have_text("no such file")


def test_a_script_answers_and_nothing_stale_stays(stage: Stage, tabs: list[Page]) -> None:
    bring_a_tool(stage)
    for tab in tabs:
        expect(log(tab).get_by_role("form")).to_have_count(1)
    (request,) = [m for m in script(stage, "messages", {}, "GET") if "tool_calls" in m]
    call_id = request["tool_call"]["tool_call_id"]
    refused = {"type": "approval", "tool_call_id": call_id, "approve": False, "reason": "Private"}
    stage.model.script(text("Never mind."))
    script(stage, "messages/async", {"messages": [{"type": "approval", "approvals": [refused]}]})
    for tab in tabs:
        expect(log(tab)).to_contain_text("Refused")
        expect(log(tab)).to_contain_text("Never mind.")
        expect(log(tab).get_by_role("form")).to_have_count(0)


def test_stop_works_while_a_script_is_waited_for(stage: Stage, tabs: list[Page]) -> None:
    bring_a_tool(stage)
    expect(log(tabs[0]).get_by_role("form")).to_have_count(1)
    button(tabs[0], "Stop").click()
    for tab in tabs:
        expect(log(tab)).to_contain_text("Not answered before the agent was stopped")
        expect(log(tab).get_by_role("form")).to_have_count(0)


def test_of_two_calls_that_wait_one_is_decided_and_the_other_keeps_what_is_typed(
    stage: Stage, tabs: list[Page]
) -> None:
    script(stage, "tools/approval/core_memory_append", {"requires_approval": True}, "PATCH")
    stage.model.script(calls(APPEND, AGAIN))
    stage.send("I like pie and cake.")
    forms = [log(tab).get_by_role("form", name="Approve core_memory_append") for tab in tabs]
    for form in forms:
        expect(form).to_have_count(2)
    forms[0].nth(1).get_by_label("If you refuse, why?").fill("No cake")
    button(forms[1].nth(0), "Approve").click()
    for form in forms:
        expect(form).to_have_count(1)
    expect(forms[0].get_by_label("If you refuse, why?")).to_have_value("No cake")
    stage.model.script(text("Only pie, then."))
    button(forms[0], "Refuse").click()
    for tab, form in zip(tabs, forms, strict=True):
        expect(log(tab)).to_contain_text("Only pie, then.")
        expect(log(tab)).to_contain_text("No cake")
        expect(form).to_have_count(0)
