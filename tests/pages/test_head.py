"""What is in the head of every page: the theme before anything is drawn, icons, the app."""

from __future__ import annotations

import json
import re
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles import finders
from django.test import Client

from agents.models import Agent
from tests.support.pages import at


def head_of(client: Client, address: str) -> str:
    return client.get(address).content.decode().partition("</head>")[0]


def test_the_theme_is_chosen_before_anything_is_drawn(web: Client, agent: Agent) -> None:
    for address in (at("agent", agent), at("agent_new"), at("account_logout")):
        (tag,) = re.findall(r"<script[^>]*js/theme[^>]*>", head_of(web, address))
        assert "defer" not in tag
        assert "async" not in tag


def test_the_app_can_be_installed(web: Client, agent: Agent) -> None:
    assert 'rel="manifest"' in head_of(web, at("agent", agent))
    found = finders.find("app.webmanifest")
    assert isinstance(found, str)
    manifest = json.loads(Path(found).read_text())
    assert (manifest["start_url"], manifest["display"]) == ("../", "standalone")
    assert {"192x192", "512x512"} <= {each["sizes"] for each in manifest["icons"]}
    for icon in manifest["icons"]:
        assert finders.find(icon["src"]), icon
    assert settings.WHITENOISE_MIMETYPES[".webmanifest"] == "application/manifest+json"
