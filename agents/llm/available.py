"""Which endpoints there are: those of the environment, and those that administrators define.

What is defined is kept in this process for a few seconds, so that most messages ask the database
nothing, and a change is seen everywhere without a restart. In the process that changed something it
is read anew at once (`forget`, which `agents/wiring.py` connects).
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, TypeVar, cast

from cachetools import LRUCache
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError

from agents.models import EndpointModel, ModelEndpoint, PersonalKey
from agents.models.model_endpoint import names_taken
from agents.text.stored import stored as _

from .dialects import parse_options
from .endpoints import DEMO, OPENAI, DefinedModel, Endpoint
from .prices import Price

T = TypeVar("T")
logger = logging.getLogger(__name__)
KEPT_SECONDS = 5.0
MOST_PEOPLE = 10_000  # whose endpoints are kept

NO_KEY = "none"  # some servers want a key, and take any
OWN_KEY_NEEDED = _(
    "The endpoint '%(name)s' takes only keys of people's own, and the agent's owner has entered"
    " none: it goes under Account, Model keys."
)
OWN_KEY_UNREADABLE = _(
    "The own key for the endpoint '%(name)s' cannot be read with the server's present key. The"
    " agent's owner can enter it anew under Account, Model keys."
)
KEY_UNREADABLE = _(
    "The key of the endpoint '%(name)s' cannot be read with the server's present key. An"
    " administrator has to enter it anew."
)


def default_endpoint(person: int | None = None) -> Endpoint:
    """Where a handle without an endpoint leads: as an administrator says, else the environment."""
    defined = _defined(person).values()
    return next((each for each in defined if each.is_default), None) or _default_of_environment()


def named_endpoints(person: int | None = None) -> dict[str, Endpoint]:
    """The endpoints that a handle may name, for the agents of a person (by key).

    None: all that there are, with the deployment's own keys.
    """
    defined, first = _defined(person), _default_of_environment()
    named = {
        name: _of_environment(name, url, settings.ENDPOINT_KEYS.get(name, ""))
        for name, url in settings.ENDPOINTS.items()
    }
    if not first.is_demo or not any(each.is_default for each in defined.values()):
        named.setdefault(first.name, first)
    return defined | named


def has_changed(person: int | None) -> bool:
    """Read what is defined anew; whether a handle of this person may lead elsewhere now."""
    before = named_endpoints(person)
    forget()
    return named_endpoints(person) != before


def endpoint_at(address: str) -> Endpoint:
    """The endpoint that a step names; one with nothing known of it, where it is gone."""
    known = (each for each in named_endpoints().values() if str(each) == address)
    return next(known, None) or Endpoint(address, address, "")


# -- of the environment ----------------------------------------------------------------------------


def _default_of_environment() -> Endpoint:
    """OPENAI_BASE_URL, OpenAI itself, or the demo."""
    if settings.OPENAI_BASE_URL or settings.OPENAI_API_KEY:
        url, key = settings.OPENAI_BASE_URL or OPENAI, settings.OPENAI_API_KEY
        return _of_environment("openai", url, key, settings.MODEL)
    return Endpoint(DEMO, "http://demo/v1", "demo", default_model=settings.MODEL)


@cache
def _of_environment(name: str, url: str, key: str, default_model: str = "") -> Endpoint:
    """An endpoint of the settings; what follows `#` in its URL are properties of its dialect."""
    base_url, _, fragment = url.partition("#")
    options = tuple(sorted(parse_options(fragment, base_url).items()))
    return Endpoint(name, base_url.rstrip("/"), key or NO_KEY, options, default_model=default_model)


# -- of the database -------------------------------------------------------------------------------


class _Kept(NamedTuple):
    value: Any
    until: float


# the rows under None, and of them what each person may use, by key; 0 is the deployment itself
_kept: LRUCache[int | None, _Kept] = LRUCache(MOST_PEOPLE)
_changes = 0
_lock = threading.Lock()


def forget() -> None:
    """Read what is defined anew at the next use."""
    global _changes
    with _lock:
        _changes += 1
        _kept.clear()


def _defined(person: int | None) -> dict[str, Endpoint]:
    """The endpoints of rows that a person may use, by name; None: all that are enabled."""
    rows: list[ModelEndpoint] = _keeping(None, _rows, [])
    if not rows:
        return {}
    return _keeping(person or 0, lambda: _of_person(rows, person), {})


def _keeping(key: int | None, read: Callable[[], T], nothing: T) -> T:
    """What was read of late, or is read now. While the database fails, what was read last holds."""
    with _lock:
        kept, changes = _kept.get(key), _changes
    if kept and time.monotonic() < kept.until:
        return cast(T, kept.value)
    try:
        value = read()
    except DatabaseError as error:
        logger.warning("The endpoints of the database cannot be read: %s", error)
        value = kept.value if kept else nothing
    with _lock:
        if changes == _changes:
            _kept[key] = _Kept(value, time.monotonic() + KEPT_SECONDS)
    return value


def _rows() -> list[ModelEndpoint]:
    rows = ModelEndpoint.objects.filter(enabled=True).prefetch_related("listed")
    return [row for row in rows if row.name not in names_taken()]


def _of_person(rows: list[ModelEndpoint], person: int | None) -> dict[str, Endpoint]:
    if person is None:
        return {row.name: from_row(row) for row in rows}
    if not all(row.everyone for row in rows):
        usable = set(ModelEndpoint.objects.usable_by(person).values_list("pk", flat=True))
        rows = [row for row in rows if row.pk in usable]
    own: dict[int, PersonalKey] = {}
    if any(row.own_keys != ModelEndpoint.OwnKeys.NO for row in rows):
        own = {each.endpoint_id: each for each in PersonalKey.objects.of(person)}
    return {row.name: from_row(row, own.get(row.pk), is_for_person=True) for row in rows}


def from_row(
    row: ModelEndpoint, own: PersonalKey | None = None, *, is_for_person: bool = False
) -> Endpoint:
    """An endpoint that an administrator defined, with a person's own key or the deployment's."""
    key, problem, name = own.key() if own else row.key(), "", {"name": row.name}
    if key is None:
        problem = (OWN_KEY_UNREADABLE if own else KEY_UNREADABLE) % name
    elif not own and row.own_keys == ModelEndpoint.OwnKeys.REQUIRED and (is_for_person or not key):
        problem = OWN_KEY_NEEDED % name
    try:
        options = parse_options(row.options, row.base_url)
    except ImproperlyConfigured as error:
        options, problem = {}, str(error)
    return Endpoint(
        row.name,
        row.base_url,
        key or NO_KEY,
        tuple(sorted(options.items())),
        is_own_key=own is not None,
        models={each.name: defined_model(each) for each in row.listed.all()},
        row=row.pk,
        is_default=row.is_default,
        default_model=row.default_model,
        only_listed=row.only_listed,
        takes_only_own_keys=row.own_keys == ModelEndpoint.OwnKeys.REQUIRED,
        problem=problem,
    )


def defined_model(row: EndpointModel) -> DefinedModel:
    """What is said of a model."""
    if row.prompt_price is None or row.completion_price is None:
        return DefinedModel(row.context_window)
    return DefinedModel(
        row.context_window, Price(float(row.prompt_price), float(row.completion_price))
    )
