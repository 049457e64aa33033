"""Tool rules and approvals: what may be called when, and what waits for a person."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from agents.memory import sent_requests
from agents.models import Agent, Approval, Block, Message, Run, Step
from agents.runs.loop import run_agent
from agents.tools.rules import Rules, problem
from tests.conftest import Ask
from tests.support.fake_openai import FakeOpenAI, calls, text

APPEND = ("core_memory_append", {"label": "human", "content": "Likes pie"})
REPLACE = ("core_memory_replace", {"label": "human", "old_content": "Bob", "new_content": "Rob"})


def rule(kind: str, tool: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "tool_name": tool, **more}


def human() -> str:
    return Block.objects.get(label="human").value


def go_on(run: Run) -> Run:
    """What the engine does with a run that was handed to it."""
    run_agent(run.pk)
    run.refresh_from_db()
    return run


def decide(web: Client, approval: Approval, decision: str, **fields: str) -> int:
    address = f"/agents/{approval.step.run.agent_id}/approvals/{approval.pk}/"
    return web.post(address, {"decision": decision, **fields}).status_code


# -- rules -----------------------------------------------------------------------------------------


def test_a_tool_that_must_come_first_is_all_that_is_offered(
    agent: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    agent.configure(tool_rules=[rule("run_first", "core_memory_replace")])
    model.script(calls(REPLACE), text("Done."))
    ask("My name is Rob")
    first, second = model.requests
    assert [t["function"]["name"] for t in first["tools"]] == ["core_memory_replace"]
    assert first["tool_choice"] == "required"
    assert len(second["tools"]) == len(agent.tools)
    assert "tool_choice" not in second
    sent = [sent_requests.sent(step) for step in Step.objects.order_by("pk")]
    assert [request and request.proven for request in sent] == [True, True]


def test_another_tool_than_the_first_is_refused(agent: Agent, model: FakeOpenAI, ask: Ask) -> None:
    agent.configure(tool_rules=[rule("run_first", "core_memory_replace")])
    model.script(calls(APPEND), calls(REPLACE), text("Done."))
    model.also_allowed.add("core_memory_append")
    run = ask("I like pie")
    refusal = run.messages.filter(role="tool").first()
    assert refusal is not None
    assert refusal.is_error
    assert "one of these must be called first: core_memory_replace" in refusal.content
    assert human() == "Name: Rob"


def test_what_must_follow_a_tool_is_offered_alone(
    agent: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    follow = rule("constrain_child_tools", "core_memory_append", children=["core_memory_replace"])
    agent.configure(tool_rules=[follow])
    model.script(calls(APPEND), calls(REPLACE), text("Done."))
    ask("I like pie")
    assert [t["function"]["name"] for t in model.requests[1]["tools"]] == ["core_memory_replace"]
    assert len(model.requests[2]["tools"]) == len(agent.tools)


def test_a_tool_is_called_at_most_so_often_in_a_run(
    agent: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    agent.configure(
        tool_rules=[rule("max_count_per_step", "core_memory_append", max_count_limit=1)]
    )
    model.script(calls(APPEND, APPEND), text("Done."), calls(APPEND), text("Done."))
    run = ask("I like pie")
    first, second = run.messages.filter(role="tool")
    assert not first.is_error
    assert "at most once in a run" in second.content
    offered = [t["function"]["name"] for t in model.requests[1]["tools"]]
    assert "core_memory_append" not in offered
    assert not ask("And again").messages.filter(role="tool", is_error=True).exists()


def test_a_tool_can_end_the_turn(agent: Agent, model: FakeOpenAI, ask: Ask) -> None:
    agent.configure(tool_rules=[rule("exit_loop", "core_memory_append")])
    model.script(calls(APPEND))
    run = ask("I like pie")
    assert (run.status, run.reason) == ("done", "end_turn")
    assert len(model.requests) == 1


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({}, "list of objects"),
        ([{"type": "nonsense", "tool_name": "a"}], "no tool rule 'nonsense'"),
        ([{"type": "exit_loop"}], "needs a tool's name as 'tool_name'"),
        ([rule("exit_loop", "b")], "'b', which the agent does not have"),
        ([rule("constrain_child_tools", "a")], "needs a list of tools as 'children'"),
        ([rule("max_count_per_step", "a", max_count_limit=0)], "1 or more"),
        ([rule("max_count_per_step", "a", max_count_limit=True)], "1 or more"),
        ([rule("exit_loop", "a")], ""),
    ],
)
def test_rules_are_checked(rules: Any, words: str) -> None:
    said = problem(rules, ["a"])
    assert words in said
    assert bool(words) == bool(said)


def test_without_rules_all_is_allowed() -> None:
    assert Rules([]).offered(["a", "b"], ["a"]) == ["a", "b"]


# -- approvals -------------------------------------------------------------------------------------


@pytest.fixture
def waiting(agent: Agent, model: FakeOpenAI, ask: Ask) -> Run:
    """A run that waits until somebody approves an append."""
    agent.configure(tool_rules=[rule("requires_approval", "core_memory_append")])
    model.script(calls(APPEND), text("Done."))
    return ask("I like pie")


def test_a_call_that_needs_approval_waits_and_shows_what_it_would_change(waiting: Run) -> None:
    assert waiting.status == "waiting"
    assert human() == "Name: Bob"
    approval = Approval.objects.get()
    assert approval.changes == [
        {"label": "human", "before": "Name: Bob", "after": "Name: Bob\nLikes pie"}
    ]
    assert approval.expires_at - timezone.now() > timedelta(hours=23)
    assert not Message.objects.filter(role="tool").exists()
    assert Block.objects.get(label="human").edits.count() == 0


def test_approved_it_runs_once_and_the_run_goes_on(waiting: Run, web: Client) -> None:
    approval = Approval.objects.get()
    page = web.get(f"/agents/{waiting.agent_id}/").content.decode()
    assert "waiting for approval" in page
    assert f"/approvals/{approval.pk}/" in page
    assert decide(web, approval, "approved") in (204, 302)
    assert decide(web, approval, "refused") in (204, 302)  # too late, and of no effect
    run = go_on(waiting)
    assert (run.status, human()) == ("done", "Name: Bob\nLikes pie")
    approval.refresh_from_db()
    assert (approval.status, approval.decided_by) == ("approved", waiting.agent.owner)
    page = web.get(f"/agents/{waiting.agent_id}/").content.decode()
    assert "Approved by alice" in " ".join(page.split())


def test_refused_the_agent_is_told_why(waiting: Run, web: Client, model: FakeOpenAI) -> None:
    decide(web, Approval.objects.get(), "refused", reason="That is a secret.")
    run = go_on(waiting)
    assert (run.status, human()) == ("done", "Name: Bob")
    told = model.requests[-1]["messages"][-1]["content"]
    assert told == "Error: not run, because the person refused it: That is a secret."


def test_approved_with_other_arguments_those_count_and_the_agent_is_told(
    waiting: Run, web: Client, model: FakeOpenAI
) -> None:
    other = '{"label": "human", "content": "Likes cake"}'
    decide(web, Approval.objects.get(), "approved", arguments=other)
    go_on(waiting)
    assert human() == "Name: Bob\nLikes cake"
    assert f"with other arguments: {other})" in model.requests[-1]["messages"][-1]["content"]


@pytest.mark.parametrize("arguments", ["nonsense", "[]", '{"label": "human"}', '{"x": 1}'])
def test_arguments_that_do_not_fit_are_refused_and_it_waits_on(
    waiting: Run, web: Client, arguments: str
) -> None:
    assert decide(web, Approval.objects.get(), "approved", arguments=arguments) == 422
    assert Approval.objects.get().status == "pending"
    waiting.refresh_from_db()
    assert waiting.status == "waiting"


def test_what_nobody_approves_in_time_counts_as_refused(waiting: Run, model: FakeOpenAI) -> None:
    assert Approval.objects.all().expire() == 0
    Approval.objects.update(expires_at=timezone.now())
    assert Approval.objects.all().expire() == 1
    run = go_on(waiting)
    assert (run.status, human()) == ("done", "Name: Bob")
    assert "nobody approved it in time" in model.requests[-1]["messages"][-1]["content"]


def test_stop_ends_a_run_that_waits(waiting: Run) -> None:
    waiting.stop()
    run = go_on(waiting)
    assert (run.status, run.reason) == ("stopped", "cancelled")
    assert "stopped the agent" in Message.objects.get(role="tool").content


def test_messages_wait_behind_a_run_that_waits(waiting: Run, agent: Agent) -> None:
    later = agent.send("Hello?", "later")
    assert later.status == "queued"


def test_a_block_can_ask_before_it_is_written(
    agent: Agent, model: FakeOpenAI, ask: Ask, web: Client
) -> None:
    block = agent.block("human")
    assert block is not None
    block.configure(ask_before_write=True)
    model.script(calls(REPLACE, APPEND), text("Done."))
    run = ask("I am Rob and like pie")
    assert run.status == "waiting"
    decide(web, Approval.objects.get(), "approved")
    run = go_on(run)
    assert (run.status, human()) == ("waiting", "Name: Rob")
    decide(web, Approval.objects.pending().get(), "refused")
    assert go_on(run).status == "done"
    assert human() == "Name: Rob"
    persona = ("core_memory_append", {"label": "persona", "content": "Kind"})
    model.script(calls(persona), text("Done."))
    assert ask("Be kind").status == "done"  # other blocks do not ask


def test_a_wrong_call_is_answered_at_once_and_nobody_is_asked(
    agent: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    agent.configure(tool_rules=[rule("requires_approval", "core_memory_append")])
    model.script(calls(("core_memory_append", {"label": "human"})), text("Done."))
    assert ask("I like pie").status == "done"
    assert not Approval.objects.exists()


def test_strangers_decide_nothing(waiting: Run, web: Client, bob: User) -> None:
    web.force_login(bob)
    assert decide(web, Approval.objects.get(), "approved") == 404
    assert Approval.objects.get().status == "pending"
