"""What endpoints taught by refusing: kept for the next request, of any process.

A refusal that names a known thing changes the dialect at once, and the request is sent again in
the new form. Only when that is answered is the change stored; else it is dropped.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field, replace
from typing import Any

from agents.models import EndpointFacts

from .dialects import Dialect, known_dialect, told_by
from .endpoints import Endpoint, ModelError

KEPT_SECONDS = 60.0  # then the stored facts are read again: another process may know more
LONGEST_URL, LONGEST_MODEL, LONGEST_SAID = 500, 200, 2000


@dataclass
class Facts:
    """What is known of one model at one endpoint. `tried` is not confirmed by an answer yet."""

    dialect: dict[str, Any] = field(default_factory=dict)
    window: int | None = None
    tried: dict[str, Any] = field(default_factory=dict)
    said: str = ""
    read_at: float = 0.0


_known: dict[tuple[str, str], Facts] = {}
_learning = threading.RLock()


def dialect_of(endpoint: Endpoint, model: str) -> Dialect:
    """The form in which a model at an endpoint takes requests.

    What the operator says goes before what was learned, and that before what is known by name.
    """
    known = known_dialect(endpoint.base_url, model)
    if endpoint.is_demo:
        return known
    facts = _facts(endpoint, model)
    dialect = replace(known, **facts.dialect | facts.tried | dict(endpoint.options))
    if dialect.signatures != "no":
        dialect = replace(dialect, signer=signer(endpoint.base_url, model))
    return dialect


def signer(base_url: str, model: str) -> str:
    """Who takes a signature back: each model at each endpoint only its own."""
    return f"{model} at {base_url}"


def window_learned(endpoint: Endpoint, model: str) -> int | None:
    """The context window in tokens, as a refusal named it."""
    return None if endpoint.is_demo else _facts(endpoint, model).window


def adapt(endpoint: Endpoint, model: str, error: ModelError) -> bool:
    """Take in what a refusal tells of the dialect; whether the request should be sent again."""
    if not error.refused:  # it tells nothing of the request's form
        return False
    with _learning:
        facts = _facts(endpoint, model)
        changes = told_by(error.said, dialect_of(endpoint, model))
        changes = {name: new for name, new in changes.items() if name not in facts.tried}
        if not changes:
            facts.tried = {}
            return False
        facts.tried |= changes
        facts.said = error.said[:LONGEST_SAID]
        return True


def confirm(endpoint: Endpoint, model: str) -> None:
    """An answer came: what was tried is right."""
    facts = _known.get(_key(endpoint, model))
    if facts is None or not facts.tried:
        return
    with _learning:
        facts.dialect, facts.tried = facts.dialect | facts.tried, {}
        _store(endpoint, model, facts)


def learn_window(endpoint: Endpoint, model: str, window: int, said: str) -> None:
    """Keep the context window that a refusal named."""
    with _learning:
        facts = _facts(endpoint, model)
        if facts.window != window:
            facts.window, facts.said = window, said[:LONGEST_SAID]
            _store(endpoint, model, facts)


def forget() -> None:
    """Read the stored facts anew at the next use."""
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
        row = row or EndpointFacts()  # it was deleted, so that it is learned anew
        facts.dialect, facts.window, facts.said = row.dialect, row.window, row.said
        facts.read_at = time.monotonic()
    return facts


def _store(endpoint: Endpoint, model: str, facts: Facts) -> None:
    base_url, name = _key(endpoint, model)
    EndpointFacts.objects.update_or_create(
        base_url=base_url,
        model=name,
        defaults={"dialect": facts.dialect, "window": facts.window, "said": facts.said},
    )
