"""The two formats: what ChatGPT and Claude write into `conversations.json`.

ChatGPT keeps a tree of messages (`mapping`), of which the branch that ends at `current_node` is the
conversation; Claude a list (`chat_messages`). Both grew over the years, so nothing in them is taken
for granted. Documented by those who read them, such as mitkury/chatgpt-export-parser and
Sinity/polylogue.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext_noop as _

from agents.models.conversation import LONGEST_TITLE
from agents.models.message import LONGEST_MESSAGE, storable
from agents.text.excerpts import cut

MOST_MESSAGES = 20_000  # of one conversation
CITATION = re.compile("\ue200[^\ue200\ue201]*\ue201")  # marks of ChatGPT for its own page
Json = dict[str, Any]


@dataclass
class Spoken:
    """A message: who said it, what, and when, if that is known."""

    role: str
    text: str
    at: datetime | None


@dataclass
class Talk:
    """A conversation as it is imported; `left_out` counts what is not, by the reason."""

    source: str
    title: str = ""
    at: datetime | None = None
    messages: list[Spoken] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)

    def add(self, role: str, text: str, at: datetime | None) -> None:
        text = storable(text.replace("\0", "")).strip()
        if not text:
            return
        if len(self.messages) >= MOST_MESSAGES:
            self.left_out[_("too many messages in one conversation")] += 1
            return
        if len(text) > LONGEST_MESSAGE:
            self.left_out[_("ends of messages that are too long")] += 1
            text = cut(text, LONGEST_MESSAGE)
        self.messages.append(Spoken(role, text, at))


def talk_of(given: Json) -> Talk | None:
    """A conversation of either format; None where it is of neither."""
    if isinstance(given.get("mapping"), dict):
        return of_chatgpt(given)
    if isinstance(given.get("chat_messages"), list):
        return of_claude(given)
    return None


def text_in(given: Any, name: str) -> str:
    value = given.get(name) if isinstance(given, dict) else None
    return value if isinstance(value, str) else ""


def entry_in(given: Any, name: str) -> Json:
    value = given.get(name) if isinstance(given, dict) else None
    return value if isinstance(value, dict) else {}


def list_in(given: Any, name: str) -> list[Any]:
    value = given.get(name) if isinstance(given, dict) else None
    return value if isinstance(value, list) else []


def title_of(text: str) -> str:
    return storable(" ".join(text.replace("\0", "").split()))[:LONGEST_TITLE]


# -- ChatGPT ---------------------------------------------------------------------------------------


def of_chatgpt(given: Json) -> Talk:
    talk = Talk("ChatGPT", title_of(text_in(given, "title")), seconds(given.get("create_time")))
    nodes: dict[str, Any] = given["mapping"]
    path = branch(nodes, given.get("current_node"))
    on_it = set(path)
    for key, node in nodes.items():
        if key not in on_it and is_said(entry_in(node, "message")):
            talk.left_out[_("messages on other branches")] += 1
    for key in path:
        if message := entry_in(nodes[key], "message"):
            read_node(talk, message)
    return talk


def branch(nodes: dict[str, Any], last: Any) -> list[str]:
    """The keys from the root to the current message, or to the newest where none is named."""
    if not isinstance(last, str) or last not in nodes:
        leaves = [key for key, node in nodes.items() if not list_in(node, "children")]
        times = {key: entry_in(nodes[key], "message").get("create_time") for key in leaves}
        known = {key: at if isinstance(at, int | float) else 0.0 for key, at in times.items()}
        last = max(leaves, key=lambda key: known[key], default=None)
    path: list[str] = []
    seen: set[str] = set()
    while isinstance(last, str) and last in nodes and last not in seen:
        seen.add(last)
        path.append(last)
        node = nodes[last]
        last = node.get("parent") if isinstance(node, dict) else None
    return path[::-1]


def is_said(message: Json) -> bool:
    role = text_in(entry_in(message, "author"), "role")
    return role in ("user", "assistant") and bool(list_in(entry_in(message, "content"), "parts"))


def read_node(talk: Talk, message: Json) -> None:
    role = text_in(entry_in(message, "author"), "role")
    content = entry_in(message, "content")
    kind = text_in(content, "content_type")
    recipient = message.get("recipient") or "all"
    if kind in ("user_editable_context", "model_editable_context"):
        talk.left_out[_("custom instructions and saved memories")] += 1
    elif entry_in(message, "metadata").get("is_visually_hidden_from_conversation") is True:
        talk.left_out[_("hidden messages")] += 1
    elif kind in ("thoughts", "reasoning_recap"):
        talk.left_out[_("reasoning")] += 1
    elif role == "tool" or recipient != "all" or kind in ("code", "execution_output"):
        talk.left_out[_("tool calls and what they returned")] += 1
    elif role in ("user", "assistant"):
        talk.add(role, "\n".join(parts_of(talk, content)), seconds(message.get("create_time")))
    elif role == "system" and any(parts_of(talk, content)):
        talk.left_out[_("system messages")] += 1


def parts_of(talk: Talk, content: Json) -> Iterator[str]:
    """The texts of a message; what else it holds is counted."""
    if isinstance(content.get("text"), str):
        yield content["text"]
    for part in list_in(content, "parts"):
        if isinstance(part, str):
            yield CITATION.sub("", part)
        elif text := text_in(part, "text"):  # what was said aloud
            yield text
        elif isinstance(part, dict):
            kind = text_in(part, "content_type")
            what = _("images") if "image" in kind else _("sound and video")
            talk.left_out[what] += 1
            yield f"[{'image' if what == 'images' else 'sound'} that was not imported]"


def seconds(given: Any) -> datetime | None:
    """A moment from seconds since 1970, if it is one."""
    if isinstance(given, bool) or not isinstance(given, int | float):
        return None
    try:
        return datetime.fromtimestamp(given, UTC)
    except (ValueError, OverflowError, OSError):
        return None


# -- Claude ----------------------------------------------------------------------------------------

SENDERS = {"human": "user", "user": "user", "assistant": "assistant"}


def of_claude(given: Json) -> Talk:
    talk = Talk("Claude", title_of(text_in(given, "name")), moment(given.get("created_at")))
    for message in given["chat_messages"]:
        role = SENDERS.get(text_in(message, "sender"))
        if role is None:
            talk.left_out[_("messages of an unknown sender")] += 1
            continue
        text = "\n\n".join([*texts_of(talk, message), *attached_to(talk, message)])
        talk.add(role, text, moment(message.get("created_at")))
    return talk


def texts_of(talk: Talk, message: Json) -> Iterator[str]:
    """What was said: in newer exports a list of contents, in older ones a text."""
    said = []
    for part in list_in(message, "content"):
        kind = text_in(part, "type")
        if kind in ("tool_use", "tool_result"):
            talk.left_out[_("tool calls and what they returned")] += 1
        elif kind == "thinking":
            talk.left_out[_("reasoning")] += 1
        elif kind == "text" and text_in(part, "text"):
            said.append(text_in(part, "text"))
    yield from said or filter(None, [text_in(message, "text")])


def attached_to(talk: Talk, message: Json) -> Iterator[str]:
    """The texts of attached files, which the export has; of others only their names."""
    for file in list_in(message, "attachments"):
        name = text_in(file, "file_name") or "a file"
        if text := text_in(file, "extracted_content"):
            yield f"[Attached: {name}]\n{text}"
        else:
            talk.left_out[_("attached files")] += 1
    talk.left_out[_("attached files")] += len(list_in(message, "files"))


def moment(given: Any) -> datetime | None:
    """A moment as ISO 8601 writes it, if it is one."""
    try:
        at = parse_datetime(given) if isinstance(given, str) else None
    except ValueError:
        return None
    return at if at is None or at.tzinfo else at.replace(tzinfo=UTC)
