"""What models cost, as the operator says."""

from __future__ import annotations

import re

import pytest
from django.core.exceptions import ImproperlyConfigured
from pytest_django import Settings

from agents.llm.endpoints import DefinedModel, Endpoint
from agents.llm.prices import Price, dollars, load_prices, price_of


@pytest.mark.parametrize(
    ("model", "price"),
    [
        ("gpt-4o-mini", 1),
        ("gpt-4o-mini-2024-07-18", 1),
        ("GPT-4o", 2),
        ("openai/gpt-4o", 2),
        ("other/gpt-4o", 2),
        ("work/gpt-4o", 3),
        ("llama3", None),
    ],
)
def test_the_longest_beginning_of_a_name_has_the_price(
    model: str, price: float | None, settings: Settings
) -> None:
    settings.PRICES = '{"gpt-4o-mini": [1, 9], "gpt-4o": [2, 9], "work/gpt-4o": [3, 9.5]}'
    found = price_of(model)
    assert (found and found.prompt) == price


def test_what_an_administrator_says_of_a_model_at_its_endpoint_comes_first(
    settings: Settings,
) -> None:
    settings.PRICES = '{"qwen3": [1, 2], "gpt-4o": [2, 9]}'
    models = {"qwen3": DefinedModel(price=Price(0.5, 0.7)), "gpt-4o": DefinedModel(window=9000)}
    lab = Endpoint("lab", "http://lab:8000/v1", "none", models=models)
    assert price_of("qwen3", lab) == Price(0.5, 0.7)
    assert price_of("qwen3") == Price(1, 2)
    assert price_of("gpt-4o", lab) == Price(2, 9)
    assert price_of("llama3", lab) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "is not valid JSON"),
        ("[1, 2]", "is not a JSON object"),
        ('{"a": 1}', "has 1 for a; give two numbers"),
        ('{"a": [1]}', "give two numbers"),
        ('{"a": [1, -2]}', "give two numbers"),
        ('{"a": [1, true]}', "give two numbers"),
        ('{"a": [1, NaN]}', "give two numbers"),
    ],
)
def test_prices_that_cannot_be_read_stop_the_start_with_a_sentence(text: str, why: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=re.escape(why)):
        load_prices(text)


def test_no_prices_are_shipped() -> None:
    assert load_prices("") == {}


@pytest.mark.parametrize(
    ("amount", "words"),
    [(0, "$0"), (1234.5, "$1,234.50"), (0.1, "$0.10"), (0.0123, "$0.012"), (3.4e-5, "$0.000034")],
)
def test_amounts_are_told_to_two_digits(amount: float, words: str) -> None:
    assert dollars(amount) == words
