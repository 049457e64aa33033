"""Each page is sent its own language, whoever did what it is told of."""

from __future__ import annotations

import pytest
from asgiref.sync import sync_to_async
from django.utils import translation
from pytest_django import Settings

from agents.models import Agent
from tests.support.followed_page import Open, edit

pytestmark = pytest.mark.django_db(transaction=True)
LANGUAGES = [("en", "English"), ("de", "Deutsch"), ("uk", "Українська")]
SHOW_ALL = {"en": "Copy", "de": "Kopieren", "uk": "Копіювати"}


def edit_in(language: str, agent: Agent, value: str) -> int:
    with translation.override(language):
        return edit(agent, value)


@pytest.mark.parametrize("editors", ["en", "uk"])
async def test_an_event_comes_in_the_language_of_each_page_and_in_no_other(
    agent: Agent, open_page: Open, settings: Settings, editors: str, list_comes_soon: None
) -> None:
    settings.LANGUAGES = LANGUAGES
    pages = {code: await open_page(agent, language=code) for code, _ in LANGUAGES}
    seq = await sync_to_async(edit_in)(editors, agent, "Likes cherry pie")
    for language, page in pages.items():
        await page.up_to(seq)
        said = {code for code, word in SHOW_ALL.items() if f">{word}<" in page.html}
        assert said == {language}


async def test_what_a_page_missed_is_drawn_from_the_log_in_its_language(
    agent: Agent, open_page: Open, settings: Settings
) -> None:
    settings.LANGUAGES = LANGUAGES
    seq = await sync_to_async(edit_in)("uk", agent, "Likes cherry pie")
    page = await open_page(agent, after=seq - 1, language="de")
    await page.up_to(seq)
    assert ">Kopieren<" in page.html


async def test_a_language_that_is_not_offered_is_not_spoken(agent: Agent, open_page: Open) -> None:
    page = await open_page(agent, language="tlh")
    seq = await sync_to_async(edit)(agent, "Likes cherry pie")
    await page.up_to(seq)
    assert ">Copy<" in page.html
