"""What is to be changed was deleted at the same moment: that is said, and nothing is stored."""

from __future__ import annotations

import pytest
from django.test import Client

from agents.models import Agent, Conversation
from agents.pages.request import Request, find_agent
from tests.support.pages import at

pytestmark = pytest.mark.django_db(transaction=True)
WORDS = "Something else was changed at the same time."


@pytest.fixture
def web_of_a_browser(web: Client) -> Client:
    web.raise_request_exception = False
    return web


@pytest.fixture
def is_deleted_once_found(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    def find(request: Request, *args: object) -> Agent:
        found = find_agent(request, agent.pk)
        Agent.objects.filter(pk=agent.pk).delete()
        return found

    for module in ("agent_list", "conversations"):
        monkeypatch.setattr(f"agents.pages.{module}.find_agent", find)


@pytest.mark.usefixtures("is_deleted_once_found")
@pytest.mark.parametrize(
    ("name", "form"), [("agent_listed", {"pinned": "1"}), ("agent_rename", {"name": "Ben"})]
)
def test_a_form_is_refused_in_words(
    name: str, form: dict[str, str], web_of_a_browser: Client, agent: Agent
) -> None:
    refused = web_of_a_browser.post(at(name, agent), form, headers={"HX-Request": "true"})
    assert refused.status_code == 409
    assert f"{WORDS} This was not saved; try again" in refused.content.decode()


@pytest.mark.usefixtures("is_deleted_once_found")
def test_a_page_is_refused_in_words(web_of_a_browser: Client, agent: Agent) -> None:
    begun = web_of_a_browser.post(at("conversation_new", agent))
    assert begun.status_code == 409
    assert f"{WORDS} Your last change was not saved" in begun.content.decode()
    assert "Not saved" in begun.content.decode()
    assert not Conversation.objects.exists()
