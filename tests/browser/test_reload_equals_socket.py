"""Reload equals socket: a page told of an event looks like one that was loaded after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from agents.models import Event
from tests.browser.calls_that_wait import (
    ask_for_approval,
    bring_a_tool,
    refuse,
    return_by_script,
    stop_what_waits,
)
from tests.browser.conftest import Chat, caught_up, log, status
from tests.browser.stage import (
    Stage,
    ask_to_stop,
    begin,
    call_tools_and_go_on,
    change_blocks,
    edit_by_hand,
    edit_by_the_agent,
    fail,
    fail_and_retry,
    finish,
    go_back_to_a_version,
    judge_a_step,
    leave_out_and_put_back,
    leave_out_and_retry,
    make_room,
    put_away,
    queue,
    reflect,
    remove_a_block,
    rename,
    rename_the_conversation,
    reset,
    reset_and_go_on,
    rewrite_the_past,
    rewrite_the_summary,
    say_again,
    stream_reasoning,
    stream_text,
    try_again,
)
from tests.support.fake_openai import FakeOpenAI, text
from tests.support.server import MemoryWeb, eventually

pytestmark = pytest.mark.browser

PARTS = ("header", "log", "empty", "queue", "status", "panel-tabs", "core-memory")
NORMALISED = """(id) => {
  const part = document.getElementById(id).cloneNode(true);
  for (const element of part.querySelectorAll("*")) {
    for (const name of ["data-htmx-powered", "data-seen", "data-glow", "open", "tabindex"]) {
      element.removeAttribute(name);
    }
    if (!element.getAttribute("class")?.trim()) element.removeAttribute("class");
    if (element.nodeName === "TIME") element.textContent = "";
  }
  const html = part.innerHTML.replace(/\\s+/g, " ").replace(/> | </g, (two) => two.trim());
  return html.trim().replaceAll("<", "\\n<").split("\\n");
}"""


SCENARIOS: dict[str, list[Callable[[Stage], None]]] = {
    Event.Kind.AGENT_CHANGED: [rename],
    Event.Kind.MEMORY_CHANGED: [change_blocks, remove_a_block],
    Event.Kind.BLOCK_EDITED: [edit_by_hand, edit_by_the_agent],
    Event.Kind.QUEUE_CHANGED: [queue],
    Event.Kind.RUN_BEGAN: [begin],
    Event.Kind.ACTIVITY: [try_again, ask_to_stop],
    Event.Kind.STEP_BEGAN: [begin],
    Event.Kind.TEXT: [stream_text, stream_reasoning],
    Event.Kind.STEP_CHANGED: [
        call_tools_and_go_on,
        ask_for_approval,
        refuse,
        bring_a_tool,
        return_by_script,
        stop_what_waits,
        judge_a_step,
        leave_out_and_put_back,
    ],
    Event.Kind.RUN_CHANGED: [finish, fail, fail_and_retry, leave_out_and_retry, reflect],
    Event.Kind.COMPACTED: [make_room],
    Event.Kind.SUMMARY_CHANGED: [rewrite_the_summary],
    Event.Kind.ARCHIVAL_CHANGED: [put_away],
    Event.Kind.MESSAGE_CHANGED: [rewrite_the_past],
    Event.Kind.VERSION_CHANGED: [say_again, go_back_to_a_version],
    Event.Kind.RESET: [reset, reset_and_go_on],
    Event.Kind.CONVERSATION_CHANGED: [rename_the_conversation],
}
CASES = [(kind, scenario) for kind in SCENARIOS for scenario in SCENARIOS[kind]]


@pytest.fixture
def stage(server: MemoryWeb, model: FakeOpenAI) -> Iterator[Stage]:
    stage = Stage(server, model, server.make_agent("Tutor", human="Name: Bob"))
    yield stage
    for leave in stage.on_leaving:
        leave()
    stage.rest()


def parts(page: Page) -> dict[str, list[str]]:
    return {part: page.evaluate(NORMALISED, part) for part in PARTS}


def same(page: Page, fresh: Page) -> None:
    """Part by part, so that a failure shows little."""
    told, loaded = parts(page), parts(fresh)
    for part in PARTS:
        assert told[part] == loaded[part], part


def is_quiet(page: Page, stage: Stage) -> None:
    """The page has drawn all there is, and nothing more is coming."""

    def settled() -> bool:
        seq = stage.server.last_seq(stage.agent)
        caught_up(page, stage.server, stage.agent)
        return seq == stage.server.last_seq(stage.agent)

    eventually(settled)
    page.evaluate("() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)))")


@contextmanager
def not_reloaded(page: Page) -> Iterator[None]:
    page.evaluate("() => { window.stayed = true; }")
    yield
    assert page.evaluate("() => window.stayed")


def test_every_kind_of_event_has_its_scenario() -> None:
    assert set(SCENARIOS) == set(Event.Kind)


@pytest.mark.parametrize(("kind", "happen"), CASES)
def test_a_page_told_of_an_event_is_like_one_loaded_after_it(
    kind: Event.Kind, happen: Callable[[Stage], None], stage: Stage, chat: Chat
) -> None:
    stage.converse()
    page = chat(stage.agent)
    stage.since = stage.server.last_seq(stage.agent)
    with not_reloaded(page):
        happen(stage)
        stage.wait_for(kind)
        is_quiet(page, stage)
        same(page, chat(stage.agent))


def test_the_first_page_of_an_agent_that_was_never_spoken_to(stage: Stage, chat: Chat) -> None:
    page = chat(stage.agent)
    with not_reloaded(page):
        rename(stage)
        is_quiet(page, stage)
        same(page, chat(stage.agent))
        finish(stage)
        is_quiet(page, stage)
        same(page, chat(stage.agent))


def test_a_page_that_was_away_catches_up_in_mid_answer_and_after(stage: Stage, chat: Chat) -> None:
    """Its socket is closed under it, much happens, and it comes back."""
    away = False
    sockets: list[WebSocketRoute] = []

    def route(socket: WebSocketRoute) -> None:
        if away:
            socket.close(code=1012)
            return
        socket.connect_to_server()
        sockets.append(socket)

    page = chat(stage.agent, route=route)
    with not_reloaded(page):
        away = True
        sockets[-1].close(code=1012)
        stage.converse()
        edit_by_hand(stage)
        call_tools_and_go_on(stage)
        stage.send("And another")
        stage.model.script(text("There."))
        fresh = chat(stage.agent)
        expect(log(fresh)).to_contain_text("Nice to meet you.")
        away = False
        is_quiet(page, stage)
        same(page, fresh)
        for leave in stage.on_leaving:
            leave()
        stage.rest()
        is_quiet(page, stage)
        expect(status(page)).to_have_text("Ready")
        same(page, chat(stage.agent))
