"""Tool rules in a run: what lets a turn go on or end, and what may be called after what."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from agents.models import Agent, Run, Tool
from agents.runs.loop import run_agent
from agents.tools import rules as tool_rules
from agents.tools.rules import Rules, problem
from tests.conftest import Ask
from tests.support.api_client import Api
from tests.support.fake_openai import FakeOpenAI, calls, text

APPEND = ("core_memory_append", {"label": "human", "content": "Likes pie"})
SEND = ("send_message", {"message": "Hello!"})
FLIP = '''def flip(side: str) -> str:
    """Flip a coin.

    Args:
        side: What comes up.
    """
    return side
'''


def rule(kind: str, tool: str = "core_memory_append", **more: Any) -> dict[str, Any]:
    return {"type": kind, "tool_name": tool, **more}


def offered(model: FakeOpenAI, request: int) -> list[str]:
    """The tools that were offered with a request."""
    return [tool["function"]["name"] for tool in model.requests[request].get("tools", [])]


def outcomes(run: Run) -> list[str]:
    return [step.outcome for step in run.steps.order_by("pk")]


@pytest.fixture
def speaker(agent: Agent) -> Agent:
    """An agent that talks by send_message."""
    agent.configure(tools=["core_memory_append", "core_memory_replace", "send_message"])
    return agent


@pytest.fixture
def flipper(agent: Agent) -> Agent:
    """An agent with a tool that returns what it is told to."""
    Tool.from_source(agent.owner, FLIP)
    agent.configure(tools=["core_memory_append", "core_memory_replace", "flip"])
    return agent


# -- the turn --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "reason"), [(APPEND, SEND, "end_turn"), (SEND, APPEND, "no_heartbeat")]
)
def test_a_turn_goes_on_after_a_tool_where_a_rule_says_so(
    first: Any, second: Any, reason: str, speaker: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    speaker.configure(tool_rules=[rule("continue_loop", first[0])])
    model.script(calls(first), calls(second))
    run = ask()
    assert outcomes(run)[0] == f"a rule says that the turn goes on after {first[0]}"
    assert run.reason == reason


def test_an_agent_that_talks_by_tool_does_not_answer_before_what_is_required(
    speaker: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    speaker.configure(tool_rules=[rule("required_before_exit")])
    replace = {"label": "human", "old_content": "Bob", "new_content": "Rob"}
    model.script(calls(SEND), calls(("core_memory_replace", replace)), calls(APPEND), calls(SEND))
    run = ask()
    refusal, *rest = run.messages.filter(role="tool")
    assert refusal.is_error
    assert "these must be called before send_message: core_memory_append" in refusal.content
    assert not any(each.is_error for each in rest)
    assert outcomes(run)[1:] == [
        "a rule says that core_memory_append must be called before the turn ends",
        "said nothing to the person yet, so the agent is asked for its answer",
        "answered",
    ]
    assert [("send_message" in offered(model, n)) for n in range(3)] == [False] * 3
    assert [model.requests[n].get("tool_choice") for n in range(3)] == ["required"] * 3


def test_an_agent_that_talks_by_text_does_not_answer_before_what_is_required(
    agent: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    agent.configure(tool_rules=[rule("required_before_exit")])
    model.script(calls(APPEND), text("Noted."))
    run = ask()
    assert (run.reason, len(outcomes(run))) == ("end_turn", 2)
    assert [request.get("tool_choice") for request in model.requests] == ["required", None]


def test_an_answer_that_comes_too_early_does_not_end_the_turn(
    agent: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    agent.configure(tool_rules=[rule("required_before_exit")])
    model.script(text("Hello"), calls(APPEND), text("Noted."))
    run = ask()
    assert (run.reason, run.steps.count()) == ("end_turn", 3)
    model.script(*[text("No")] * 3)
    run = ask()
    assert (run.reason, outcomes(run)[-1]) == ("error", "called no tool")
    assert run.error == (
        "A rule says that core_memory_append must be called before the turn ends; the model did"
        " not, though it was asked 3 times."
    )
    agent.configure(max_steps=2)
    model.script(text("No"), text("No"))
    run = ask()
    assert (run.reason, outcomes(run)[-1]) == ("max_steps", "the last step allowed")


# -- what follows on a return ----------------------------------------------------------------------

HEADS = rule(
    "conditional",
    "flip",
    child_output_mapping={"heads": "core_memory_append", "tails": "core_memory_replace"},
)


@pytest.mark.parametrize(
    ("side", "more", "then"),
    [
        ("heads", {}, ["core_memory_append"]),
        ("tails", {"default_child": "flip"}, ["core_memory_replace"]),
        ("edge", {"default_child": "core_memory_append"}, ["core_memory_append"]),
        ("edge", {}, ["core_memory_append", "core_memory_replace", "flip"]),
    ],
)
def test_what_a_tool_returned_says_what_follows(
    side: str, more: dict[str, Any], then: list[str], flipper: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    flipper.configure(tool_rules=[HEADS | more])
    append = ("core_memory_append", {"label": "human", "content": "x"})
    replace = ("core_memory_replace", {"label": "human", "old_content": "Bob", "new_content": "B"})
    model.script(calls(("flip", {"side": side})))
    model.script(calls(replace if then[0] == "core_memory_replace" else append), text("Done."))
    run = ask()
    assert run.reason == "end_turn"
    assert offered(model, 1) == then
    assert model.requests[1].get("tool_choice") == ("required" if len(then) == 1 else None)
    assert len(offered(model, 2)) == 3


def test_a_return_that_no_rule_knows_fails_the_run_where_one_must(
    flipper: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    flipper.configure(tool_rules=[HEADS | {"require_output_mapping": True}])
    model.script(calls(("flip", {"side": "edge"}), APPEND))
    run = ask()
    assert (run.status, run.reason) == ("failed", "error")
    assert run.error == "No rule says what follows flip, which returned 'edge'."
    assert run.messages.filter(role="tool", is_error=True).get().content.endswith(run.error)


def test_a_return_counts_without_the_note_of_who_approved_it(
    flipper: Agent, model: FakeOpenAI, ask: Ask, web: Client
) -> None:
    flipper.configure(tool_rules=[HEADS, rule("requires_approval", "flip")])
    model.script(calls(("flip", {"side": "tails"})), calls(APPEND), text("Done."))
    run = ask()
    approval = run.steps.get().approvals.get()
    address = f"/agents/{flipper.pk}/approvals/{approval.pk}/"
    given = {"decision": "approved", "arguments": '{"side": "heads"}'}
    assert web.post(address, given).status_code < 400
    run_agent(run.pk)
    run.refresh_from_db()
    assert run.reason == "end_turn"
    assert offered(model, 1) == ["core_memory_append"]


def test_what_must_come_right_after_a_tool_comes_nowhere_else(
    flipper: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    flipper.configure(
        tool_rules=[rule("parent_last_tool", "flip", children=["core_memory_append"])]
    )
    flip = ("flip", {"side": "heads"})
    model.script(calls(APPEND), calls(flip, flip, APPEND), text("Done."))
    run = ask()
    first, _, second, last = run.messages.filter(role="tool")
    assert "core_memory_append may only be called right after flip" in first.content
    assert "only core_memory_append may be called after flip" in second.content
    assert not last.is_error
    assert offered(model, 0) == offered(model, 2) == ["core_memory_replace", "flip"]


# -- kept, shown, refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (rule("conditional"), "needs 'child_output_mapping'"),
        (rule("conditional", child_output_mapping={}), "needs 'child_output_mapping'"),
        (rule("conditional", child_output_mapping={"x": 3}), "needs 'child_output_mapping'"),
        (rule("conditional", child_output_mapping={"x": "b"}), "'b', which the agent"),
        (HEADS | {"tool_name": "core_memory_append", "default_child": 1}, "as 'default_child'"),
        (rule("parent_last_tool", children=["b"]), "'b', which the agent"),
        (rule("parent_last_tool"), "needs a list of tools as 'children'"),
        (rule("constrain_child_tools", children=[1]), "needs a list of tools as 'children'"),
        (rule("required_before_exit", "b"), "'b', which the agent"),
        (rule("run_first", args={"label": "human"}), "sets arguments"),
        ({"type": ["exit_loop"], "tool_name": "b"}, "no tool rule"),
    ],
)
def test_what_cannot_be_is_refused_in_words(given: dict[str, Any], words: str) -> None:
    assert words in problem([given], ["core_memory_append"])


def test_a_tool_that_goes_leaves_the_rules_that_name_it() -> None:
    given = [HEADS | {"default_child": "core_memory_append"}, rule("parent_last_tool", "a")]
    given[1]["children"] = ["core_memory_append"]
    left = tool_rules.without(given, "core_memory_append")
    assert left == [HEADS | {"child_output_mapping": {"tails": "core_memory_replace"}}]
    assert tool_rules.without(left, "core_memory_replace") == []
    assert tool_rules.without(given, "flip") == given[1:]
    other = tool_rules.renamed(given, "core_memory_append", "note")
    assert other[0]["child_output_mapping"]["heads"] == other[0]["default_child"] == "note"
    assert other[1]["children"] == ["note"]
    assert problem(other, ["flip", "note", "core_memory_replace", "a"]) == ""
    assert Rules(other).bound(["a"]) == []


def test_the_api_takes_and_shows_every_rule(alice: User, accounts: None) -> None:
    api = Api(alice)
    given = [
        rule("continue_loop"),
        rule("required_before_exit"),
        rule("parent_last_tool", children=["send_message"]),
        rule("conditional", child_output_mapping={"x": "send_message"}, default_child=None),
    ]
    made = api.post("/agents/", {"tool_rules": given})
    shown = [{k: v for k, v in each.items() if v is not None} for each in made["tool_rules"]]
    assert shown == [{k: v for k, v in each.items() if v is not None} for each in given]
    wrong = {"tool_rules": [rule("conditional", child_output_mapping={"x": "nope"})]}
    assert "'nope'" in api.post("/agents/", wrong, expect=422)["detail"][0]["msg"]
    address = f"/agents/{made['id']}"
    send = next(tool["id"] for tool in made["tools"] if tool["name"] == "send_message")
    left = api.patch(f"{address}/tools/detach/{send}")["tool_rules"]
    assert [each["type"] for each in left] == ["continue_loop", "required_before_exit"]


def test_pages_show_and_set_rules_and_leave_those_by_return(flipper: Agent, web: Client) -> None:
    flipper.configure(tool_rules=[HEADS | {"require_output_mapping": True}])
    address = reverse("tool_rules", args=[flipper.pk])
    form = {"tool": "flip", "continue_loop": "on", "required_before_exit": "on"}
    assert web.post(address, form | {"unlocks": ["core_memory_append"]}).status_code == 200
    flipper.refresh_from_db()
    kept = [
        HEADS | {"require_output_mapping": True},
        rule("continue_loop", "flip"),
        rule("required_before_exit", "flip"),
        rule("parent_last_tool", "flip", children=["core_memory_append"]),
    ]
    assert flipper.tool_rules == kept
    tab = web.get(reverse("panel_tab", args=[flipper.pk, "tools"])).content.decode()
    for words in (
        "lets the turn go on",
        "must be called before the turn ends",
        "must come right before core_memory_append",
        "core_memory_append after “heads”, core_memory_replace after “tails”, else the run fails",
    ):
        assert words in tab
    settings_page = reverse("agent_settings", args=[flipper.pk])
    fields = web.get(settings_page).context["form"]
    widget = fields["tool_rules"].subwidgets[0].data["rows"]
    rows = {part: [row.get(part, "") for row in widget] for part in widget[0]}
    given = {f"tool_rules-{part}": column for part, column in rows.items()}
    more = {
        "name": "Tutor",
        "max_steps": 50,
        "timezone": "UTC",
        "tools": flipper.tools,
        "system_prompt": "x",
    }
    assert web.post(settings_page, given | more).status_code == 302
    flipper.refresh_from_db()
    assert flipper.tool_rules == kept
    given["tool_rules-type"][0] = "exit_loop"
    web.post(settings_page, given | more)
    flipper.refresh_from_db()
    assert flipper.tool_rules[0] == rule("exit_loop", "flip")
