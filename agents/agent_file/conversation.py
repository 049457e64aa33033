"""The messages of a file as they are stored here: in order, every tool call with its return.

Letta stores more among the messages than the conversation: the compiled system message, again after
each change of memory; notices such as heartbeats; a summary in the form of a user's message; and
the user's texts packed in JSON with a time. Here the system message is compiled for each request,
notices are dropped, a summary becomes a compaction, and texts are unpacked.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext

from agents.models import Image, Message
from agents.models.image import MOST_IMAGES
from agents.models.message import storable
from agents.text.numbers import whole

from .call_ids import CallIds, Ids
from .left_out import LEFT_OUT, note_calls
from .limits import check_images
from .parts import Said, as_object, parts_of
from .reading import Entry, Notes

NOTICES = ("heartbeat", "login")
SUMMARY = re.compile(
    r"following is a summary of the previous (?:[\d,]+ )?messages:(?:\s|\\n)*(.*)", re.DOTALL
)
NO_RETURN = "The return of this call is unknown: the imported agent file did not contain it."
SPEAKS_BY_TEXT = ("", "letta_v1_agent")  # in other types the text beside a call is reasoning


@dataclass
class Line:
    """A message that is being imported; `run` and `step` are positions in the transcript."""

    id: str
    role: str
    at: datetime
    content: str = ""
    reasoning: str = ""
    images: list[Image] = field(default_factory=list)
    calls: list[dict[str, str]] = field(default_factory=list)
    call_id: str = ""
    is_error: bool = False
    stdout: str = ""
    model: str = ""
    sender_id: str = ""
    status: str = Message.Status.COMPLETE
    internal: bool = False
    duration_ms: int | None = None
    left_out: int | None = None
    run: int | None = None
    step: int | None = None

    @property
    def is_sent(self) -> bool:
        """Whether it is sent to the model while it is in the context."""
        return not self.internal and self.status in (
            Message.Status.COMPLETE,
            Message.Status.STOPPED,
        )


@dataclass
class History:
    """The messages; the context begins at message `context_from` (0: at the first).

    `summary` replaces the messages before it, and `summary_at` is when it was written. `ids` are
    the new ids of calls whose id was changed.
    """

    lines: list[Line]
    context_from: int = 0
    summary: str = ""
    summary_at: datetime | None = None
    ids: Ids = field(default_factory=dict)


def conversation(agent: Entry, own: Entry, notes: Notes) -> History:
    """Read an agent's messages; `own` is what this program wrote about the agent, if it did."""
    reader = Reader(agent, own)
    for message in agent.entries("messages"):
        reader.take(message)
    reader.add_notes(notes)
    result = reader.result
    result.lines, result.ids = pair_calls(result.lines, notes)
    result.context_from = beginning(result.lines, reader.in_context)
    return result


def beginning(lines: list[Line], in_context: list[str]) -> int:
    """The number of the first message in the context, counted from 1; 0 where it is the first."""
    if not in_context:
        return 0
    known = set(in_context)
    first = next((place for place, line in enumerate(lines) if line.id in known), len(lines))
    return first + 1 if first else 0


