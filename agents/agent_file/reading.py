"""Reads what an agent file holds, and checks it: an error names the place in the file."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, TypeVar, overload

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db.models import BooleanField, CharField, DateTimeField, IntegerField, Model
from django.utils.translation import gettext, gettext_noop, ngettext

from agents.models.message import storable
from agents.text.numbers import decimal, whole

LARGEST: int = settings.LARGEST_AGENT_FILE  # bytes
DEEPEST = 60  # levels
KINDS: dict[type, str] = {
    str: gettext_noop("a text"),
    bool: gettext_noop("true or false"),
    int: gettext_noop("a whole number"),
    float: gettext_noop("a number"),
    list: gettext_noop("a list"),
    dict: gettext_noop("an object"),
    type(None): "null",
}
SOMETHING_ELSE = gettext_noop("something else")
THE_FILE = gettext_noop("The file")  # the place of what is in nothing else
Value = TypeVar("Value")


class AgentFileError(Exception):
    """A file that cannot be imported, and why, in a sentence."""


class Notes(list[str]):
    """What could not be imported as it is, in sentences, each once."""

    def add(self, note: str) -> None:
        if note not in self:
            self.append(note)

    def cut(self, text: str, model: type[Model], name: str, what: str) -> str:
        """A text with as many characters as the model's field holds, and a note if it had more."""
        most = longest(model, name)
        if len(text) > most:
            words = gettext(
                "%(what)s had %(count)s characters; only the first %(most)s were imported."
            )
            self.add(words % {"what": what, "count": whole(len(text)), "most": whole(most)})
        return text[:most]


def read(raw: bytes) -> Any:
    """The JSON in a file; AgentFileError if it is not JSON or is too large."""
    if len(raw) > LARGEST:
        raise AgentFileError(too_large(len(raw)))
    try:
        return json.loads(raw.decode("utf-8-sig"), parse_constant=_no_number)
    except UnicodeDecodeError:
        words = gettext("This is not an agent file: it is not text in UTF-8.")
        raise AgentFileError(words) from None
    except RecursionError:
        raise AgentFileError(too_deep()) from None
    except ValueError as error:
        words = gettext("This is not an agent file: it is not JSON (%(error)s).")
        raise AgentFileError(words % {"error": error}) from None


def too_deep() -> str:
    words = gettext(
        "The file is nested more than %(most)s levels deep, so it is not an agent file."
    )
    return words % {"most": DEEPEST}


