"""Where an endpoint refuses what was said, there is a way on; what was sent before is proven."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from agents.ledger.fork import fork
from agents.memory import sent_requests
from agents.models import Agent, Conversation, Message, Run, Step
from agents.runs.loop import run_agent
from agents.runs.ways_on import fault_of, leave_out, put_back, retry
from tests.conftest import Ask
from tests.support.api_client import Api
from tests.support.fake_openai import FakeOpenAI, calls, status, text

APPEND = ("core_memory_append", {"label": "human", "content": "Likes pie"})


@pytest.fixture
def refused(agent: Agent, model: FakeOpenAI, ask: Ask) -> Run:
    """The second message of a conversation, which the endpoint refuses to hear of."""
    model.script(calls(APPEND), text("Noted."), status(400, "We do not like this history."))
    ask("I like pie.")
    return ask("What do I like?")


def test_a_refusal_that_names_nothing_lets_the_last_exchange_be_left_out(
    refused: Run, model: FakeOpenAI, agent: Agent
) -> None:
    fault = fault_of(refused)
    assert fault
    assert fault.named == "the exchange that begins with “I like pie.”"
    assert retry(refused, leave_out=True)
    run_agent(refused.pk)
    refused.refresh_from_db()
    assert refused.status == "done"
    said = [message["content"] for message in model.requests[-1]["messages"][1:]]
    assert said == ["What do I like?"]
    assert Message.objects.filter(agent=agent, content="I like pie.").exists()


def test_a_refusal_that_names_a_call_lets_its_step_be_left_out(
    agent: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    model.script(calls(APPEND), text("Noted."))
    ask("I like pie.")
    call_id = Message.objects.get(role=Message.Role.TOOL).tool_call_id
    model.script(text("Hello."), status(400, f"tool call {call_id} is malformed"))
    ask("Hello?")
    run = ask("Still there?")
    fault = fault_of(run)
    assert fault
    assert fault.named == "the call of core_memory_append"
    retry(run, leave_out=True)
    run_agent(run.pk)
    said = [m["content"] for m in model.requests[-1]["messages"][1:]]
    assert said == ["I like pie.", "Noted.", "Hello?", "Hello.", "Still there?"]


def test_a_refusal_that_names_a_place_lets_what_stands_there_be_left_out(
    agent: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    model.script(calls(APPEND), text("Noted."), status(400, "messages[2].content: not taken"))
    ask("I like pie.")
    fault = fault_of(ask("What do I like?"))
    assert fault
    assert fault.named == "the call of core_memory_append"


def test_what_the_run_itself_did_is_left_out_first(
    agent: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    model.script(text("Hello."), calls(APPEND), status(400, "No."))
    ask("Hello?")
    run = ask("I like pie.")
    fault = fault_of(run)
    assert fault
    assert fault.named == "what was done for this message so far"
    retry(run, leave_out=True)
    run_agent(run.pk)
    said = [m["content"] for m in model.requests[-1]["messages"][1:]]
    assert said == ["Hello?", "Hello.", "I like pie."]


def test_an_endpoint_that_refuses_all_is_left_with_the_question_alone(
    agent: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    for number in range(3):
        ask(f"Message {number}")
    model.script(*[status(400, "No.")] * 4)
    run = ask("And now?")
    for _ in range(3):
        assert fault_of(run)
        retry(run, leave_out=True)
        run_agent(run.pk)
        run.refresh_from_db()
    assert run.status == "failed"
    assert fault_of(run) is None
    assert [m["content"] for m in model.requests[-1]["messages"][1:]] == ["And now?"]


def test_room_is_made_before_the_next_try(refused: Run, model: FakeOpenAI) -> None:
    model.script(text("They like pie."), text("Pie."))
    assert retry(refused, make_room=True)
    run_agent(refused.pk)
    refused.refresh_from_db()
    assert refused.status == "done"
    system, *said = model.requests[-1]["messages"]
    assert "They like pie." in system["content"]
    assert [message["content"] for message in said] == ["What do I like?"]


def test_requests_of_before_and_after_a_message_was_left_out_are_proven(
    refused: Run, model: FakeOpenAI
) -> None:
    retry(refused, leave_out=True)
    run_agent(refused.pk)
    for step, raw in zip(Step.objects.order_by("pk"), model.raw_bodies, strict=True):
        sent = sent_requests.sent(step)
        assert sent
        assert (sent.proven, sent.body) == (True, raw)


def test_what_was_left_out_is_put_back_with_its_step_and_all_requests_are_proven(
    agent: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    model.script(calls(APPEND), *map(text, ("Noted.", "Cake?", "No.", "Pie.", "You do.")))
    ask("I like pie.")
    (called,) = Message.objects.filter(role=Message.Role.ASSISTANT).exclude(tool_calls=[])
    leave_out(called)
    put_back(Message.objects.get(pk=called.pk))  # before anything was sent without it
    leave_out(Message.objects.get(pk=called.pk))
    ask("What do I like?")
    ask("Sure?")
    assert "tool" not in [m["role"] for m in model.requests[-1]["messages"]]
    put_back(Message.objects.get(pk=called.pk))
    ask("Do I?")
    said = [m["role"] for m in model.requests[-1]["messages"][1:]]
    assert said[:4] == ["user", "assistant", "tool", "assistant"]
    leave_out(Message.objects.get(pk=called.pk))
    ask("Well?")
    steps = list(Step.objects.order_by("pk"))
    for step, raw in zip(steps, model.raw_bodies, strict=True):
        sent = sent_requests.sent(step)
        assert sent
        assert (sent.proven, sent.body) == (True, raw)
    for step, was_sent in ((steps[2], False), (steps[3], True)):
        copied = fork(step, "Fork", agent.owner).messages.get(role="tool")
        assert (copied.left_out is None) is was_sent


def test_what_left_the_context_since_is_not_put_back(
    agent: Agent, model: FakeOpenAI, ask: Ask, web: Client
) -> None:
    model.script(text("Hello."))
    ask("Hello")
    said = Message.objects.get(role=Message.Role.ASSISTANT)
    page = reverse("agent", args=[agent.pk])
    assert "Put back" not in web.get(page).content.decode()
    leave_out(said)
    assert "Put back" in web.get(page).content.decode()
    address = reverse("message_put_back", args=[agent.pk, said.pk])
    Conversation.objects.filter(pk=agent.pk).update(context_from=said.number + 1)
    refused = web.post(address)
    assert refused.status_code == 409
    assert "older messages have left the context since" in refused.content.decode()
    Conversation.objects.filter(pk=agent.pk).update(context_from=0)
    web.post(address)
    assert "Put back" not in web.get(page).content.decode()
    said.refresh_from_db()
    assert said.left_out is None


def test_an_old_message_that_failed_is_answered_again_and_not_retried(
    agent: Agent, model: FakeOpenAI, ask: Ask, web: Client
) -> None:
    model.script(status(401, "No such key."), text("Yes?"))
    failed = ask("First")
    ask("Second")
    refused = web.post(reverse("run_retry", args=[agent.pk, failed.pk]))
    assert refused.status_code == 409
    assert "something was said after it" in refused.content.decode()
    web.post(reverse("run_again", args=[agent.pk, failed.pk]))
    assert [run.text for run in agent.first_conversation.runs.order_by("pk")] == ["First"]
    assert agent.first_conversation.put_away.count() == 1


def test_the_page_offers_the_ways_on(refused: Run, web: Client, model: FakeOpenAI) -> None:
    page = web.get(reverse("agent", args=[refused.agent_id])).content.decode()
    assert "Leave out the exchange that begins with “I like pie.” and try again" in page
    assert "Compact and try again" in page
    assert reverse("agent_settings", args=[refused.agent_id]) in page
    web.post(reverse("run_retry", args=[refused.agent_id, refused.pk]), {"way": "leave_out"})
    run_agent(refused.pk)
    page = web.get(reverse("agent", args=[refused.agent_id])).content.decode()
    assert page.count("left out of the context") == 3
    assert "Compact and try again" not in page


def test_a_failure_that_is_no_refusal_offers_to_retry_only(
    agent: Agent, model: FakeOpenAI, ask: Ask, web: Client
) -> None:
    model.script(status(401, "No such key."))
    assert fault_of(ask()) is None
    page = web.get(reverse("agent", args=[agent.pk])).content.decode()
    assert "Retry" in page
    assert "Make room" not in page


def test_a_script_is_told_the_ways_on_and_takes_one(
    refused: Run, alice: User, model: FakeOpenAI, accounts: None
) -> None:
    api = Api(alice)
    (run_id,) = [each["id"] for each in api.get("/runs/") if each["status"] == "failed"]
    path = f"/runs/{run_id}/retry"
    run = api.get(f"/runs/{run_id}")
    assert run["metadata"]["ways_on"] == [
        {"way": "retry", "does": "Sends the same request again."},
        {"way": "leave_out", "does": "Leaves out the exchange that begins with “I like pie.”."},
        {"way": "make_room", "does": "Summarises all but the last exchange first."},
    ]
    assert api.post(path, {"way": "leave_out"})["status"] == "running"
    run_agent(refused.pk)
    assert api.get(f"/runs/{run_id}")["status"] == "completed"
    assert "did not fail" in json.dumps(api.post(path, {"way": "retry"}, expect=409))
    api.post(path, {"way": "sideways"}, expect=422)
