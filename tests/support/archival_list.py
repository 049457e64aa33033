"""The list of passages in the panel, as tests read it."""

from __future__ import annotations

import html as entities
import re
from datetime import UTC, datetime, timedelta
from typing import Any

from django.test import Client
from django.urls import reverse

from agents.models import Agent, Editor, Passage

START = datetime(2026, 1, 1, tzinfo=UTC)


def kept(agent: Agent, count: int, by: Editor, *tags: str) -> list[Passage]:
    """So many passages, a minute apart, each of which says its number; oldest first."""
    return [
        Passage.insert(agent, f"Note {n}", tags, by=by, created_at=START + timedelta(minutes=n))
        for n in range(1, count + 1)
    ]


def get(web: Client, agent: Agent, name: str = "archival", **query: Any) -> str:
    response = web.get(reverse(name, args=[agent.pk]), query)
    assert response.status_code == 200
    return response.content.decode()


def tab(web: Client, agent: Agent, **query: Any) -> str:
    response = web.get(reverse("panel_tab", args=[agent.pk, "archival"]), query)
    assert response.status_code == 200
    return response.content.decode()


def passages_in(html: str) -> list[int]:
    return [int(pk) for pk in re.findall(r'<li class="kept" id="passage-(\d+)"', html)]


def plain(html: str) -> str:
    return " ".join(entities.unescape(re.sub(r"<[^>]+>", " ", html)).split())


def link_in(html: str, name: str) -> str:
    """The address, within `html`, that leads to the view of that name."""
    path = reverse(name, args=[re.findall(r"agents/([0-9a-f-]{36})/archival", html)[0]])
    return entities.unescape(re.findall(rf'"({path}\?[^"]*)"', html)[-1])


def since(web: Client, html: str) -> str:
    """What a list that was drawn so is told when something has happened."""
    response = web.get(link_in(html, "archival_newer"))
    assert response.status_code == 200
    return response.content.decode()


def version(row: Passage) -> str:
    return Passage.objects.get(pk=row.pk).updated_at.isoformat()
