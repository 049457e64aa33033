"""What an agent file holds, checked: whatever is wrong is said with its place in the file."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from typing import Any, TypeVar, overload

from django.conf import settings

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
    """What could not be taken over as it is, in sentences, each once."""

    def add(self, note: str) -> None:
        if note not in self:
            self.append(note)


def read(raw: bytes) -> Any:
    """A file's JSON; AgentFileError where it is none, or too large."""
    if len(raw) > LARGEST:
        raise AgentFileError(too_large(len(raw)))
    try:
        return json.loads(raw.decode("utf-8-sig"), parse_constant=_no_number)
    except UnicodeDecodeError:
        raise AgentFileError("The file is no agent file: it is not text in UTF-8.") from None
    except RecursionError:
        raise AgentFileError(TOO_DEEP) from None
    except ValueError as error:
        raise AgentFileError(f"The file is no agent file: it is not JSON ({error}).") from None


TOO_DEEP = f"The file is nested more than {DEEPEST} levels deep; no agent file is."


def too_large(size: int) -> str:
    return (
        f"The file has {size / 1024 / 1024:,.1f} MB; {LARGEST // 1024 // 1024} MB is the most."
        " Export the agent with fewer messages."
    )


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number in JSON")


def tidied(given: Any, notes: Notes) -> Any:
    """A copy of a JSON value in which every text can be stored; AgentFileError if none can be."""
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
            raise AgentFileError("The file holds a number that is too large to be one.")
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

    null counts as not being there, as it is how the format writes most of what is not set.
    """

    def __init__(self, given: Any, place: str) -> None:
        if not isinstance(given, dict):
            raise AgentFileError(f"{place} should be an object, not {in_words(given)}.")
        self.given, self.place = given, place

    def has(self, name: str) -> bool:
        """Whether it is there, and is not empty."""
        return self.given.get(name) not in (None, "", [], {}, False)

    def wrong(self, name: str, said: str) -> AgentFileError:
        return AgentFileError(f"{self.at(name)} {said}.")

    def at(self, name: str) -> str:
        return f"{self.place}.{name}" if self.place != "The file" else name

    @overload
    def get(self, name: str, kind: type[Value]) -> Value: ...
    @overload
    def get(self, name: str, kind: type[Value], default: None) -> Value | None: ...
    @overload
    def get(self, name: str, kind: type[Value], default: Value) -> Value: ...
    def get(self, name: str, kind: type[Any], default: Any = ...) -> Any:
        """The value of that name, of that kind; without a default it must be there."""
        value = self.given.get(name)
        if value is None:
            if default is ...:
                raise self.wrong(name, f"is missing; it should be {KINDS[kind]}")
            return default
        fits = isinstance(value, int | float) if kind is float else isinstance(value, kind)
        if not fits or (isinstance(value, bool) and kind is not bool):
            raise self.wrong(name, f"should be {KINDS[kind]}, not {in_words(value)}")
        return value

    def text(self, name: str, longest: int | None = None) -> str:
        """A text, "" if it is not there."""
        value = self.get(name, str, "")
        if longest is not None and len(value) > longest:
            raise self.wrong(name, f"has {len(value):,} characters; {longest:,} is the most")
        return value

    def whole(self, name: str, least: int, most: int, default: int | None = None) -> int | None:
        """A whole number within bounds."""
        value = self.get(name, int, None)
        if value is not None and not least <= value <= most:
            raise self.wrong(name, f"should be from {least:,} to {most:,}")
        return default if value is None else value

    def entry(self, name: str) -> Entry:
        """An object, {} if it is not there."""
        return Entry(self.get(name, dict, {}), self.at(name))

    def entries(self, name: str) -> list[Entry]:
        """A list of objects, [] if it is not there."""
        listed = self.get(name, list, [])
        return [Entry(each, f"{self.at(name)}[{place}]") for place, each in enumerate(listed)]

    def texts(self, name: str) -> list[str]:
        """A list of texts, [] if it is not there."""
        listed = self.get(name, list, [])
        for place, each in enumerate(listed):
            if not isinstance(each, str):
                raise self.wrong(f"{name}[{place}]", f"should be a text, not {in_words(each)}")
        return listed

    def moment(self, name: str) -> datetime | None:
        """A date and time in ISO 8601; UTC where it names no zone."""
        value = self.get(name, str, None)
        if value is None:
            return None
        try:
            told = datetime.fromisoformat(value)
            return told.replace(tzinfo=UTC) if told.tzinfo is None else told.astimezone(UTC)
        except (ValueError, OverflowError):
            raise self.wrong(name, f"is '{value[:40]}', which is no date and time") from None


def in_words(value: Any) -> str:
    return KINDS.get(type(value), "something else")


def listed(names: list[str], most: int = 10) -> str:
    """Names in a sentence."""
    shown = ", ".join(f"'{name[:100]}'" for name in names[:most])
    return shown + (f" and {len(names) - most:,} more" if len(names) > most else "")


def count(number: int, noun: str) -> str:
    """`1 message`, `2 messages`."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
