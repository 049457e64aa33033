"""The messages of a file as they are stored here: in order, every tool call with its return.

Letta keeps more among the messages than was said: the compiled system message, again after each
change of memory; notices such as heartbeats; a summary in the form of a person's message; and the
person's words packed in JSON with a time. Here the first is made anew for each request, the second
are not needed, the third is a compaction, and the fourth is unpacked.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils import timezone

from agents.models import Message
from agents.models.message import storable

from .call_ids import CallIds, Ids
from .parts import Said, parts_of
from .reading import Entry, Notes, count

NOTICES = ("heartbeat", "login")
SUMMARY = re.compile(
    r"following is a summary of the previous (?:[\d,]+ )?messages:(?:\s|\\n)*(.*)", re.DOTALL
)
NO_RETURN = "No return is known: the agent file this was imported from had none."
SPEAKS_ALOUD = ("", "letta_v1_agent")  # other types of agents think in what stands beside a call


@dataclass
class Line:
    """A message on its way into the database; `run` and `step` count the transcript's."""

    id: str
    role: str
    at: datetime
    content: str = ""
    reasoning: str = ""
    calls: list[dict[str, str]] = field(default_factory=list)
    call_id: str = ""
    is_error: bool = False
    stdout: str = ""
    model: str = ""
    status: str = Message.Status.COMPLETE
    aside: bool = False
    duration_ms: int | None = None
    run: int | None = None
    step: int | None = None

    @property
    def is_sent(self) -> bool:
        """Whether the model is sent it, if it is in the context."""
        return not self.aside and self.status in (Message.Status.COMPLETE, Message.Status.STOPPED)


@dataclass
class Conversation:
    """What was said; the context begins at message `context_from` (0: at the first).

    `summary` stands for what left the context, and `summary_at` is when it was written. `ids` are
    the calls that have another id here.
    """

    lines: list[Line]
    context_from: int = 0
    summary: str = ""
    summary_at: datetime | None = None
    ids: Ids = field(default_factory=dict)


def conversation(agent: Entry, own: Entry, notes: Notes) -> Conversation:
    """Read an agent's messages; `own` is what this program wrote of the agent, if it did."""
    reader = Reader(agent, own)
    for message in agent.entries("messages"):
        reader.take(message)
    reader.tell(notes)
    found = reader.found
    found.lines, found.ids = paired(found.lines, notes)
    found.context_from = beginning(found.lines, reader.in_context)
    return found


def beginning(lines: list[Line], in_context: list[str]) -> int:
    """The number of the first message in the context, counted from 1; 0 where it is the first."""
    if not in_context:
        return 0
    known = set(in_context)
    first = next((place for place, line in enumerate(lines) if line.id in known), len(lines))
    return first + 1 if first else 0


