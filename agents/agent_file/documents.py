"""A conversation as a document that is downloaded: Markdown, HTML or JSON."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from tempfile import SpooledTemporaryFile
from typing import IO, Any, NamedTuple

from django.http import HttpRequest, StreamingHttpResponse
from django.template.loader import render_to_string
from django.utils import timezone, translation
from django.utils.translation import get_language, gettext, gettext_noop, ngettext

from agents.models import AuditEntry, Conversation, Image, Message
from agents.models.event import snapshot
from agents.models.image import with_marks
from agents.text.diff import lines_changed
from agents.text.numbers import whole
from agents.text.stored import translated

from .download import IN_MEMORY, sent
from .entries import stamp
from .exporting import file_name
from .pieces import pieces
from .spoken import Entry, entries_of

STATUSES = gettext_noop("stopped"), gettext_noop("broken")  # as a message that is shown has them
BACKTICKS = re.compile("`{3,}")


class Form(NamedTuple):
    """A form of the document: what it is called, and what writes it."""

    name: str
    ending: str
    content_type: str
    written: Callable[[Conversation], Iterator[str]]


def download_conversation(
    request: HttpRequest, conversation: Conversation, form: Form
) -> StreamingHttpResponse:
    """A conversation as a file, of one moment; written to the end before it is sent."""
    file: IO[bytes] = SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115, closed once sent
    with snapshot():
        for piece in form.written(conversation):
            file.write(piece.encode("utf-8", "replace"))
    agent, key = conversation.agent, str(conversation.pk)
    AuditEntry.record(AuditEntry.Action.EXPORTED, agent, conversation=key, form=form.name)
    name = f"{file_name(agent).removesuffix('.af')}_{key[:8]}.{form.ending}"
    return sent(request, file, name, form.content_type)


def head_of(conversation: Conversation) -> dict[str, Any]:
    return {
        "agent": conversation.agent.name,
        "title": str(conversation),
        "began_at": stamp(conversation.created_at) if conversation.created_at else None,
        "exported_at": stamp(timezone.now()),
    }


# -- JSON ------------------------------------------------------------------------------------------


def as_json(conversation: Conversation) -> Iterator[str]:
    with translation.override("en"):  # it is for programs
        head = {"format": "memoryweb conversation", "version": 1} | head_of(conversation)
    return pieces(head | {"entries": (entry for entry in entries_of(conversation))})


# -- Markdown --------------------------------------------------------------------------------------


def as_markdown(conversation: Conversation) -> Iterator[str]:
    head = head_of(conversation)
    yield f"# {one_line(head['title'])}\n\n"
    about = gettext("A conversation with %(agent)s, exported on %(moment)s.")
    yield about % {"agent": one_line(head["agent"]), "moment": head["exported_at"]} + "\n"
    for entry in entries_of(conversation):
        yield f"\n{MARKDOWN[entry['kind']](entry)}\n"


def who_said(entry: Entry) -> str:
    """Whose message it is, in the language of whoever reads the document."""
    return gettext("System") if entry["role"] == Message.Role.SYSTEM else str(entry["who"])


def markdown_message(entry: Entry) -> str:
    parts = [f"## {one_line(who_said(entry))} · {entry['at']}"]
    if entry.get("reflection"):
        words = gettext("Said in a reflection, while the agent reviewed its memory.")
        parts.append(f"*{words}*")
    if reasoning := entry.get("reasoning"):
        words = gettext("Reasoning: %(text)s") % {"text": reasoning}
        parts.append("\n".join(f"> {line}" for line in words.splitlines()))
    parts.append(with_marks(entry["text"], entry.get("images", ())))
    if status := entry.get("status"):
        parts.append(f"*({gettext(status)})*")
    return "\n\n".join(filter(None, parts))


def markdown_call(entry: Entry) -> str:
    failed = entry.get("failed")
    head = gettext("Tool call: %(name)s failed") if failed else gettext("Tool call: %(name)s")
    parts = [f"### {head % {'name': one_line(entry['name'])}}", fenced(entry["arguments"])]
    if "returned" in entry:
        parts += [gettext("Returned:"), fenced(entry["returned"])]
    for change in entry.get("changes", ()):
        words = gettext("Changed block %(block)s, version %(version)s:")
        label = f"**{one_line(change['block'])}**"
        parts.append(words % {"block": label, "version": change["version"]})
        parts.append(fenced("\n".join(diff_lines(change)), "diff"))
    return "\n\n".join(parts)


def markdown_compaction(entry: Entry) -> str:
    lines = entry["summary"].splitlines()
    quoted = "\n".join(f"> {line}" for line in lines)
    before, after = entry["tokens_before"], entry["tokens_after"]
    words = ngettext(
        "Compacted: %(tokens_before)s → %(tokens_after)s token",
        "Compacted: %(tokens_before)s → %(tokens_after)s tokens",
        after,
    )
    counts = {"tokens_before": whole(before), "tokens_after": whole(after)}
    return f"### {words % counts}\n\n{quoted}"


def markdown_failure(entry: Entry) -> str:
    return f"**{gettext('The run failed:')}** {one_line(translated(entry['text']))}"


MARKDOWN: dict[str, Callable[[Entry], str]] = {
    "message": markdown_message,
    "tool_call": markdown_call,
    "compaction": markdown_compaction,
    "failure": markdown_failure,
}


def diff_lines(change: Entry) -> Iterator[str]:
    """The lines that a change touched, each with its sign."""
    lines = lines_changed(change["before"], change["after"])
    for piece in lines.shown:
        yield f"{'+' if piece.kind == 'added' else '-'} {piece.text}"
    if lines.left_out:
        words = ngettext(
            "(%(count)s more changed line is not shown here)",
            "(%(count)s more changed lines are not shown here)",
            lines.left_out,
        )
        yield words % {"count": whole(lines.left_out)}


def fenced(text: str, language: str = "") -> str:
    """A text between fences that it cannot close."""
    longest = max((len(run) for run in BACKTICKS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def one_line(text: str) -> str:
    """A text in one line that is no markup."""
    return re.sub(r"([\\`*_\[\]<>#])", r"\\\1", " ".join(text.split()))


# -- HTML ------------------------------------------------------------------------------------------


def as_html(conversation: Conversation) -> Iterator[str]:
    """One file that needs no other: its style and its images are in it."""
    head = {"head": head_of(conversation), "language": get_language()}
    page = render_to_string("agents/document.html", head, using="jinja2")
    start, _, end = page.partition("<!-- entries -->")
    yield start
    for entry in entries_of(conversation):
        images = [part["sha256"] for part in entry.get("images", ())]
        data = Image.in_base64(conversation.agent_id, images) if images else {}
        shown: Entry = {"entry": entry, "data": data}
        if changes := entry.get("changes"):
            diffs = [lines_changed(each["before"], each["after"]) for each in changes]
            shown["changes"] = list(zip(changes, diffs, strict=True))
        yield render_to_string("agents/_document_entry.html", shown, using="jinja2")
    yield end


FORMS = {
    form.name: form
    for form in (
        Form("markdown", "md", "text/markdown; charset=utf-8", as_markdown),
        Form("html", "html", "text/html; charset=utf-8", as_html),
        Form("json", "json", "application/json", as_json),
    )
}
