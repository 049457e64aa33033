"""Which models people may choose, where there are accounts: those that an endpoint lists."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from agents.agent_file import export_agent, import_agent
from agents.llm import model_lists
from agents.models import Agent
from tests.support.api_client import Api
from tests.support.fake_openai import FakeOpenAI

pytestmark = pytest.mark.usefixtures("accounts")


@pytest.fixture
def listing(model: FakeOpenAI, settings: Settings) -> FakeOpenAI:
    """An endpoint that lists one model, beside the one the operator set."""
    settings.MODEL = "the-usual"
    return model


UNLISTED = ["gpt-9", "openai/gpt-9", "elsewhere/fake-model"]


@pytest.mark.parametrize("handle", UNLISTED)
def test_a_model_that_no_endpoint_lists_is_refused_by_every_door(
    handle: str, listing: FakeOpenAI, agent: Agent, web: Client
) -> None:
    script = Api(agent.owner)
    for told in (
        script.post("/agents/", {"model": handle, "memory_blocks": []}, expect=422),
        script.patch(f"/agents/agent-{agent.pk}", {"model": handle}, expect=422),
        script.patch(f"/agents/agent-{agent.pk}", {"llm_config": {"model": handle}}, expect=422),
    ):
        assert told["detail"][0]["loc"] == ["body", "model"]
        assert "model" in told["detail"][0]["msg"]
    form = {"name": "New", "template": "assistant", "system_prompt": "x", "model": handle}
    form |= {"blocks-TOTAL_FORMS": "0", "blocks-INITIAL_FORMS": "0"}
    settings_form = {"name": "Tutor", "max_steps": "50", "timezone": "UTC", "model": handle}
    for address in (reverse("agent_new"), reverse("agent_settings", args=[agent.pk])):
        page = web.post(address, form | settings_form)
        assert page.status_code == 422
        assert page.context["form"].errors.keys() == {"model"}
    ours = export_agent(agent)
    ours["memoryweb"]["agents"]["agent-0"]["settings"]["model"] = handle
    theirs = {name: part for name, part in export_agent(agent).items() if name != "memoryweb"}
    theirs["agents"][0]["model"] = handle
    for file in (ours, theirs):
        imported = import_agent(agent.owner, file)
        assert imported.agent.model == ""
        assert any(handle in note for note in imported.notes)
    assert Agent.objects.exclude(model="").count() == 0


@pytest.mark.parametrize(
    "handle", ["", "letta/letta-free", "fake-model", "openai/fake-model", "the-usual"]
)
def test_a_model_that_is_listed_or_usual_may_be_chosen(
    handle: str, listing: FakeOpenAI, agent: Agent, web: Client
) -> None:
    script = Api(agent.owner)
    script.patch(f"/agents/agent-{agent.pk}", {"model": handle})
    agent.refresh_from_db()
    assert agent.model == handle


def test_a_model_that_was_chosen_before_may_stay(
    listing: FakeOpenAI, agent: Agent, web: Client
) -> None:
    agent.configure(model="gone-since")
    form = {"name": "Renamed", "max_steps": "50", "timezone": "UTC", "model": "gone-since"}
    assert web.post(reverse("agent_settings", args=[agent.pk]), form).status_code == 302
    Api(agent.owner).patch(f"/agents/agent-{agent.pk}", {"model": "gone-since", "name": "Again"})
    agent.refresh_from_db()
    assert (agent.name, agent.model) == ("Again", "gone-since")


def test_an_endpoint_that_does_not_say_which_models_it_has_lets_none_be_chosen(
    agent: Agent, web: Client, settings: Settings
) -> None:
    settings.OPENAI_BASE_URL = "http://127.0.0.1:1/v1"
    model_lists.forget()
    form = {"name": "Tutor", "max_steps": "50", "timezone": "UTC", "model": "some-model"}
    page = web.post(reverse("agent_settings", args=[agent.pk]), form)
    assert page.status_code == 422
    assert "127.0.0.1:1" in page.content.decode()


def test_without_accounts_any_name_may_be_tried(
    listing: FakeOpenAI, own: Agent, client: Client, settings: Settings
) -> None:
    settings.ACCOUNTS = False
    form = {"name": "Own", "max_steps": "50", "timezone": "UTC", "model": "gpt-9"}
    assert client.post(reverse("agent_settings", args=[own.pk]), form).status_code == 302


def test_a_conversation_may_have_no_other_model_either(
    listing: FakeOpenAI, agent: Agent, web: Client
) -> None:
    script, one = Api(agent.owner), f"agent_id=agent-{agent.pk}"
    script.post(f"/conversations/?{one}", {"model": "gpt-9"}, expect=422)
    made = script.post(f"/conversations/?{one}", {"model": "fake-model"})
    script.patch(f"/conversations/{made['id']}", {"model": "gpt-9"}, expect=422)
    script.patch(f"/conversations/{made['id']}", {"model": "fake-model", "summary": "Same"})
