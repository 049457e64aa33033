"""The doors through which a block is written: each as somebody uses it, from opening to saving."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from agents.models import Agent, Block, BlockEdit, Editor, Event, Tool
from tests.conftest import Ask
from tests.support.admin_forms import address, opened
from tests.support.api_client import Api
from tests.support.fake_openai import FakeOpenAI, calls, text
from tests.support.pages import at

WRITE = '''
def write(agent_state: "AgentState", label: str, value: str):
    """Write a block.

    Args:
        label: Which.
        value: What it becomes.
    """
    agent_state.memory.update_block_value(label, value)
'''


class Door:
    """One person, with an agent of theirs, writes a block; `editor` is what the ledger shows."""

    kind: str = Editor.PERSON
    by_agent = False  # the agent writes, and begins from no version

    def __init__(self, user: User, agent: Agent, request: pytest.FixtureRequest) -> None:
        self.user, self.agent, self.request = user, agent, request
        self.web = Client()
        self.web.force_login(user)

    @property
    def editor(self) -> tuple[str, str]:
        return self.kind, self.user.username

    def open(self, block: Block) -> None:
        """Look at the block: what is written later begins from what it is now."""
        self.version = block.version

    def write(self, block: Block, value: str) -> bool:
        """Write it; whether the door says that it was written."""
        raise NotImplementedError

    def succeeded(self, response: Any) -> bool:
        """Refusals are answers, not failures of the server."""
        assert response.status_code in (200, 302, 404, 409, 422), response.content
        return bool(response.status_code == 200)


class Page(Door):
    """A block's own page."""

    def write(self, block: Block, value: str) -> bool:
        form = {"value": value, "version": str(self.version)}
        return self.succeeded(self.web.post(at("block_value", block), form))


class Panel(Door):
    """The panel beside an agent's conversation."""

    def write(self, block: Block, value: str) -> bool:
        form = {"value": value, "version": str(self.version)}
        return self.succeeded(self.web.post(at("block_edit", self.agent, block), form))


class Script(Door):
    """The API, by the block's id."""

    kind = Editor.API

    def path(self, block: Block) -> str:
        return f"/v1/blocks/block-{block.pk}"

    def write(self, block: Block, value: str) -> bool:
        body = {"value": value, "version": self.version}
        headers = Api(self.user).headers
        sent = self.web.patch(self.path(block), body, "application/json", headers=headers)
        return self.succeeded(sent)


class ScriptByLabel(Script):
    """The API, by the agent and the block's label."""

    def path(self, block: Block) -> str:
        return f"/v1/agents/agent-{self.agent.pk}/core-memory/blocks/{block.label}"


class Desk(Door):
    """The admin, where an operator may write any block."""

    kind = Editor.ADMIN

    def __init__(self, *cast: Any) -> None:
        super().__init__(*cast)
        self.user = User.objects.create_superuser("olga")
        self.web.force_login(self.user)

    def open(self, block: Block) -> None:
        self.form = opened(self.web, block)

    def write(self, block: Block, value: str) -> bool:
        response = self.web.post(address(block), {**self.form, "value": value})
        assert response.status_code in (200, 302)
        return response.headers.get("Location") == reverse("admin:agents_block_changelist")


class BuiltInTool(Door):
    """The agent, with a tool that comes with memoryweb."""

    kind = Editor.AGENT
    by_agent = True

    @property
    def editor(self) -> tuple[str, str]:
        return self.kind, self.agent.name

    def open(self, block: Block) -> None:
        self.agent.configure(tools=["memory_rethink"])

    def call(self, block: Block, value: str) -> tuple[str, dict[str, str]]:
        return "memory_rethink", {"label": block.label, "new_memory": value}

    def write(self, block: Block, value: str) -> bool:
        model: FakeOpenAI = self.request.getfixturevalue("model")
        ask: Ask = self.request.getfixturevalue("ask")
        model.script(calls(self.call(block, value)), text("Well."))
        run = ask("Write it", of=self.agent)
        returned = run.messages.get(role="tool")
        return not returned.is_error


class CustomTool(BuiltInTool):
    """The agent, with a tool that its owner wrote: it runs in the sandbox on copies."""

    def open(self, block: Block) -> None:
        Tool.from_source(self.user, WRITE)
        self.agent.configure(tools=["write"])

    def call(self, block: Block, value: str) -> tuple[str, dict[str, str]]:
        return "write", {"label": block.label, "value": value}


DOORS: dict[str, type[Door]] = {
    "page": Page,
    "panel": Panel,
    "api": Script,
    "api by label": ScriptByLabel,
    "admin": Desk,
    "tool": BuiltInTool,
    "custom tool": CustomTool,
}
PEOPLE = {"page", "panel", "api", "api by label"}  # whom a share is asked of
AGENTS = {"tool", "custom tool"}
ALL = set(DOORS)


def at_first_lock(patch: pytest.MonkeyPatch, action: Callable[[], object]) -> None:
    """Have somebody be faster: act right before a block's row is held for the first time."""
    lock, waiting = Block.lock, [action]

    def later(block: Block) -> None:
        if waiting:
            waiting.pop()()
        lock(block)

    patch.setattr(Block, "lock", later)


class Log:
    """What the agents' logs and the ledger get from now on."""

    def __init__(self) -> None:
        self.seen = dict(Agent.objects.values_list("pk", "last_seq"))
        self.edits = set(BlockEdit.objects.values_list("pk", flat=True))

    def events(self, agent: Agent, kind: str = Event.Kind.BLOCK_EDITED) -> list[dict[str, Any]]:
        new = agent.events.after(self.seen.get(agent.pk, 0)).filter(kind=kind)
        return list(new.values_list("data", flat=True))

    def new_edits(self) -> list[BlockEdit]:
        return list(BlockEdit.objects.exclude(pk__in=self.edits).order_by("pk"))
