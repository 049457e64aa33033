"""The welcome page: a person who has no agents says something, and has one; the gallery below."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from agents.llm import ModelError
from agents.memory import gallery
from agents.memory.gallery import CHAT_TRIES, GALLERY, NAMES, free_name
from agents.models import Agent, Quota
from agents.pages import welcome
from tests.support.pages import at, shown
from tests.support.quotas import use

HELLO = "I am Sarah, & I like <cherry> pie"


def key_in(page: Any) -> str:
    (key,) = re.findall(r'name="key" value="(\w+)"', page.content.decode())
    return str(key)


def typed_in(page: Any) -> str:
    (text,) = re.findall(r'name="text".*?>(.*?)</textarea>', page.content.decode(), re.DOTALL)
    return str(text).strip().replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def test_what_is_said_makes_an_agent_which_answers(web: Client, alice: User) -> None:
    page = web.get(at("home"))
    assert "Say something to your first agent" in shown(page)
    sent = {"text": HELLO, "key": key_in(page)}
    response = web.post(at("home"), sent)
    agent = alice.agents.get()
    assert response.headers["Location"] == at("agent", agent)
    assert agent.name in NAMES
    assert [block.label for block in agent.core_memory()] == ["persona", "human"]
    assert agent.name in agent.core_memory()[0].value
    assert [(run.text, run.status) for run in agent.runs.all()] == [(HELLO, "running")]
    again = web.post(at("home"), sent)  # a double click
    assert again.headers["Location"] == at("agent", agent)
    assert Agent.objects.count() == 1
    assert web.get(at("home")).headers["Location"] == at("agent", agent)


def test_examples_are_in_the_language_of_the_page_where_the_model_understands_it(
    web: Client, bobs_web: Client, agent: Agent, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    def offered() -> tuple[str, str]:
        return shown(bobs_web.get(at("home"))), shown(web.get(at("agent", agent)))

    first, later = GALLERY["assistant"].tries[0], CHAT_TRIES[-1]
    agent.configure(model="")
    monkeypatch.setattr(gallery, "gettext", str.swapcase)
    welcomed, chat = offered()  # where the demo model answers, which understands English
    assert first in welcomed
    assert later in chat
    settings.OPENAI_BASE_URL = "http://127.0.0.1:9/v1"
    settings.MODEL = "some-model"
    welcomed, chat = offered()
    assert first.swapcase() in welcomed
    assert later.swapcase() in chat


def test_an_example_is_sent_as_it_stands(web: Client, alice: User) -> None:
    example = GALLERY["assistant"].tries[0]
    assert example in shown(web.get(at("home")))
    web.post(at("home"), {"text": "", "key": "k", "example": example})
    assert alice.agents.get().runs.get().text == example


def test_nobody_gets_at_the_agent_of_another_by_the_same_key(
    web: Client, bobs_web: Client, alice: User, bob: User
) -> None:
    for client in (web, bobs_web):
        client.post(at("home"), {"text": "Hello", "key": "same"})
    assert alice.agents.count() == bob.agents.count() == 1


def test_a_refusal_says_why_and_keeps_what_was_typed(
    web: Client, alice: User, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(status: int, words: str, text: str = HELLO) -> None:
        page = web.post(at("home"), {"text": text, "key": "k"})
        assert words in shown(page, status)
        assert typed_in(page) == text.strip()
        assert not Agent.objects.exists()

    refused(422, "empty", "  ")
    refused(422, "100,000", "x" * 100_001)
    settings.AGENTS_LIMIT = 0
    refused(429, "one person may have at most 0")
    settings.AGENTS_LIMIT = 10
    quota = Quota.objects.create(user=alice, tokens_a_day=10)
    use(alice, 20)
    refused(429, "You have used up your 10 tokens a day.")
    quota.delete()

    def nobody_answers(*_: Any, **__: Any) -> None:
        raise ModelError("The endpoint 'x' does not answer.")

    monkeypatch.setattr(welcome, "resolve", nobody_answers)
    refused(422, "The endpoint 'x' does not answer.")


def test_each_template_of_the_gallery_makes_an_agent(web: Client, alice: User) -> None:
    gallery = shown(web.get(at("home")))
    for key, template in GALLERY.items():
        assert template.sentence in gallery
        page = web.get(at("agent_new"), {"template": key}).content.decode()
        assert re.search(rf'value="{key}"[^>]*\schecked', page), key
        labels = re.findall(r'name="blocks-\d+-label" value="(\w+)"', page)
        assert labels == list(template.memory().blocks), key
        Agent.create(alice, key, template.memory())  # its blocks are such as can be stored


def test_one_agent_too_many_is_refused_with_what_was_typed(web: Client, settings: Any) -> None:
    settings.AGENTS_LIMIT = 0
    form = {"name": "Mine, Sir", "template": "own", "system_prompt": "Be kind."}
    form |= {"blocks-TOTAL_FORMS": "0", "blocks-INITIAL_FORMS": "0"}
    page = web.post(at("agent_new"), form)
    assert "one person may have at most 0" in shown(page, 429)
    assert "Mine, Sir" in page.content.decode()
    assert "Be kind." in page.content.decode()


def test_names_do_not_run_out() -> None:
    taken: set[str] = set()
    for _ in range(30):
        taken.add(free_name(taken))
    assert len(taken) == 30
