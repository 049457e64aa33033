"""What was learned from endpoints that refused a request, kept for every process.

A refusal that names a known property changes the dialect at once, and the request is sent again in
the new form. The change is stored only once that request is answered; else it is dropped.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from agents.models import EndpointFacts

from . import vision
from .dialects import Dialect, changes_after, images_after, known_dialect
from .endpoints import Endpoint, ModelError

KEPT_SECONDS = 60.0  # then the stored facts are read again: another process may know more
LONGEST_URL, LONGEST_MODEL, LONGEST_WORDS = 500, 200, 2000


@dataclass
class Facts:
    """What is known about one model at one endpoint. No answer has confirmed `tried` yet; `guess`
    is what a refusal did not name, which is not stored."""

    dialect: dict[str, Any] = field(default_factory=dict)
    window: int | None = None
    tried: dict[str, Any] = field(default_factory=dict)
    guess: dict[str, Any] = field(default_factory=dict)
    server_words: str = ""
    read_at: float = 0.0


_known: dict[tuple[str, str], Facts] = {}
_learning = threading.RLock()


def dialect_of(endpoint: Endpoint, model: str) -> Dialect:
    """The form in which a model at an endpoint accepts requests.

    The operator's settings come first, then what was learned, then what is known by name.
    """
    known = known_dialect(endpoint.base_url, model)
    if endpoint.is_demo:
        return known
    facts = _facts(endpoint, model)
    told = {} if vision.reads_images(endpoint, model, ask=False) else {"images": 0}
    learned = told | facts.dialect | facts.guess | facts.tried
    dialect = replace(known, **learned | dict(endpoint.options))
    if dialect.signatures != "no":
        dialect = replace(dialect, signer=signer(endpoint.base_url, model))
    return dialect


def signer(base_url: str, model: str) -> str:
    """Who accepts a signature: each model at each endpoint accepts only its own."""
    return f"{model} at {base_url}"


def window_learned(endpoint: Endpoint, model: str) -> int | None:
    """The context window in tokens, as a refusal named it."""
    return None if endpoint.is_demo else _facts(endpoint, model).window


def refused(endpoint: Endpoint, model: str, settings: Iterable[str]) -> list[str]:
    """Those of an agent's model settings that are left out, as they are not taken."""
    without = dialect_of(endpoint, model).without.split(",")
    return [name for name in settings if name in without]


def words_of_refusal(endpoint: Endpoint, model: str) -> str:
    """What the endpoint said when it last refused the form of a request."""
    return "" if endpoint.is_demo else _facts(endpoint, model).server_words


def adapt(endpoint: Endpoint, model: str, error: ModelError, *, images: bool = False) -> bool:
    """Learn from a refusal; whether the request should be sent again in another form.

    `images`: it had some. Where the refusal does not say what is wrong, they are left out, for a
    minute: there may be something about just these.
    """
    if not error.refused:  # it says nothing about the request's form
        return False
    with _learning:
        facts = _facts(endpoint, model)
        dialect = dialect_of(endpoint, model)
        changes = images_after(error.server_words, dialect) if images else {}
        changes = changes or changes_after(error.server_words, dialect)
        # these change more than once: with each option that is refused, and to ever fewer images
        tried = facts.tried.keys() - {"without", "images"}
        changes = {name: new for name, new in changes.items() if name not in tried}
        if not changes and images and not error.retry:
            facts.guess = {"images": 0}
            return True
        if not changes:
            facts.tried, facts.guess = {}, {}
            return False
        facts.tried |= changes
        facts.server_words = error.server_words[:LONGEST_WORDS]
        return True


def confirm(endpoint: Endpoint, model: str) -> None:
    """An answer came: what was tried is right."""
    facts = _known.get(_key(endpoint, model))
    if facts is None or not facts.tried:
        return
    with _learning:
        facts.dialect, facts.tried = facts.dialect | facts.tried, {}
        _store(endpoint, model, facts)


def learn_window(endpoint: Endpoint, model: str, window: int, server_words: str) -> None:
    """Keep the context window that a refusal named."""
    with _learning:
        facts = _facts(endpoint, model)
        if facts.window != window:
            facts.window, facts.server_words = window, server_words[:LONGEST_WORDS]
            _store(endpoint, model, facts)


def forget() -> None:
    """Read the stored facts again at the next use."""
    _known.clear()


def _key(endpoint: Endpoint, model: str) -> tuple[str, str]:
    return endpoint.base_url[:LONGEST_URL], model[:LONGEST_MODEL]


def _facts(endpoint: Endpoint, model: str) -> Facts:
    key = _key(endpoint, model)
    facts = _known.get(key)
    if facts is not None and time.monotonic() - facts.read_at < KEPT_SECONDS:
        return facts
    with _learning:
        facts = _known.setdefault(key, Facts())
        row = EndpointFacts.objects.filter(base_url=key[0], model=key[1]).first()
        row = row or EndpointFacts()  # an administrator deleted it: learn it again
        facts.dialect, facts.window, facts.server_words = row.dialect, row.window, row.server_words
        facts.read_at, facts.guess = time.monotonic(), {}
    return facts


def _store(endpoint: Endpoint, model: str, facts: Facts) -> None:
    base_url, name = _key(endpoint, model)
    EndpointFacts.objects.update_or_create(
        base_url=base_url,
        model=name,
        defaults={
            "dialect": facts.dialect,
            "window": facts.window,
            "server_words": facts.server_words,
        },
    )
