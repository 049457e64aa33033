"""The panel's history while it is open: what its list is told when something has changed."""

from __future__ import annotations

import re
from typing import Any

from django.test import Client
from django.urls import reverse

from agents.models import Agent, Block, Editor
from agents.pages.history import EDITS_A_PAGE
from tests.conftest import edit_of
from tests.support.ledger import edits_in, entry_in, shown, written


def since(web: Client, agent: Agent, **query: Any) -> Any:
    return web.get(reverse("newer_edits", args=[agent.pk]), query)


def test_nothing_new_is_said_without_a_word(
    agent: Agent, human: Block, by: Editor, web: Client
) -> None:
    edit = written(human, 1, by)[0]
    assert since(web, agent, after=edit.pk).status_code == 204


def test_new_edits_come_with_those_they_changed(
    agent: Agent, human: Block, by: Editor, web: Client
) -> None:
    edits = written(human, 5, by)
    undo = edit_of(human.undo(edits[4], by=by))
    restore = edit_of(human.restore(2, by=by))
    html = since(web, agent, after=edits[4].pk).content.decode()
    parts = re.findall(r'<hx-partial hx-target="([^"]+)"', html)
    assert parts == ["#edits", f"#edit-{edits[4].pk}", f"#edit-{edits[1].pk}", "#newer-edits"]
    assert edits_in(html)[:2] == [restore.pk, undo.pk]
    assert "undone by version 6" in entry_in(html, edits[4])
    assert f"after={restore.pk}" in html


def test_a_list_of_the_past_is_told_only_what_became_of_its_own(
    agent: Agent, human: Block, by: Editor, web: Client
) -> None:
    edits = written(human, 3, by)
    undo = edit_of(human.undo(edits[2], by=by))
    html = since(web, agent, after=edits[2].pk, past=1).content.decode()
    assert undo.pk not in edits_in(html)
    assert edits[2].pk in edits_in(html)


def test_after_very_many_new_edits_the_list_begins_anew(
    agent: Agent, human: Block, by: Editor, web: Client
) -> None:
    edits = written(human, EDITS_A_PAGE + 3, by)
    html = since(web, agent, after=edits[0].pk).content.decode()
    assert 'hx-target="#panel-history"' in html
    assert edits_in(html) == [edit.pk for edit in reversed(edits)][:EDITS_A_PAGE]


def test_the_first_edit_makes_the_first_value_restorable(
    agent: Agent, human: Block, by: Editor, web: Client
) -> None:
    assert "Restore" not in shown(web, agent)
    written(human, 1, by)
    html = since(web, agent, after=0).content.decode()
    assert f'<hx-partial hx-target="#origin-{human.pk}"' in html
    assert reverse("block_restore", args=[agent.pk, human.pk, 0]) in html
