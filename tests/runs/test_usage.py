"""What calls of models take is counted, by whoever pays: once, whatever becomes of the call."""

from __future__ import annotations

import ast
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from agents.llm import ModelCall, ModelError, default_endpoint
from agents.llm.embeddings import embed
from agents.llm.spending import NotReserved, Spending, cost_of
from agents.models import Agent, Passage, Quota, Reservation, Run, Usage
from agents.runs import failures, loop
from agents.runs.loop import run_agent
from agents.runs.reflection import reflect
from agents.runs.streaming import Draft
from agents.search import semantic
from tests.conftest import Ask
from tests.support.conversation import talk
from tests.support.fake_openai import FakeOpenAI, break_off, calls, stall, status, text
from tests.support.searching import BY, best_match, make_vectors

FEW = pytest.mark.usefixtures("few_tries")


@pytest.fixture
def few_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "RETRIES", 0)


@pytest.fixture
def quota(db: None) -> Quota:
    """One that nobody reaches here."""
    return Quota.objects.create(tokens_a_day=10_000_000)


@pytest.fixture(params=["no quota", "a quota"])
def either(request: pytest.FixtureRequest) -> None:
    if request.param == "a quota":
        request.getfixturevalue("quota")


def took(kind: str = "message") -> tuple[int, int, int]:
    """Calls, tokens of prompts and of answers that were counted, of one kind; nothing is held."""
    assert not Reservation.objects.exists()
    row = Usage.objects.filter(kind=kind).first()
    return (row.calls, row.prompt_tokens, row.completion_tokens) if row else (0, 0, 0)


def test_a_message_is_counted_as_the_endpoint_reports_it(
    either: None, ask: Ask, model: FakeOpenAI, alice: User
) -> None:
    model.script(replace(text("Hi"), usage=(900, 7)), replace(text("Hi"), usage=(1000, 8)))
    ask("Hello")
    ask("Hello again")
    usage = Usage.objects.get()
    assert took() == (2, 1900, 15)
    assert (usage.user, usage.name, usage.day) == (alice, "alice", timezone.now().date())
    assert (usage.endpoint, usage.model, usage.cost) == ("openai", "fake-model", 0)


def test_every_step_of_a_run_is_counted(either: None, ask: Ask, model: FakeOpenAI) -> None:
    append = ("core_memory_append", {"label": "human", "content": "Likes pie"})
    model.script(*(replace(each, usage=(100, 5)) for each in (calls(append), text("OK"))))
    ask("I like pie")
    assert took() == (2, 200, 10)


def test_without_a_quota_a_message_costs_one_statement_more(ask: Ask) -> None:
    ask("Hello")
    with CaptureQueriesContext(connection) as caught:
        ask("Hello again")
    words = ("agents_usage", "agents_reservation", "agents_quota", "advisory")
    assert [w for each in caught for w in words if w in each["sql"]].count("agents_usage") > 0
    ours = [each["sql"] for each in caught if any(word in each["sql"] for word in words)]
    assert len(ours) == 1, ours


@pytest.mark.parametrize(
    ("prices", "cost"), [("", 0), ('{"fake-model": [0.15, 0.6]}', 180), ('{"fake": [0, 0.01]}', 1)]
)
def test_money_is_counted_in_millionths(
    prices: str, cost: int, ask: Ask, model: FakeOpenAI, settings: Settings
) -> None:
    settings.PRICES = prices
    model.script(replace(text("Hi"), usage=(1000, 50)))
    ask("Hello")
    assert Usage.objects.get().cost == cost


def test_a_call_with_the_persons_own_key_costs_tokens_and_no_money(settings: Settings) -> None:
    settings.PRICES = '{"gpt": [1, 2]}'
    endpoint = default_endpoint()
    assert cost_of(endpoint, "gpt-4o", 10, 10) == 30
    assert cost_of(replace(endpoint, is_own_key=True), "gpt-4o", 10, 10) == 0


# -- calls that do not end well --------------------------------------------------------------------


@FEW
def test_a_request_that_is_refused_costs_nothing(either: None, ask: Ask, model: FakeOpenAI) -> None:
    model.script(status(400))
    assert ask("Hello").status == Run.Status.FAILED
    assert took() == (0, 0, 0)


@FEW
def test_an_answer_that_breaks_off_costs_its_prompt_and_what_there_is(
    either: None, ask: Ask, model: FakeOpenAI
) -> None:
    model.script(break_off("Once upon a time there was"))
    run = ask("Hello")
    prompt = run.steps.get().context_tokens
    assert (run.status, took()) == (Run.Status.FAILED, (1, prompt, 7))


