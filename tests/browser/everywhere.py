"""Every page of a site with one of everything, for tests that go through them all.

The pages are found, not listed: whatever address answers with a whole page is one.
"""

from __future__ import annotations

import json
from typing import Any

from django.urls import reverse

from agents.permissions import PAGES
from tests.browser.stage import Stage
from tests.support.addresses import named
from tests.support.fake_openai import FakeOpenAI
from tests.support.server import MemoryWeb
from tests.support.visitor import PASSWORD, Visitor

FURNISH = "from tests.browser.furniture import furnish; furnish()"
# What addresses name besides rows; of a secret nobody knows, there is a page that says so.
WORDS = {"secret": "unknown", "provider_id": "unknown", "pk": 1, "key": "unknown", "uidb36": "1"}
# Parts of pages that are asked for something, and are not there where nothing is asked for.
ASKED = ("agent_new_first_blocks", "tool_rules", "context_part", "past_part", "conversation_export")
# Pages whose address says more than its name, what the libraries of others have, and no page.
MORE = (
    *("agents/{agent_id}/?panel=context", "agents/{agent_id}/?panel=archival"),
    *("agents/{agent_id}/?panel=history", "agents/{agent_id}/?panel=tools"),
    *("agents/{agent_id}/past/1/", "nowhere/"),
    *("admin/", "admin/agents/agent/", "admin/agents/agent/{agent_id}/change/"),
    *("admin/agents/agent/{agent_id}/delete/", "admin/agents/agent/{agent_id}/history/"),
    *("admin/agents/run/?now=any", "admin/agents/usage/", "admin/agents/auditentry/"),
    *("admin/agents/schedule/", "admin/agents/event/"),
    *("admin/agents/modelendpoint/add/", "admin/agents/modelendpoint/{endpoint_id}/test/"),
    *("admin/agents/quota/add/", "admin/agents/block/", "admin/auth/user/add/"),
    *("admin/auth/user/1/change/", "admin/auth/user/1/leave/"),
)
# To somebody who is not logged in.
DOORS = ("accounts/login/", "accounts/signup/", "accounts/password/reset/", "accounts/first/no/")


class Site:
    """A server at which an administrator is logged in, who has one of everything."""

    def __init__(self, server: MemoryWeb, model: FakeOpenAI) -> None:
        self.server, self.model = server, model
        self.visitor = Visitor(server.url)
        self.visitor.sign_up("ana")
        self.other = Visitor(server.url)
        self.other.sign_up("ben")
        server.cookies = self.visitor.cookies | server.cookies
        self.visitor.post("/accounts/reauthenticate/", password=PASSWORD)
        self.token = ""
        self.stage("Tutor")
        done = server.command("shell", "--no-imports", "-c", FURNISH)
        assert done.returncode == 0, done.stderr
        self.ids: dict[str, Any] = WORDS | json.loads(done.stdout)
        self.token = self.ids.pop("token")

    def stage(self, name: str = "Ruth") -> Stage:
        """An agent of its own, with an exchange behind it."""
        agent = self.server.make_agent(name, human="Name: Bob")
        stage = Stage(self.server, self.model, agent, token=self.token)
        stage.converse()
        return stage

    def pages(self) -> list[str]:
        """The paths of all whole pages."""
        found = dict.fromkeys(path.format(**self.ids) for path in MORE)
        for name, needed in named("memoryweb.urls"):
            assert needed <= self.ids.keys(), f"{name} names what is not in furniture.py: {needed}"
            address = reverse(name, kwargs={each: self.ids[each] for each in needed})
            answer = self.visitor.get(address)
            known = answer.status in (200, 302, 403, 405) or name not in PAGES or name in ASKED
            assert known, f"{name}: {address} answers {answer.status}"
            if answer.status == 200 and answer.said.lstrip()[:15].lower() == "<!doctype html>":
                found[answer.url.removeprefix(f"{self.server.url}/").split("?")[0]] = None
        return list(found)