class Reader:
    """Takes the messages one after the other."""

    def __init__(self, agent: Entry, own: Entry) -> None:
        self.system = agent.text("system")
        self.in_context = agent.texts("in_context_message_ids")
        self.left: Counter[str] = Counter()
        self.found = Conversation([])
        self.at = agent.moment("created_at") or timezone.now()
        self.is_own = bool(own.given)
        self.thinks = not self.is_own and agent.text("agent_type") not in SPEAKS_ALOUD
        self.made = set(own.texts("made"))
        self.kept = {each.get("id", str): each for each in own.entries("messages")}
        ids = {message.get("id", str) for message in agent.entries("messages")}
        self.left["missing"] = len([each for each in self.in_context if each not in ids])

    def take(self, message: Entry) -> None:
        key, role = message.get("id", str), message.get("role", str)
        self.at = message.moment("created_at") or self.at
        said = parts_of(message)
        self.left.update(said.left)
        if self.is_own:
            if key not in self.made:
                self.said(message, role, said)
        elif role in ("system", "developer"):
            if self.is_compiled(key, said.text):
                self.left["compiled"] += 1
            else:
                self.said(message, "system", said)
        elif role == "summary" or (role == "user" and SUMMARY.search(said.text)):
            self.summary(key, role, said.text)
        elif role == "user":
            self.person(message, said)
        elif role == "approval" and not said.calls:
            self.left["decisions"] += 1
        else:
            self.said(message, {"approval": "assistant", "function": "tool"}.get(role, role), said)

    def is_compiled(self, key: str, text: str) -> bool:
        """Whether this is the prompt with core memory, as it was sent once."""
        first = self.in_context[:1] == [key]
        return first or bool(self.system and text.startswith(self.system))

    def summary(self, key: str, role: str, text: str) -> None:
        alert = packed(text)
        told = str(alert.get("message", "")) if alert else text
        found = SUMMARY.search(told)
        if not found and role != "summary":  # a person's words that only look like one
            self.left["summaries"] += 1
            return
        if self.in_context and key not in self.in_context:
            self.left["summaries"] += 1
            return
        self.left["summaries"] += bool(self.found.summary)
        self.found.summary = storable(found[1] if found else told).strip()
        self.found.summary_at = self.at

    def person(self, message: Entry, said: Said) -> None:
        notice = packed(said.text)
        if notice.get("type") in NOTICES:
            self.left["notices"] += 1
            return
        if notice.get("type") == "user_message" and isinstance(notice.get("message"), str):
            said.text = storable(notice["message"])
        role = "system" if notice.get("type") == "system_alert" else "user"
        self.said(message, role, said)

    def said(self, message: Entry, role: str, said: Said) -> None:
        """Take in a message, or the returns that one message of a tool's holds."""
        if role not in Message.Role.values:
            self.left["roles"] += 1
            return
        line = Line(message.get("id", str), role, self.at, said.text, said.reasoning)
        line.model = message.text("model")[:200]
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
                raise kept.wrong("status", f"is '{line.status[:40]}', which is none")
            line.aside = kept.get("aside", bool, False)
            line.duration_ms = kept.whole("duration_ms", 0, 2**31 - 1)
            line.run = kept.whole("run", 0, 10**9)
            line.step = kept.whole("step", 0, 10**9)
        self.found.lines.append(line)

    def tell(self, notes: Notes) -> None:
        """Say what was left out."""
        said = {
            "missing": "of the context cannot be found in the file and so is lost",
            "compiled": "held the compiled system prompt: left out, as it is made anew each time",
            "notices": "held a heartbeat or a login: left out, as an agent here needs none",
            "summaries": "held an older summary: left out, as the newest one stands for them all",
            "decisions": "said that a tool call was approved or refused: left out",
            "roles": "had a role that is not known here: left out",
            "pictures": "held a picture or a file: only the text was taken over",
            "hidden": "held reasoning that its provider keeps to itself: it cannot be shown",
            "twice": "called tools twice under one id: the first of the calls was taken over",
            "names": "called tools by names that no endpoint takes: other characters became '_'",
        }
        for kind, what in said.items():
            if self.left[kind]:
                notes.add(f"{count(self.left[kind], 'message')} {what}.")


def joined(*texts: str) -> str:
    return "\n".join(filter(None, texts))


def packed(text: str) -> dict[str, Any]:
    """A message that Letta packed in JSON; {} where it is plain text."""
    if not text.startswith("{"):
        return {}
    try:
        given = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return {}
    return given if isinstance(given, dict) and isinstance(given.get("type"), str) else {}


Returns = dict[str, Line | None]  # a call's id → what was returned to it


def paired(lines: list[Line], notes: Notes) -> tuple[list[Line], Ids]:
    """The messages with each tool's return right below its call, in the order of the calls.

    A return without its call goes; a call without its return gets one that says so. A call whose id
    cannot be sent, or is another call's as well, gets another; which these are.
    """
    turns: list[tuple[Line, Returns]] = []
    waiting: dict[str, tuple[Returns, str]] = {}
    ids = CallIds()
    lost = made = 0
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
    found: list[Line] = []
    for line, returns in turns:
        found.append(line)
        for call_id, answer in returns.items():
            if answer is None and line.is_sent:
                made += 1
                answer = Line("", Message.Role.TOOL, line.at, NO_RETURN, call_id=call_id)
                answer.is_error, answer.run, answer.step = True, line.run, line.step
            if answer:
                found.append(answer)
    if lost:
        notes.add(f"{count(lost, 'tool return')} answered no call of the file: left out.")
    if made:
        notes.add(f"{count(made, 'tool call')} had no return: one was added that says so.")
    if ids.changed:
        notes.add(
            f"{count(len(ids.changed), 'tool call')} got another id here: an endpoint takes back"
            " only short ids of letters and digits, each once."
        )
    return found, ids.changed
