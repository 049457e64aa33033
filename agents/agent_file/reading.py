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

from agents.models.message import storable

LARGEST: int = settings.LARGEST_AGENT_FILE  # bytes
DEEPEST = 60  # levels
KINDS: dict[type, str] = {
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "an object",
    type(None): "null",
}
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
            self.add(f"{what} had {len(text):,} characters; only the first {most:,} were imported.")
        return text[:most]


def read(raw: bytes) -> Any:
    """The JSON in a file; AgentFileError if it is not JSON or is too large."""
    if len(raw) > LARGEST:
        raise AgentFileError(too_large(len(raw)))
    try:
        return json.loads(raw.decode("utf-8-sig"), parse_constant=_no_number)
    except UnicodeDecodeError:
        raise AgentFileError("This is not an agent file: it is not text in UTF-8.") from None
    except RecursionError:
        raise AgentFileError(TOO_DEEP) from None
    except ValueError as error:
        raise AgentFileError(f"This is not an agent file: it is not JSON ({error}).") from None


TOO_DEEP = f"The file is nested more than {DEEPEST} levels deep, so it is not an agent file."


def too_large(size: int) -> str:
    return (
        f"The file has {size / 1024 / 1024:,.1f} MB; at most {LARGEST // 1024 // 1024} MB are"
        " allowed. Export the agent with fewer messages."
    )


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is not valid in JSON")


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
            raise AgentFileError(TOO_DEEP)
        if isinstance(value, str):
            return text(value)
        if isinstance(value, dict):
            return {text(str(name)): copy(each, depth + 1) for name, each in value.items()}
        if isinstance(value, list):
            return [copy(each, depth + 1) for each in value]
        if isinstance(value, float) and not math.isfinite(value):
            raise AgentFileError("The file holds a number that is too large.")
        return value

    tidy = copy(given, 0)
    if marked:
        notes.add(
            f"{marked:,} {'text' if marked == 1 else 'texts'} held characters that cannot be"
            " stored (NUL, or halves of characters); each such character became '\ufffd'."
        )
    return tidy


class Entry:
    """An object of the file, with its place there: `agents[0].messages[3]`.

    null counts as missing: it is how the format writes most of what is not set.
    """

    def __init__(self, given: Any, place: str) -> None:
        if not isinstance(given, dict):
            raise AgentFileError(f"{place} should be an object, not {in_words(given)}.")
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
            raise self.wrong(field, f"is wrong: {messages[0].rstrip('.')}") from None

    def at(self, name: str) -> str:
        return f"{self.place}.{name}" if self.place != "The file" else name

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
                raise self.wrong(name, f"is missing; it should be {KINDS[kind]}")
            return default
        fits = isinstance(value, int | float) if kind is float else isinstance(value, kind)
        if not fits or (isinstance(value, bool) and kind is not bool):
            raise self.wrong(name, f"should be {KINDS[kind]}, not {in_words(value)}")
        return value

    def text(self, name: str, most: int | None = None) -> str:
        """A text, "" if it is missing."""
        value = self.get(name, str, "")
        if most is not None and len(value) > most:
            raise self.wrong(name, f"has {len(value):,} characters; at most {most:,} are allowed")
        return value

    def choice(self, name: str, choices: Iterable[Any]) -> str:
        """One of some texts."""
        value = self.get(name, str)
        if value not in choices:
            raise self.wrong(name, f"is '{value[:40]}'; it may be {', '.join(map(str, choices))}")
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
            raise self.wrong(name, f"should be from {least:,} to {most:,}")
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
                raise self.wrong(f"{name}[{place}]", f"should be a text, not {in_words(each)}")
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
            raise self.wrong(name, f"is '{value[:40]}', which is not a date and time") from None


def longest(model: type[Model], name: str) -> int:
    """How many characters a model's field may hold."""
    return int(getattr(model._meta.get_field(name), "max_length"))  # noqa: B009


def bounds(field: IntegerField[Any, Any]) -> tuple[int, int]:
    """The smallest and the largest number that a model's field may hold; never below 0."""
    least = [v.limit_value for v in field.validators if isinstance(v, MinValueValidator)]
    most = [v.limit_value for v in field.validators if isinstance(v, MaxValueValidator)]
    return max([0, *least]), min([2**53, *most])


def in_words(value: Any) -> str:
    return KINDS.get(type(value), "something else")


def listed(names: list[str], most: int = 10) -> str:
    """Names in a sentence."""
    shown = ", ".join(f"'{name[:100]}'" for name in names[:most])
    return shown + (f" and {len(names) - most:,} more" if len(names) > most else "")


def count(number: int, noun: str) -> str:
    """`1 message`, `2 messages`."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
