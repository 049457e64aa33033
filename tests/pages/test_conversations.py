"""Lists of conversations: they go on however many there are."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from agents.models import Agent, Conversation
from agents.models.conversation import MOST_LISTED
from agents.pages import conversations
from tests.support.pages import at


@pytest.fixture
def many(agent: Agent) -> list[Conversation]:
    """The newest first; two of them were spoken in at the same moment."""
    start = timezone.now() - timedelta(days=1)
    rows = [
        Conversation(
            agent=agent, title=f"Talk {n}", last_message_at=start - timedelta(hours=n - n % 2)
        )
        for n in range(MOST_LISTED + 15)
    ]
    Conversation.objects.bulk_create(rows)
    agent.first_conversation.archive()
    return list(agent.conversations.listed())


def test_the_list_of_agents_leads_on_to_the_conversations_it_does_not_show(
    web: Client, agent: Agent, many: list[Conversation]
) -> None:
    page = web.get(at("agent", agent.pk)).content.decode()
    (address,) = re.findall(r'href="([^"]+\?after=[^"]+)"', page)
    assert many[MOST_LISTED - 1].get_absolute_url() in page
    assert many[MOST_LISTED].get_absolute_url() not in page
    older = web.get(address).content.decode().partition("all-conversations")[2]
    titles = re.findall(r">(Talk \d+)</a>", older)
    assert titles == [each.title for each in many[MOST_LISTED:]]


def test_the_page_of_all_goes_on_to_its_end(
    web: Client, agent: Agent, many: list[Conversation], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversations, "LISTED", 7)
    address, found = at("conversations", agent.pk), []
    for _ in range(len(many)):
        page = web.get(address, headers={"HX-Request": "true"}).content.decode()
        assert "<html" not in page
        found += re.findall(r">(Talk \d+)</a>", page)
        if not (following := re.search(r'hx-get="([^"]+)"', page)):
            break
        address = following[1]
    assert found == [each.title for each in many]
    assert web.get(f"{at('conversations', agent.pk)}?after=nonsense").status_code == 200
