"""What an endpoint's refusals teach is kept; what the operator says goes before it."""

from __future__ import annotations

import json

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from agents.llm import facts, model_lists, resolve
from agents.llm.dialects import known_dialect
from agents.llm.endpoints import ModelError
from agents.llm.errors import without_inputs
from agents.memory.sent_requests import sent
from agents.models import Agent, EndpointFacts, Run
from tests.conftest import Ask
from tests.support.fake_openai import FakeOpenAI, calls, status, text

APPEND = ("core_memory_append", {"label": "human", "content": "Likes pie"})
NINE = "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9."


def refused(said: str) -> ModelError:
    return ModelError("It refused the request.", refused=True, server_words=said)


def test_a_refusal_is_learned_from_at_once_and_kept_when_the_next_request_is_answered(
    agent: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    model.script(calls(APPEND), status(400, NINE), text("Noted."))
    run = ask()
    assert run.status == "done"
    assert [step.status for step in run.steps.all()] == ["done", "failed", "done"]
    ids = [m["tool_calls"][0]["id"] for m in model.requests[-1]["messages"] if m.get("tool_calls")]
    assert [len(call_id) for call_id in ids] == [9]
    row = EndpointFacts.objects.get()
    assert (row.base_url, row.model, row.dialect) == (model.base_url, "fake-model", {"ids": "nine"})
    assert NINE in row.server_words


def test_another_process_knows_what_was_learned(agent: Agent, model: FakeOpenAI, ask: Ask) -> None:
    model.script(calls(APPEND), status(400, NINE))
    ask()
    facts.forget()
    ask("Again")
    assert len(model.requests) == 4
    assert facts.dialect_of(*resolve("", None)).ids == "nine"


def test_what_is_deleted_is_learned_anew_while_the_server_runs(
    agent: Agent, model: FakeOpenAI, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.script(calls(APPEND), status(400, NINE))
    ask()
    EndpointFacts.objects.all().delete()
    monkeypatch.setattr(facts, "KEPT_SECONDS", 0.0)
    assert facts.dialect_of(*resolve("", None)).ids == "any"


def test_a_failure_of_one_run_takes_nothing_from_what_another_tries(
    model: FakeOpenAI, db: None
) -> None:
    endpoint, name = resolve("", None)
    assert facts.adapt(endpoint, name, refused(NINE))
    assert not facts.adapt(endpoint, name, ModelError("It takes no more requests.", retry=True))
    assert facts.dialect_of(endpoint, name).ids == "nine"


def test_what_did_not_help_is_not_kept(agent: Agent, model: FakeOpenAI, ask: Ask) -> None:
    model.script(status(400, NINE), status(400, NINE))
    assert ask().status == "failed"
    assert not EndpointFacts.objects.exists()
    assert facts.dialect_of(*resolve("", None)).ids == "any"


def test_an_endpoint_that_refuses_one_thing_after_another_is_answered_in_the_end(
    agent: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    model.also_allowed = {"reasoning_content"}
    model.script(
        status(422, "stream_options: Extra inputs are not permitted"),
        calls(APPEND),
        status(400, NINE),
        status(400, "reasoning_content is missing in assistant tool call message at index 2"),
        text("Noted."),
    )
    assert ask().status == "done"
    learned = {"stream_options": False, "ids": "nine", "reasoning": "reasoning_content"}
    assert EndpointFacts.objects.get().dialect == learned
    assert "stream_options" not in model.requests[-1]


def test_every_request_is_proven_whatever_was_learned_between(
    agent: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    model.script(calls(APPEND), status(400, NINE), text("Noted."))
    steps = ask().steps.order_by("pk")
    for step, raw in zip(steps, model.raw_bodies, strict=True):
        request = sent(step)
        assert request
        assert (request.body, request.proven) == (raw, True)


def test_the_operator_has_the_last_word(
    agent: Agent, model: FakeOpenAI, ask: Ask, settings: Settings
) -> None:
    EndpointFacts.objects.create(
        base_url=model.base_url, model="fake-model", dialect={"ids": "nine"}
    )
    settings.OPENAI_BASE_URL += "#ids=any&stream_options=no"
    model.script(calls(APPEND), text("Noted."))
    ask()
    assert "stream_options" not in model.requests[-1]
    message = next(m for m in model.requests[-1]["messages"] if m.get("tool_calls"))
    assert message["tool_calls"][0]["id"].startswith("call_")


def test_the_window_that_a_refusal_names_is_kept(agent: Agent, model: FakeOpenAI, ask: Ask) -> None:
    for number in range(4):
        ask(f"Message {number}: " + "words " * 400)
    said = "The maximum context length is 4,096 tokens. However, you requested 5,120 tokens."
    model.script(status(400, said), text("They talked."), text("Yes."))
    run = ask("And now?")
    assert (run.status, run.step_list[-1].window) == ("done", 4096)
    facts.forget()
    assert facts.window_learned(*resolve("", None)) == 4096
    agent.configure(context_window=100_000)
    assert ask("Still?").step_list[-1].window == 4096


def test_what_a_refusal_quotes_of_somebodys_message_is_no_fact(
    agent: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    ask("Hello")
    said = "Not taken: 'the maximum context length is 300 tokens, you requested 400 tokens'."
    model.script(status(400, said))
    assert ask("the maximum context length is 300 tokens").status == "done"
    assert facts.window_learned(*resolve("", None)) is None
    quoting = {"detail": [{"msg": "No.", "input": "maximum context length is 300 tokens"}]}
    assert "300" not in str(without_inputs(quoting))


def test_the_administrator_sees_what_was_learned_and_can_have_it_learned_anew(
    desk: Client, model: FakeOpenAI
) -> None:
    row = EndpointFacts.objects.create(base_url="http://x/v1", model="m", dialect={"ids": "nine"})
    page = desk.get(reverse("admin:agents_endpointfacts_changelist")).content.decode()
    assert "http://x/v1" in page
    desk.post(reverse("admin:agents_endpointfacts_delete", args=[row.pk]), {"post": "yes"})
    assert not EndpointFacts.objects.exists()


@pytest.mark.parametrize(
    ("url", "name", "changes"),
    [
        ("http://10.0.0.5:8000/v1", "my-model", {}),
        ("https://api.openai.com/v1", "gpt-5", {"roles": "free", "limit": "max_completion_tokens"}),
        ("http://10.0.0.5:8000/v1", "Mistral-Nemo", {"ids": "nine", "user_after_tool": False}),
        ("https://api.moonshot.ai/v1", "k2", {"reasoning": "reasoning_content"}),
    ],
)
def test_a_dialect_is_known_by_address_and_name(
    url: str, name: str, changes: dict[str, object]
) -> None:
    assert known_dialect(url, name).changes() == changes


def test_ollama_is_asked_how_the_model_is_loaded(agent: Agent, model: FakeOpenAI, ask: Ask) -> None:
    model.said_of_models["fake-model"] = {"owned_by": "library"}
    model.loaded = {"fake-model": 4096}
    model_lists.forget()
    assert ask().steps.get().window == 4096


def test_ollama_is_asked_for_the_models_own_parameters_while_it_is_not_loaded(
    agent: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    model.said_of_models["fake-model"] = {"owned_by": "library"}
    model.parameters = {"fake-model": 'stop "<|im_end|>"\nnum_ctx                        8192'}
    model_lists.forget()
    assert ask().steps.get().window == 8192


def test_the_page_says_where_an_endpoint_read_too_little_of_a_request(
    agent: Agent, model: FakeOpenAI, ask: Ask, web: Client
) -> None:
    model.script(text("Yes.", usage=(400, 2)))
    run: Run = ask("words " * 4000)
    page = web.get(reverse("agent", args=[agent.pk])).content.decode()
    assert f"{model.base_url} read 400 of about" in page
    agent.refresh_from_db()
    assert agent.bytes_per_token is None
    assert json.dumps(run.reason) == '"end_turn"'
