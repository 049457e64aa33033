"""How much of a conversation a model takes: the table's word, the endpoint's, and a guess."""

from __future__ import annotations

import pytest

from agents.llm import model_lists, windows
from agents.models import Agent
from tests.conftest import Ask
from tests.support.fake_openai import FakeOpenAI


@pytest.mark.parametrize(
    ("name", "tokens"),
    [
        ("gpt-4o-mini", 128_000),
        ("gpt-4", 8192),
        ("gpt-4.1-nano", 1_047_576),
        ("meta-llama/Llama-3.1-8B-Instruct", 131_072),
        ("no-such-model", None),
    ],
)
def test_the_table_knows_models_by_the_longest_beginning(name: str, tokens: int | None) -> None:
    assert windows.known(name) == tokens


@pytest.mark.parametrize(
    "entry", [{"max_model_len": 5000}, {"context_length": 5000}, {"meta": {"n_ctx_train": 5000}}]
)
def test_the_endpoints_own_word_on_the_window_counts(
    entry: dict[str, object], model: FakeOpenAI, agent: Agent, ask: Ask
) -> None:
    assert windows.window_in({"id": "fake-model", **entry}) == 5000
    model.said_of_models["fake-model"] = entry
    model_lists.forget()
    ask("Hello")
    assert agent.runs.get().steps.get().window == 5000


def test_a_window_nobody_knows_is_32_000(model: FakeOpenAI, agent: Agent, ask: Ask) -> None:
    model_lists.forget()
    ask("Hello")
    assert agent.runs.get().steps.get().window == 32_000
