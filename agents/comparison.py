"""Two requests to a model, section by section: what was sent beside what would be sent now."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from agents.diff import Piece
from agents.history import Sent

LINE_BREAK = re.compile(r"(?<!\\)((?:\\\\)*\\n)")
MOST_COMPARED = 4_000_000  # lines before by lines after; comparing takes quadratic time
GROUPS = ("Model and options", "Tool definitions", "System message", "Messages")

Key = tuple[int, Any, int]  # a group's place in GROUPS, what is compared with what, which of them


class Entry(NamedTuple):
    """A value of a request under the name a person knows it by."""

    title: str
    text: str


@dataclass(frozen=True)
class Row:
    """An entry in both requests; pieces are lines that are `same`, `removed` or `added`.

    `state` is `same`, `changed`, `removed` (not sent any more) or `added` (was not sent).
    """

    title: str
    state: str
    sent: list[Piece]
    now: list[Piece]


@dataclass(frozen=True)
class Group:
    """The rows of a section, and how many of them differ."""

    title: str
    rows: list[Row]

    @property
    def differing(self) -> int:
        return sum(row.state != "same" for row in self.rows)


def compare(
    sent: bytes, sent_history: Sequence[Sent], now: bytes, now_history: Sequence[Sent]
) -> list[Group]:
    """What two requests have in common and where they differ.

    Messages are compared by their numbers, tools by their names: it takes as long as reading both.
    """
    old, new = entries(sent, sent_history), entries(now, now_history)
    found: dict[int, list[Row]] = defaultdict(list)
    for key in sorted(old.keys() | new.keys(), key=order(old, new)):
        found[key[0]].append(row(old.get(key), new.get(key)))
    return [Group(GROUPS[place], rows) for place, rows in sorted(found.items())]


def order(old: dict[Key, Entry], new: dict[Key, Entry]) -> Any:
    """Messages by number, all else as it came."""
    places = {key: place for place, key in enumerate({**old, **new})}
    return lambda key: (key[0], *(key[1:] if key[0] == 3 else (places[key], 0)))


def entries(body: bytes, history: Sequence[Sent]) -> dict[Key, Entry]:
    """A request's body taken apart."""
    request = json.loads(body)
    system, *messages = request.pop("messages")
    found: dict[Key, Entry] = {}
    for tool in request.pop("tools", []):
        name = tool["function"]["name"]
        found[1, name, 0] = Entry(name, pretty_value(tool))
    for name, value in request.items():
        found[0, name, 0] = Entry(name, pretty_value(value))
    found[2, "", 0] = Entry("System message", pretty_value(system))
    seen: dict[int, int] = defaultdict(int)
    for sent, message in zip(history, messages, strict=True):
        title = f"Message {sent.number:,} · {message['role']}"
        found[3, sent.number, seen[sent.number]] = Entry(title, pretty_value(message))
        seen[sent.number] += 1
    return found


def pretty(text: str) -> str:
    """JSON to be read by a person; as it stands where it is none."""
    try:
        return pretty_value(json.loads(text))
    except ValueError:
        return text


def pretty_value(value: Any) -> str:
    """A value as JSON, with a line break after each that is written `\\n` in a text."""
    return LINE_BREAK.sub("\\1\n", json.dumps(value, indent=2, ensure_ascii=False))


def row(sent: Entry | None, now: Entry | None) -> Row:
    """An entry in both, or in one of them."""
    if sent is None:
        assert now
        return Row(now.title, "added", [], [Piece("added", now.text)])
    if now is None:
        return Row(sent.title, "removed", [Piece("removed", sent.text)], [])
    if sent.text == now.text:
        return Row(sent.title, "same", [Piece("same", sent.text)], [])
    pieces = list(lines_compared(sent.text.split("\n"), now.text.split("\n")))
    return Row(
        sent.title,
        "changed",
        [piece for piece in pieces if piece.kind != "added"],
        [piece for piece in pieces if piece.kind != "removed"],
    )


def lines_compared(old: Sequence[str], new: Sequence[str]) -> Iterator[Piece]:
    """The difference of two texts in stretches of whole lines, those they share included."""
    start, most = 0, min(len(old), len(new))
    while start < most and old[start] == new[start]:
        start += 1
    end = 0
    while end < most - start and old[-1 - end] == new[-1 - end]:
        end += 1
    yield from stretch("same", old[:start])
    before, after = old[start : len(old) - end], new[start : len(new) - end]
    if len(before) * len(after) > MOST_COMPARED:
        yield from (*stretch("removed", before), *stretch("added", after))
    else:
        matcher = SequenceMatcher(None, before, after, autojunk=False)
        for tag, a, b, c, d in matcher.get_opcodes():
            if tag == "equal":
                yield from stretch("same", before[a:b])
            else:
                yield from (*stretch("removed", before[a:b]), *stretch("added", after[c:d]))
    yield from stretch("same", old[len(old) - end :])


def stretch(kind: str, lines: Sequence[str]) -> list[Piece]:
    return [Piece(kind, "\n".join(lines))] if lines else []
