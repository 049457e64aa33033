"""The panel's history, filtered: by editor, tool and time, and by what once stood in a block."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from agents.models import Agent, Block, BlockEdit, Editor, Message
from agents.pages import history_filters
from tests.conftest import edit_of
from tests.support.ledger import edits_in, shown, step_of
from tests.support.stored import of


@pytest.fixture
def edits(agent: Agent, human: Block, by: Editor) -> list[BlockEdit]:
    """One by hand, one by a tool of the agent, one by the API, one that undoes the first."""
    step = step_of(agent)
    call = {"id": "call-1", "name": "core_memory_append", "arguments": "{}"}
    Message.objects.create(
        **of(agent), step=step, run=step.run, number=99, role="assistant", tool_calls=[call]
    )
    first = edit_of(human.append("Lives in Riga", by=by))
    second = edit_of(human.append("Likes PIE", by=Editor.agent(step, "call-1")))
    third = edit_of(human.append("Likes tea", by=Editor.person(human.owner, Editor.API)))
    return [first, second, third, edit_of(human.undo(first, by=by))]


@pytest.mark.parametrize(
    ("query", "places"),
    [
        ({"by": "person:alice"}, [3, 0]),
        ({"by": "agent:Tutor"}, [1]),
        ({"by": "api:alice"}, [2]),
        ({"tool": "core_memory_append"}, [1]),
        ({"tool": "archival_memory_insert"}, []),
        ({"q": "riga"}, [3, 0]),
        ({"q": "likes pie"}, [1]),
        ({"q": "name: bob"}, []),  # no edit wrote it or took it away
        ({"q": "riga", "by": "person:alice", "since": "2020-01-01"}, [3, 0]),
        ({"until": "2020-01-01"}, []),
        ({"since": "nonsense"}, [3, 2, 1, 0]),
    ],
)
def test_the_history_is_filtered(
    query: dict[str, str], places: list[int], agent: Agent, edits: list[BlockEdit], web: Client
) -> None:
    html = shown(web, agent, **query)
    assert edits_in(html) == [edits[place].pk for place in places]
    assert ("No edit matches." in html) == (not places)
    assert "as it was created" not in html or "nonsense" in query.values()


def test_edits_are_filtered_by_the_day_they_were_made(
    agent: Agent, edits: list[BlockEdit], web: Client
) -> None:
    BlockEdit.plain.filter(pk=edits[1].pk).update(created_at=timezone.now() - timedelta(days=9))
    day = timezone.localdate() - timedelta(days=9)
    assert edits_in(shown(web, agent, since=day, until=day)) == [edits[1].pk]
    assert edits[1].pk not in edits_in(shown(web, agent, since=day + timedelta(days=1)))


def test_who_and_what_wrote_is_offered_to_choose_from(
    agent: Agent, edits: list[BlockEdit], web: Client
) -> None:
    html = shown(web, agent, by="api:alice")
    assert '<option value="api:alice" selected>alice (API)</option>' in html
    assert '<option value="agent:Tutor">Tutor</option>' in html
    assert "<option>core_memory_append</option>" in html


def test_new_edits_come_live_only_where_they_pass_the_filters(
    agent: Agent, human: Block, edits: list[BlockEdit], by: Editor, web: Client
) -> None:
    new = edit_of(human.append("Likes jam", by=by))
    address = reverse("newer_edits", args=[agent.pk])
    for editor, passes in (("person:alice", True), ("agent:Tutor", False)):
        answer = web.get(address, {"after": str(edits[-1].pk), "by": editor})
        assert (new.pk in edits_in(answer.content.decode())) == passes


def test_what_is_too_old_to_be_looked_through_is_said(
    agent: Agent, edits: list[BlockEdit], web: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history_filters, "MOST_EDITS", 2)
    html = shown(web, agent, by="person:alice")
    assert edits_in(html) == [edits[3].pk]
    assert "Only the newest edits were searched" in html
