"""Which language a page speaks: the chosen one, else the browser's, else English."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from agents.models import Agent

pytestmark = pytest.mark.django_db
LANGUAGES = [("en", "English"), ("de", "Deutsch"), ("uk", "Українська"), ("ar", "العربية")]


@pytest.fixture(autouse=True)
def several(settings: Settings) -> None:
    settings.LANGUAGES = LANGUAGES


def test_the_browser_says_which_and_the_choice_is_kept(web: Client, agent: Agent) -> None:
    address = reverse("agent", args=[agent.pk])
    page = web.get(address, headers={"accept-language": "de-AT,en;q=0.5"}).content.decode()
    assert '<html lang="de" dir="ltr">' in page
    assert ">Einstellungen<" in page
    assert 'hx-ws:connect="/ws/?language=de"' in page
    assert "js/catalog/de" in page
    web.post(reverse("set_language"), {"language": "uk"}, headers={"referer": address})
    page = web.get(address, headers={"accept-language": "de"}).content.decode()
    assert '<html lang="uk" dir="ltr">' in page
    assert ">Налаштування<" in page


def test_no_other_language_is_left_behind(web: Client, agent: Agent) -> None:
    for language in ("de", "en", "uk"):
        web.get(reverse("agent", args=[agent.pk]), headers={"accept-language": language})
    page = web.get(reverse("agent", args=[agent.pk])).content.decode()
    assert '<html lang="en" dir="ltr">' in page
    assert ">Settings<" in page


def test_a_language_from_right_to_left_says_so(web: Client, agent: Agent) -> None:
    page = web.get(
        reverse("agent", args=[agent.pk]), headers={"accept-language": "ar"}
    ).content.decode()
    assert '<html lang="ar" dir="rtl">' in page


def test_what_is_not_offered_is_not_spoken(web: Client, agent: Agent, settings: Settings) -> None:
    settings.LANGUAGES = [("en", "English")]
    page = web.get(
        reverse("agent", args=[agent.pk]), headers={"accept-language": "de"}
    ).content.decode()
    assert '<html lang="en" dir="ltr">' in page
    assert not re.search(r'class="languages"', page)


def test_programs_are_answered_in_english(web: Client) -> None:
    answer = web.get("/v1/agents/none", headers={"accept-language": "de"})
    assert answer.headers["content-language"] == "en"