def too_large(size: int) -> str:
    words = gettext(
        "The file has %(size)s MB; at most %(most)s MB are allowed. Export the agent with fewer"
        " messages."
    )
    return words % {"size": decimal(size / 1024 / 1024), "most": LARGEST // 1024 // 1024}


def _no_number(name: str) -> None:
    raise ValueError(gettext("%(name)s is not valid in JSON") % {"name": name})


def clean_json(given: Any, notes: Notes) -> Any:
    """A copy of a JSON value with only text that can be stored; AgentFileError for bad numbers."""
    marked = 0

    def text(value: str) -> str:
        nonlocal marked
        clean = storable(value)
        marked += clean != value
        return clean

    def copy(value: Any, depth: int) -> Any:
        if depth > DEEPEST:
            raise AgentFileError(too_deep())
        if isinstance(value, str):
            return text(value)
        if isinstance(value, dict):
            return {text(str(name)): copy(each, depth + 1) for name, each in value.items()}
        if isinstance(value, list):
            return [copy(each, depth + 1) for each in value]
        if isinstance(value, float) and not math.isfinite(value):
            raise AgentFileError(gettext("The file holds a number that is too large."))
        return value

    tidy = copy(given, 0)
    if marked:
        words = ngettext(
            "%(count)s text held characters that cannot be stored (NUL, or halves of characters);"
            " each such character became '\ufffd'.",
            "%(count)s texts held characters that cannot be stored (NUL, or halves of characters);"
            " each such character became '\ufffd'.",
            marked,
        )
        notes.add(words % {"count": whole(marked)})
    return tidy


class Entry:
    """An object of the file, with its place there: `agents[0].messages[3]`.

    null counts as missing: it is how the format writes most of what is not set.
    """

    def __init__(self, given: Any, place: str) -> None:
        if not isinstance(given, dict):
            words = gettext("%(place)s should be an object, not %(type)s.")
            raise AgentFileError(words % {"place": gettext(place), "type": in_words(given)})
        self.given, self.place = given, place

    def has(self, name: str) -> bool:
        """Whether the value exists and is not empty."""
        return self.given.get(name) not in (None, "", [], {}, False)

    def wrong(self, name: str, problem: str) -> AgentFileError:
        return AgentFileError(f"{self.at(name)} {problem}.")

    def check(self, row: Model, exclude: list[str]) -> None:
        """AgentFileError if the row that was made from this is not valid."""
        try:
            row.full_clean(exclude=exclude)
        except ValidationError as error:
            field, messages = next(iter(error.message_dict.items()))
            words = gettext("is wrong: %(error)s") % {"error": messages[0].rstrip(".")}
            raise self.wrong(field, words) from None

    def at(self, name: str) -> str:
        return f"{self.place}.{name}" if self.place != THE_FILE else name

    @overload
    def get(self, name: str, kind: type[Value]) -> Value: ...
    @overload
    def get(self, name: str, kind: type[Value], default: None) -> Value | None: ...
    @overload
    def get(self, name: str, kind: type[Value], default: Value) -> Value: ...
    def get(self, name: str, kind: type[Any], default: Any = ...) -> Any:
        """The value of that name and kind; without a default it is required."""
        value = self.given.get(name)
        if value is None:
            if default is ...:
                words = gettext("is missing; it should be %(type)s")
                raise self.wrong(name, words % {"type": gettext(KINDS[kind])})
            return default
        fits = isinstance(value, int | float) if kind is float else isinstance(value, kind)
        if not fits or (isinstance(value, bool) and kind is not bool):
            words = gettext("should be %(type)s, not %(given)s")
            types = {"type": gettext(KINDS[kind]), "given": in_words(value)}
            raise self.wrong(name, words % types)
        return value

    def text(self, name: str, most: int | None = None) -> str:
        """A text, "" if it is missing."""
        value = self.get(name, str, "")
        if most is not None and len(value) > most:
            words = gettext("has %(count)s characters; at most %(most)s are allowed")
            raise self.wrong(name, words % {"count": whole(len(value)), "most": whole(most)})
        return value

    def choice(self, name: str, choices: Iterable[Any]) -> str:
        """One of some texts."""
        value = self.get(name, str)
        if value not in choices:
            words = gettext("is '%(value)s'; it may be %(choices)s")
            names = {"value": value[:40], "choices": ", ".join(map(str, choices))}
            raise self.wrong(name, words % names)
        return value

    def fields(self, model: type[Model], *names: str) -> dict[str, Any]:
        """The values of a model's fields, within the bounds that the model sets."""
        return {name: self.field(model._meta.get_field(name)) for name in names}

    def field(self, field: Any) -> Any:
        name = field.name
        match field:
            case CharField() if field.choices:
                return self.choice(name, [value for value, _ in field.choices])
            case BooleanField():
                return self.get(name, bool, False)
            case DateTimeField():
                return self.moment(name)
            case IntegerField():
                default = field.get_default() if field.has_default() or field.null else 0
                return self.whole(name, *bounds(field), default)
        return self.text(name, field.max_length)

    def whole(self, name: str, least: int, most: int, default: int | None = None) -> int | None:
        """A whole number within bounds."""
        value = self.get(name, int, None)
        if value is not None and not least <= value <= most:
            words = gettext("should be from %(least)s to %(most)s")
            raise self.wrong(name, words % {"least": whole(least), "most": whole(most)})
        return default if value is None else value

    def entry(self, name: str) -> Entry:
        """An object, {} if it is missing."""
        return Entry(self.get(name, dict, {}), self.at(name))

    def entries(self, name: str) -> list[Entry]:
        """A list of objects, [] if it is missing."""
        listed = self.get(name, list, [])
        return [Entry(each, f"{self.at(name)}[{place}]") for place, each in enumerate(listed)]

    def texts(self, name: str) -> list[str]:
        """A list of texts, [] if it is missing."""
        listed = self.get(name, list, [])
        for place, each in enumerate(listed):
            if not isinstance(each, str):
                words = gettext("should be a text, not %(type)s") % {"type": in_words(each)}
                raise self.wrong(f"{name}[{place}]", words)
        return listed

    def moment(self, name: str) -> datetime | None:
        """A date and time in ISO 8601; UTC if it names no zone."""
        value = self.get(name, str, None)
        if value is None:
            return None
        try:
            moment = datetime.fromisoformat(value)
            return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        except (ValueError, OverflowError):
            words = gettext("is '%(value)s', which is not a date and time")
            raise self.wrong(name, words % {"value": value[:40]}) from None


def longest(model: type[Model], name: str) -> int:
    """How many characters a model's field may hold."""
    return int(getattr(model._meta.get_field(name), "max_length"))  # noqa: B009


def bounds(field: IntegerField[Any, Any]) -> tuple[int, int]:
    """The smallest and the largest number that a model's field may hold; never below 0."""
    least = [v.limit_value for v in field.validators if isinstance(v, MinValueValidator)]
    most = [v.limit_value for v in field.validators if isinstance(v, MaxValueValidator)]
    return max([0, *least]), min([2**53, *most])


def in_words(value: Any) -> str:
    return gettext(KINDS.get(type(value), SOMETHING_ELSE))


def listed(names: list[str], most: int = 10) -> str:
    """Names in a sentence."""
    shown = ", ".join(f"'{name[:100]}'" for name in names[:most])
    if len(names) <= most:
        return shown
    more = ngettext(
        "%(names)s and %(count)s more", "%(names)s and %(count)s more", len(names) - most
    )
    return more % {"names": shown, "count": whole(len(names) - most)}