def test_an_answer_that_is_stopped_costs_its_prompt_and_what_there_is(
    either: None, agent: Agent, model: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.script(stall("Once upon"))
    run = agent.send("Tell me a story", "key")
    add = Draft.add

    def stop_after(*args: Any) -> None:
        add(*args)
        Run.objects.filter(pk=run.pk).update(stop_requested=True)

    monkeypatch.setattr(Draft, "add", stop_after)
    run_agent(run.pk)
    run.refresh_from_db()
    counted = took()
    assert (run.status, counted[:2]) == ("stopped", (1, run.steps.get().context_tokens))
    assert 1 <= counted[2] <= 3


class Killed(BaseException):
    """As SIGKILL: nothing is stored any more."""


def test_a_call_in_which_the_process_died_is_counted_when_the_run_goes_on(
    either: None, agent: Agent, model: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*args: Any) -> None:
        model.wait_for_requests(1)
        raise Killed

    run = agent.send("Hello", "key")
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(loop, "stream", killed)
        with pytest.raises(Killed):
            run_agent(run.pk)
    Run.objects.update(seen_at=None)
    held = Reservation.objects.all().count()
    model.script(replace(text("Hi"), usage=(900, 7)))
    run_agent(run.pk)
    run.refresh_from_db()
    first = run.steps.order_by("number")[0]
    answer = 1000 * held  # as was held back; without a quota there is nothing of an answer
    assert (run.status, took()) == ("done", (2, first.context_tokens + 900, answer + 7))


def test_what_nobody_settles_is_counted_when_it_expires(agent: Agent, quota: Quota) -> None:
    spending = Spending.of_run(agent.send("Hello", "key"), default_endpoint(), "m").reserve(500)
    Reservation.settle_expired()
    assert Reservation.objects.count() == 1
    Reservation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    Reservation.settle_expired()
    assert took() == (1, 500, 1000)
    spending.begin(Embedded(prompt_tokens=400, completion_tokens=10))
    spending.settle()
    assert took() == (1, 400, 10), "and put right, if the call ends after all"


class Embedded:
    """An answer that has only sizes."""

    def __init__(self, prompt_tokens: int | None, completion_tokens: int | None) -> None:
        self.prompt_tokens, self.completion_tokens, self.size = prompt_tokens, completion_tokens, 0


# -- for what, and who pays ------------------------------------------------------------------------


def test_titles_summaries_and_reflections_are_counted_apart(
    either: None, agent: Agent, ask: Ask, model: FakeOpenAI, settings: Settings
) -> None:
    settings.TITLE_MODEL = "fake-model"
    ask("Hello")
    settings.TITLE_MODEL = ""
    run_agent(reflect(agent.first_conversation).pk)
    agent.configure(context_window=4000, tools=["core_memory_append"])
    talk(agent, 26)
    ask("Go on")
    found = set(Usage.objects.values_list("kind", "calls"))
    assert {("title", 1), ("reflection", 1), ("message", 2)} < found
    assert took("compaction")[0] >= 1


@pytest.fixture
def embedding(settings: Settings, model: FakeOpenAI) -> FakeOpenAI:
    settings.EMBEDDING_MODEL = "fake-embedding"
    semantic.forget()
    return model


def test_each_owner_pays_for_the_vectors_of_their_texts(
    either: None, agent: Agent, bobs: Agent, embedding: FakeOpenAI
) -> None:
    Passage.insert(agent, "Rex is a dog", by=BY)
    Passage.insert(bobs, "The tax is due", by=BY)
    Passage.insert(agent, "I have a cat", by=BY)
    assert make_vectors() == 3
    assert sorted(map(len, embedding.embedded)) == [1, 2]
    assert dict(Usage.objects.values_list("name", "calls")) == {"alice": 1, "bob": 1}
    best_match(agent, "puppy")
    best_match(agent, "puppy")
    assert Usage.objects.get(name="alice").calls == 2, "and for the query, once"


def test_who_wrote_the_message_pays_else_the_owner(
    agent: Agent, bob: User, model: FakeOpenAI
) -> None:
    run_agent(agent.send("Hello", "one", author=bob).pk)
    assert Usage.objects.get().user == bob
    run_agent(agent.send("Hello", "two").pk)
    assert set(Usage.objects.values_list("name", flat=True)) == {"alice", "bob"}


def test_usage_outlives_agents_and_people(ask: Ask, agent: Agent, alice: User) -> None:
    ask("Hello")
    agent.purge()
    assert Usage.objects.get().user == alice
    alice.delete()
    usage = Usage.objects.get()
    assert (usage.user, usage.name, usage.calls) == (None, "alice", 1)
    Usage.add(-1, usage)
    assert Usage.objects.count() == 2, "what somebody's last call took is counted all the same"


# -- the door --------------------------------------------------------------------------------------


def test_no_model_is_called_around_the_door(agent: Agent, model: FakeOpenAI, alice: User) -> None:
    spending = Spending(alice.pk, Usage.Kind.MESSAGE, default_endpoint(), "fake-model")
    with pytest.raises(NotReserved):
        ModelCall(spending, b"{}")
    spending.reserve(10)
    body = b'{"model":"fake-model","stream":true,"messages":[{"role":"user","content":"Hi"}]}'
    call = ModelCall(spending, body)
    while call.wait(1) is not None:
        pass
    with pytest.raises(NotReserved):
        ModelCall(spending, body)
    assert len(model.requests) == 1


def test_only_what_is_given_a_reservation_asks_models() -> None:
    """By the source: the official client is used where `Spending` is, and where models are only
    listed or described."""
    folder = Path(loop.__file__).parents[1]
    users = {
        str(path.relative_to(folder))
        for path in folder.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("client", "AsyncOpenAI", "OpenAI")
    }
    listing = {"llm/clients.py", "llm/ollama.py"}
    assert users == {"llm/openai.py", "llm/embeddings.py"} | listing


def test_an_embedding_that_is_refused_costs_nothing(
    either: None, alice: User, embedding: FakeOpenAI
) -> None:
    embedding.refused_in_embedding = "bad"
    with pytest.raises(ModelError):
        embed(["bad"], 5, alice.pk)
    assert took("embedding") == (0, 0, 0)
