"""A tool whose schema a script sent, on its page."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from agents.models import Tool
from tests.support.tool_pages import SHOUT, html


def test_the_page_keeps_a_scripts_schema_until_a_person_drops_it(web: Client, alice: User) -> None:
    schema = {"type": "object", "properties": {"words": {"type": "string"}}, "required": ["words"]}
    tool = Tool.from_source(alice, "def say(words):\n    return words\n", given_schema=schema)
    address = reverse("tool", args=[tool.pk])
    assert "Keep the script’s schema" in html(web.get(address))
    assert "Keep the script’s schema" not in html(web.get(reverse("tool_new")))

    form = {
        "source": "def say(words):\n    return words * 2\n",
        "seen": tool.updated_at.isoformat(),
    }
    assert web.post(address, form | {"keep_schema": "on"}).status_code == 302
    tool.refresh_from_db()
    assert tool.source.endswith("* 2\n")
    assert tool.json_schema["parameters"]["required"] == ["words"]

    form["seen"] = tool.updated_at.isoformat()
    refused = web.post(address, form)
    assert (refused.status_code, "no docstring" in html(refused)) == (422, True)

    form["source"] = SHOUT.replace("shout", "say")
    assert web.post(address, form).status_code == 302
    tool.refresh_from_db()
    assert (tool.given_schema, tool.description) == ({}, "Say it loudly.")
