"""Prices: what a model's tokens cost, as its endpoint's page or MEMORYWEB_PRICES says."""

from __future__ import annotations

import json
import math
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

if TYPE_CHECKING:
    from .endpoints import Endpoint

EXAMPLE = '{"gpt-4o-mini": [0.15, 0.60]}'


class Price(NamedTuple):
    """US dollars for a million tokens of the prompt, and for a million of the completion."""

    prompt: float
    completion: float

    def of(self, prompt: int, completion: int = 0) -> float:
        """The cost in US dollars."""
        return (prompt * self.prompt + completion * self.completion) / 1_000_000


@cache
def load_prices(text: str) -> dict[str, Price]:
    """Prices by the model's name, from JSON; ImproperlyConfigured says what is wrong."""
    if not text.strip():
        return {}
    try:
        prices = json.loads(text)
    except ValueError as error:
        raise ImproperlyConfigured(
            f"MEMORYWEB_PRICES is not valid JSON ({error}); write it like {EXAMPLE}."
        ) from None
    if not isinstance(prices, dict):
        raise ImproperlyConfigured(
            f"MEMORYWEB_PRICES is not a JSON object; write it like {EXAMPLE}."
        )
    return {model.lower(): price(model, pair) for model, pair in prices.items()}


def price(model: str, pair: object) -> Price:
    """A price as it is written: a list of two numbers, neither below zero."""
    numbers = pair if isinstance(pair, list) else []
    if len(numbers) == 2 and all(is_amount(number) for number in numbers):
        return Price(float(numbers[0]), float(numbers[1]))
    raise ImproperlyConfigured(
        f"MEMORYWEB_PRICES has {json.dumps(pair)[:100]} for {model}; give two numbers, US dollars"
        f" for a million tokens of the prompt and of the completion, like {EXAMPLE}."
    )


def is_amount(number: object) -> bool:
    is_number = isinstance(number, int | float) and not isinstance(number, bool)
    return is_number and math.isfinite(number) and number >= 0  # type: ignore[arg-type,operator]


def price_of(model: str, endpoint: Endpoint | None = None) -> Price | None:
    """A model's price: what an administrator says of it at this endpoint, else MEMORYWEB_PRICES.

    There it is the model's own, or that of the longest beginning of its name; `vendor/` before the
    name counts where a price names it.
    """
    defined = endpoint.models.get(model) if endpoint else None
    if defined and defined.price:
        return defined.price
    prices = load_prices(settings.PRICES)
    for name in (model.lower(), model.lower().rpartition("/")[2]):
        if fitting := [start for start in prices if name.startswith(start)]:
            return prices[max(fitting, key=len)]
    return None


def dollars(amount: float) -> str:
    """An amount in US dollars, to two significant digits: `$1.25`, `$0.00034`."""
    if amount <= 0:
        return "$0"
    decimals = max(2, 1 - math.floor(math.log10(amount)))
    return f"${amount:,.{min(decimals, 10)}f}"