class Reader:
    """Reads the messages one after the other."""

    def __init__(self, agent: Entry, own: Entry) -> None:
        self.system = agent.text("system")
        self.in_context = agent.texts("in_context_message_ids")
        self.left_out: Counter[str] = Counter()
        self.result = History([])
        self.at = agent.moment("created_at") or timezone.now()
        self.is_own = bool(own.given)
        self.thinks = not self.is_own and agent.text("agent_type") not in SPEAKS_BY_TEXT
        self.made = set(own.texts("made"))
        self.images = 0
        self.kept = {each.get("id", str): each for each in own.entries("messages")}
        ids = {message.get("id", str) for message in agent.entries("messages")}
        self.left_out["missing"] = len([each for each in self.in_context if each not in ids])

    def take(self, message: Entry) -> None:
        key, role = message.get("id", str), message.get("role", str)
        self.at = message.moment("created_at") or self.at
        said = parts_of(message)
        self.left_out.update(said.left_out)
        if self.is_own:
            if key not in self.made:
                self.said(message, role, said)
        elif role in ("system", "developer"):
            if self.is_compiled(key, said.text):
                self.left_out["compiled"] += 1
            else:
                self.said(message, "system", said)
        elif role == "summary" or (role == "user" and SUMMARY.search(said.text)):
            self.read_summary(key, role, said.text)
        elif role == "user":
            self.read_user(message, said)
        elif role == "approval" and not said.calls:
            self.left_out["decisions"] += 1
        else:
            self.said(message, {"approval": "assistant", "function": "tool"}.get(role, role), said)

    def is_compiled(self, key: str, text: str) -> bool:
        """Whether this is a system message with core memory, as it was sent at some time."""
        first = self.in_context[:1] == [key]
        return first or bool(self.system and text.startswith(self.system))

    def read_summary(self, key: str, role: str, text: str) -> None:
        alert = packed(text)
        message = str(alert.get("message", "")) if alert else text
        match = SUMMARY.search(message)
        if not match and role != "summary":  # a user's text that only looks like a summary
            self.left_out["summaries"] += 1
            return
        if self.in_context and key not in self.in_context:
            self.left_out["summaries"] += 1
            return
        self.left_out["summaries"] += bool(self.result.summary)
        self.result.summary = storable(match[1] if match else message).strip()
        self.result.summary_at = self.at

    def read_user(self, message: Entry, said: Said) -> None:
        notice = packed(said.text)
        if notice.get("type") in NOTICES:
            self.left_out["notices"] += 1
            return
        if notice.get("type") == "user_message" and isinstance(notice.get("message"), str):
            said.text = storable(notice["message"])
        role = "system" if notice.get("type") == "system_alert" else "user"
        self.said(message, role, said)

    def said(self, message: Entry, role: str, said: Said) -> None:
        """Add a message, or the returns that one message of a tool holds."""
        if role not in Message.Role.values:
            self.left_out["roles"] += 1
            return
        line = Line(message.get("id", str), role, self.at, said.text, said.reasoning)
        line.model = message.text("model")[:200]
        line.images = said.images[:MOST_IMAGES] if role == Message.Role.USER else []
        self.left_out["images"] += len(said.images) > len(line.images)
        self.images += len(line.images)
        check_images(self.images)
        line.sender_id = message.text("sender_id")[:200]
        if role == "assistant":
            line.calls = said.calls
            if said.calls and self.thinks:
                line.content, line.reasoning = "", joined(said.reasoning, said.text)
            self.add(line)
        elif role == "tool":
            for returned in said.returns:
                self.add(
                    Line(
                        line.id,
                        role,
                        self.at,
                        returned.text,
                        call_id=returned.call_id,
                        is_error=returned.is_error,
                        stdout=returned.stdout,
                    )
                )
        else:
            self.add(line)

    def add(self, line: Line) -> None:
        if kept := self.kept.get(line.id):
            line.status = kept.get("status", str, line.status)
            if line.status not in (Message.Status.COMPLETE, *("stopped", "broken")):
                words = gettext("is '%(value)s', which is not a status")
                raise kept.wrong("status", words % {"value": line.status[:40]})
            line.internal = kept.get("internal", bool, False)
            line.duration_ms = kept.whole("duration_ms", 0, 2**31 - 1)
            line.left_out = kept.whole("left_out", 0, 10**9)
            line.run = kept.whole("run", 0, 10**9)
            line.step = kept.whole("step", 0, 10**9)
        self.result.lines.append(line)

    def add_notes(self, notes: Notes) -> None:
        """Note what was left out."""
        for kind, words in LEFT_OUT.items():
            if number := self.left_out[kind]:
                shown = {"count": number, "shown": whole(number), "most": MOST_IMAGES}
                notes.add(str(words % shown))


def joined(*texts: str) -> str:
    return "\n".join(filter(None, texts))


def packed(text: str) -> dict[str, Any]:
    """A message that Letta packed in JSON; {} for plain text."""
    packet = as_object(text) if text.startswith("{") else {}
    return packet if isinstance(packet.get("type"), str) else {}


Returns = dict[str, Line | None]  # a call's id → what was returned to it


def pair_calls(lines: list[Line], notes: Notes) -> tuple[list[Line], Ids]:
    """The messages with each tool's return right below its call, in the order of the calls.

    A return without its call is dropped; a call without its return gets one that says so. A call
    whose id cannot be sent, or is used twice, gets another one; these are returned as well.
    """
    ids = CallIds()
    turns, lost = with_returns(lines, ids)
    ordered: list[Line] = []
    added = 0
    for line, returns in turns:
        ordered.append(line)
        for call_id, answer in returns.items():
            if answer is None and line.is_sent:
                added += 1
                answer = Line("", Message.Role.TOOL, line.at, NO_RETURN, call_id=call_id)
                answer.is_error, answer.run, answer.step = True, line.run, line.step
            if answer:
                ordered.append(answer)
    note_calls(notes, lost, added, len(ids.changed))
    return ordered, ids.changed


def with_returns(lines: list[Line], ids: CallIds) -> tuple[list[tuple[Line, Returns]], int]:
    """Each message with the returns of its calls, by the calls' ids; how many answer no call."""
    turns: list[tuple[Line, Returns]] = []
    waiting: dict[str, tuple[Returns, str]] = {}
    lost = 0
    for line in lines:
        if line.role != Message.Role.TOOL:
            returns: Returns = {}
            for call in line.calls:
                old, call["id"] = call["id"], ids.own(call["id"], line.step)
                returns[call["id"]] = None
                waiting[old] = returns, call["id"]
            turns.append((line, returns))
        elif line.call_id in waiting:
            asked, line.call_id = waiting.pop(line.call_id)
            asked[line.call_id] = line
        else:
            lost += 1
    return turns, lost
