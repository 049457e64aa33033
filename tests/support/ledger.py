"""The ledger, as tests write it and as the panel shows it."""

from __future__ import annotations

import re
from typing import Any

from django.test import Client
from django.urls import reverse

from agents.ledger.blame import blame
from agents.models import Agent, Block, BlockEdit, Editor, Run, Step
from tests.conftest import edit_of
from tests.support.stored import of


def step_of(agent: Agent, number: int = 1) -> Step:
    """A step of a run of its own."""
    run = Run.objects.create(**of(agent), key=f"k{number}", text="Hello", status=Run.Status.DONE)
    return Step.objects.create(run=run, number=number, model="m", endpoint="e")


def written(block: Block, count: int, by: Editor) -> list[BlockEdit]:
    """So many edits, each of which says its number."""
    return [edit_of(block.set_value(f"Count: {n}", by=by)) for n in range(1, count + 1)]


def shown(web: Client, agent: Agent, name: str = "history", **query: Any) -> str:
    response = web.get(reverse("panel_tab", args=[agent.pk, name]), query)
    assert response.status_code == 200
    return response.content.decode()


def edits_in(html: str) -> list[int]:
    return [int(pk) for pk in re.findall(r'<li class="edit [^>]*id="edit-(\d+)"', html)]


def lines_by_version(block: Block) -> list[tuple[str, int]]:
    """Each line and the version that wrote it; 0 is the first value."""
    return [(line.text, line.edit.version if line.edit else 0) for line in blame(block).lines]


def entry_in(html: str, edit: BlockEdit) -> str:
    """One edit's entry, its tags taken off."""
    found = re.search(rf'<li [^>]*id="edit-{edit.pk}".*?</li>', html, re.DOTALL)
    assert found
    return " ".join(re.sub(r"<[^>]+>", "", found[0]).split())
