"""The page of an agent's secrets: it takes values in and never gives one out."""

from __future__ import annotations

import logging

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from agents.agent_file import written
from agents.models import Agent
from agents.models.secrets import MOST, decrypted
from tests.support.pages import at, shown

VALUE = "swordfish-4711"


def put(web: Client, agent: Agent, name: str, value: str = VALUE) -> int:
    return web.post(at("secrets", agent.pk), {"name": name, "value": value}).status_code


def secrets(agent: Agent) -> dict[str, str | None]:
    agent.refresh_from_db()
    return decrypted(agent.secrets)


def test_a_secret_is_added_replaced_and_deleted(web: Client, agent: Agent) -> None:
    assert at("secrets", agent.pk) in web.get(at("agent_settings", agent.pk)).content.decode()
    assert "has no secrets" in shown(web.get(at("secrets", agent.pk)))
    assert put(web, agent, "KEY") == 302
    put(web, agent, "OTHER", "o")
    assert secrets(agent) == {"KEY": VALUE, "OTHER": "o"}
    put(web, agent, "KEY", "new")
    assert secrets(agent) == {"KEY": "new", "OTHER": "o"}
    assert web.get(at("secret_delete", agent.pk)).status_code == 405
    for _ in range(2):
        web.post(at("secret_delete", agent.pk), {"name": "KEY"})
    assert secrets(agent) == {"OTHER": "o"}


def test_no_page_file_log_or_admin_shows_a_value(
    web: Client, desk: Client, agent: Agent, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        put(web, agent, "KEY")
        assert put(web, agent, "NOT A NAME") == 422
        refused = web.post(at("secrets", agent.pk), {"name": "9", "value": VALUE})
        pages = [web.get(at(name, agent.pk)) for name in ("secrets", "agent_settings", "agent")]
        admin = desk.get(f"/admin/agents/agent/{agent.pk}/change/")
    assert "KEY" in shown(pages[0])
    assert pages[0]["Cache-Control"].startswith("max-age=0")
    agent.refresh_from_db()
    everything = "".join(each.content.decode() for each in (*pages, refused, admin))
    everything += "".join(written(agent)) + caplog.text + repr(agent.secrets)
    everything += "".join(str(each.data) for each in agent.events.all())
    assert VALUE not in everything
    assert '"KEY":""' in "".join(written(agent))


def test_what_cannot_be_is_said(web: Client, agent: Agent) -> None:
    page = web.post(at("secrets", agent.pk), {"name": "A B", "value": "x"}).content.decode()
    assert "is not a name of at most 100 letters" in page
    assert 'value="A B"' in page
    assert put(web, agent, "A", "x" * 10_001) == 422
    agent.put_secrets({f"A{n}": "" for n in range(MOST)})
    assert put(web, agent, "A0") == 302
    assert put(web, agent, "ONE_MORE") == 422


def test_a_secret_of_another_key_is_shown_as_such_and_entered_anew(
    web: Client, agent: Agent, settings: Settings
) -> None:
    before = settings.SECRET_KEY
    agent.put_secrets({"KEY": VALUE})
    settings.SECRET_KEY = "another one"
    agent.put_secrets({"OTHER": "o"})
    settings.SECRET_KEY = before
    page = shown(web.get(at("secrets", agent.pk)))
    assert page.count("Cannot be read with the present key; enter it anew.") == 1
    put(web, agent, "OTHER")
    assert "Cannot be read" not in shown(web.get(at("secrets", agent.pk)))


def test_nobody_else_sees_or_changes_them(bobs_web: Client, agent: Agent, bob: User) -> None:
    assert bobs_web.get(at("secrets", agent.pk)).status_code == 404
    assert put(bobs_web, agent, "KEY") == 404
    assert bobs_web.post(at("secret_delete", agent.pk), {"name": "KEY"}).status_code == 404
    assert secrets(agent) == {}
