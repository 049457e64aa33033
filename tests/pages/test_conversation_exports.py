"""A conversation as Markdown, HTML and JSON, with what it changed in memory."""

from __future__ import annotations

import json

import pytest
from django.test import Client
from django.urls import reverse

from agents.agent_file import spoken
from agents.models import Agent, AuditEntry, Conversation
from tests.conftest import Ask
from tests.support.fake_openai import FakeOpenAI, calls, text

RENAME = (
    "core_memory_replace",
    {"label": "human", "old_content": "Name: Bob", "new_content": "Name: Sarah"},
)


def exported(web: Client, agent: Agent, name: str, status: int = 200) -> str:
    answer = web.get(reverse("conversation_export", args=[agent.pk, name]))
    assert answer.status_code == status
    return answer.getvalue().decode() if status == 200 else ""


@pytest.fixture
def talked(agent: Agent, ask: Ask, model: FakeOpenAI, monkeypatch: pytest.MonkeyPatch) -> Agent:
    """An agent that changed its memory in the first of three runs."""
    monkeypatch.setattr(spoken, "RUNS_AT_ONCE", 2)
    model.script(calls(RENAME), text("Hello **Sarah** <script>alert(1)</script>"))
    ask("I am Sarah & <b>not</b> Bob.\n```\n")
    for number in range(2):
        model.script(text(f"Answer {number}"))
        ask(f"Question {number}")
    return agent


def test_json_has_all_that_was_said_and_what_changed(talked: Agent, web: Client) -> None:
    file = json.loads(exported(web, talked, "json"))
    assert file["agent"] == "Tutor"
    entries = file["entries"]
    assert [(e["kind"], e.get("who", "")) for e in entries] == [
        ("message", "alice"),
        ("tool_call", ""),
        *[("message", name) for name in ("Tutor", "alice", "Tutor", "alice", "Tutor")],
    ]
    (change,) = entries[1]["changes"]
    assert (change["block"], change["before"], change["after"]) == (
        *("human", "Name: Bob", "Name: Sarah"),
    )
    assert entries[-1]["text"] == "Answer 1"
    (entry,) = AuditEntry.objects.filter(action=AuditEntry.Action.EXPORTED)
    assert entry.details == {"conversation": str(talked.pk), "form": "json"}


def test_markdown_and_html_show_the_same_and_nothing_breaks_out(talked: Agent, web: Client) -> None:
    markdown = exported(web, talked, "markdown")
    assert "```diff\n- Name: Bob\n+ Name: Sarah\n```" in markdown
    assert "## Tutor · 20" in markdown
    html = exported(web, talked, "html")
    assert "<script" not in html
    assert "<strong>Sarah</strong>" in html
    assert "I am Sarah &amp; &lt;b&gt;not&lt;/b&gt; Bob." in html
    assert "Name: Sarah" in html
    assert html.rstrip().endswith("</html>")
    assert markdown.index("Answer 0") < markdown.index("Answer 1")


def test_each_conversation_is_exported_by_itself(talked: Agent, web: Client) -> None:
    other = Conversation.create(talked, title="Other")
    other.post_first_messages([("user", "Elsewhere")])
    address = reverse("conversation_export", args=[talked.pk, other.pk, "json"])
    file = json.loads(web.get(address).getvalue())
    assert [entry["text"] for entry in file["entries"]] == ["Elsewhere"]
    assert "Elsewhere" not in exported(web, talked, "markdown")
    exported(web, talked, "docx", status=404)
