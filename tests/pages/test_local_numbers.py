"""Numbers of the pages: as the language writes them, but for those a picture is drawn from."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from agents.models import Agent, Block
from tests.support.ledger import step_of

pytestmark = pytest.mark.django_db
DRAWN = re.compile(r'\b(?:x|y|x1|x2|y1|y2|width|height)="([^"]*)"')


def test_a_picture_has_points_whatever_the_language_writes(
    web: Client, agent: Agent, human: Block, settings: Settings
) -> None:
    settings.LANGUAGES = [("en", "English"), ("de", "Deutsch")]
    for number in (1, 2, 3):
        step_of(agent, number)
    address = reverse("agent", args=[agent.pk])
    pages = {
        (language, name): web.get(
            f"{address}?panel={name}", headers={"accept-language": language}
        ).content.decode()
        for language in ("en", "de")
        for name in ("context", "growth")
    }
    for name in ("context", "growth"):
        drawn = DRAWN.findall(pages["de", name])
        assert not [each for each in drawn if "," in each]
        assert drawn == DRAWN.findall(pages["en", name])
    assert re.search(r"\d,\d %", pages["de", "context"])
    assert re.search(r"\d\.\d{3}\b", pages["de", "context"])
