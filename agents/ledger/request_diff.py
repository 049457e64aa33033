"""Two requests to a model, section by section: what was sent beside what would be sent now."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.utils.translation import gettext, gettext_noop

from agents.llm.rendering import Sent
from agents.text.diff import Piece, Work, changes
from agents.text.json import pretty_value
from agents.text.numbers import whole

MOST_STEPS = 4_000_000  # of all comparisons on a page
GROUPS = (  # said in the language of the page by the filter `translated`
    gettext_noop("Model and options"),
    gettext_noop("Tool definitions"),
    gettext_noop("System message"),
    gettext_noop("Messages"),
)

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
    sent: str, sent_history: Sequence[Sent], now: str, now_history: Sequence[Sent]
) -> list[Group]:
    """What two requests have in common and where they differ.

    Messages are compared by their numbers, tools by their names: it takes as long as reading both.
    """
    old, new = entries(sent, sent_history), entries(now, now_history)
    found: dict[int, list[Row]] = defaultdict(list)
    work = Work(MOST_STEPS)
    for key in sorted(old.keys() | new.keys(), key=order(old, new)):
        found[key[0]].append(row(old.get(key), new.get(key), work))
    return [Group(GROUPS[place], rows) for place, rows in sorted(found.items())]


def order(old: dict[Key, Entry], new: dict[Key, Entry]) -> Any:
    """Messages by number, all else as it came."""
    places = {key: place for place, key in enumerate({**old, **new})}
    return lambda key: (key[0], *(key[1:] if key[0] == 3 else (places[key], 0)))


def entries(body: str, history: Sequence[Sent]) -> dict[Key, Entry]:
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
        named = {"number": whole(sent.number), "role": message["role"]}
        title = gettext("Message %(number)s · %(role)s") % named
        found[3, sent.number, seen[sent.number]] = Entry(title, pretty_value(message))
        seen[sent.number] += 1
    return found


def row(sent: Entry | None, now: Entry | None, work: Work) -> Row:
    """An entry in both, or in one of them."""
    if sent is None:
        assert now
        return Row(now.title, "added", [], [Piece("added", now.text)])
    if now is None:
        return Row(sent.title, "removed", [Piece("removed", sent.text)], [])
    if sent.text == now.text:
        return Row(sent.title, "same", [Piece("same", sent.text)], [])
    pieces = list(lines_compared(sent.text.split("\n"), now.text.split("\n"), work))
    return Row(
        sent.title,
        "changed",
        [piece for piece in pieces if piece.kind != "added"],
        [piece for piece in pieces if piece.kind != "removed"],
    )


def lines_compared(old: Sequence[str], new: Sequence[str], work: Work) -> Iterator[Piece]:
    """The difference of two texts in stretches of whole lines, those they share included."""
    end = 0
    for a, b, c, d in changes(old, new, work):
        yield from stretch("same", new[end:c])
        yield from (*stretch("removed", old[a:b]), *stretch("added", new[c:d]))
        end = d
    yield from stretch("same", new[end:])


def stretch(kind: str, lines: Sequence[str]) -> list[Piece]:
    return [Piece(kind, "\n".join(lines))] if lines else []
