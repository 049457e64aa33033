"""A model is chosen for an agent from what the endpoints list, and tried out."""

from __future__ import annotations

import html

from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from agents.models import Agent, Conversation
from tests.support.fake_openai import FakeOpenAI, calls, refuse_connection, status, text
from tests.support.pages import shown


def test_the_models_of_every_endpoint_can_be_chosen_and_a_silent_one_is_named(
    web: Client, agent: Agent, model: FakeOpenAI, settings: Settings
) -> None:
    settings.ENDPOINTS = {"work": model.base_url, "gone": refuse_connection()}
    for address in (reverse("models", args=[agent.pk]), reverse("models_new")):
        page = web.get(address).content.decode()
        assert '<option value="fake-model">' in page
        assert '<option value="work/fake-model">' in page
        assert "Nothing answers at" in page


def test_the_test_says_in_words_what_a_model_can_do(
    web: Client, agent: Agent, model: FakeOpenAI
) -> None:
    model.script(text("1 2 3"), calls(("note_colour", {"colour": "blue"})))
    address = reverse("model_test", args=[agent.pk])
    said = shown(web.post(address, {"model": "fake-model"}))
    assert "'fake-model' streams:" in said
    assert "'fake-model' calls tools." in said
    assert "Its context window has" in said
    said = shown(web.post(reverse("model_test_new"), {"model": "nowhere/fake"}))
    assert "There is no model 'nowhere/fake' here" in said


def test_the_test_asks_as_the_form_says_and_names_what_is_refused(
    web: Client, agent: Agent, model: FakeOpenAI
) -> None:
    refusal = status(400, "Unsupported parameter: 'temperature' is not supported with this model.")
    model.script(refusal, text("1 2 3"), calls(("note_colour", {"colour": "blue"})))
    form = {"model": "fake-model", "model_settings-temperature": "0.3"}
    form["model_settings-top_p"] = "0.9"
    said = shown(web.post(reverse("model_test", args=[agent.pk]), form))
    assert "'fake-model' does not take temperature, so it is left out. It said: Unsupported" in said
    first, second, third = model.requests[-3:]
    assert (first["temperature"], first["top_p"]) == (0.3, 0.9)
    assert "temperature" not in second
    assert third["top_p"] == 0.9
    agent.configure(model="fake-model")
    page = shown(web.get(reverse("agent_settings", args=[agent.pk])))
    assert page.count("The model does not take this, so it is left out.") == 1
    form["model_settings-temperature"] = "7"
    said = shown(web.post(reverse("model_test", args=[agent.pk]), form))
    assert "temperature must be a number from 0 to 2." in said


def test_the_model_is_named_in_the_chat_and_changed_from_there(
    web: Client, agent: Agent, model: FakeOpenAI, settings: Settings
) -> None:
    settings.ENDPOINTS = {"work": model.base_url, "home": model.base_url}
    chat = reverse("agent", args=[agent.pk])
    choose = reverse("model_choose", args=[agent.pk, agent.pk])
    assert "fake-model" in shown(web.get(chat))
    assert web.post(choose, {"model": "work/fake-model"}).status_code == 302
    agent.refresh_from_db()
    assert agent.model == "work/fake-model"
    assert "work/fake-model" in shown(web.get(chat))
    conversation = Conversation.create(agent, model="fake-model")
    choose = reverse("model_choose", args=[agent.pk, conversation.pk])
    web.post(choose, {"model": "home/fake-model"})
    conversation.refresh_from_db()
    agent.refresh_from_db()
    assert (agent.model, conversation.model) == ("work/fake-model", "home/fake-model")
    refused = web.post(choose, {"model": "gpt-9"}, headers={"HX-Request": "true"})
    assert refused.status_code == 422
    assert "does not list a model 'gpt-9'" in html.unescape(refused.content.decode())
