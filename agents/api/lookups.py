"""The rows that a request names, if the person may see them; 404 for all others."""

from __future__ import annotations

from typing import cast

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest

from agents.models import Agent, Block, Identity, Message, Passage, Run, Step, Tool

from . import ids
from .built_in_tools import names_by_id
from .errors import not_found


def person(request: HttpRequest) -> User:
    """Who makes the request, as `auth` found out."""
    return cast(User, request.auth)  # type: ignore[attr-defined]


def agent(request: HttpRequest, key: str) -> Agent:
    row = Agent.find_visible_to(person(request), ids.uuid_of("agent", key))
    if row is None:
        raise not_found("agent", key)
    return row


def blocks(request: HttpRequest) -> QuerySet[Block]:
    """The person's own blocks, and those shared with them."""
    return Block.objects.usable_by(person(request))


def block(request: HttpRequest, key: str) -> Block:
    row = blocks(request).filter(pk=ids.uuid_of("block", key)).first()
    if row is None:
        raise not_found("block", key)
    return row


def held_block(agent: Agent, label: str) -> Block:
    """The agent's block of that label."""
    row = agent.block(label)
    if row is None:
        raise not_found("block", f"with label {label}")
    return row


def tools(request: HttpRequest) -> QuerySet[Tool]:
    return Tool.objects.visible_to(person(request))


def built_in_name(tool_id: str) -> str | None:
    """The name of the built-in tool with this id; None for any other id."""
    key = ids.known("tool", tool_id)
    return names_by_id().get(key) if key else None


def tool_name(request: HttpRequest, tool_id: str) -> str:
    """The name of a built-in tool, or of one of the person's own."""
    return built_in_name(tool_id) or tool(request, tool_id).name


def tool(request: HttpRequest, key: str) -> Tool:
    row = tools(request).filter(pk=ids.uuid_of("tool", key)).first()
    if row is None:
        raise not_found("tool", key)
    return row


def identities(request: HttpRequest) -> QuerySet[Identity]:
    return Identity.objects.visible_to(person(request))


def identity(request: HttpRequest, key: str) -> Identity:
    row = identities(request).filter(pk=ids.uuid_of("identity", key)).first()
    if row is None:
        raise not_found("identity", key)
    return row


def runs(request: HttpRequest) -> QuerySet[Run]:
    return Run.objects.filter(agent__owner=person(request), agent__deleted_at=None)


def run(request: HttpRequest, key: str) -> Run:
    row = runs(request).select_related("agent").filter(pk=ids.key_of("run", key)).first()
    if row is None:
        raise not_found("run", key)
    return row


def steps(request: HttpRequest) -> QuerySet[Step]:
    mine = Step.objects.filter(run__agent__owner=person(request), run__agent__deleted_at=None)
    return mine.select_related("run__agent")


def step(request: HttpRequest, key: str) -> Step:
    row = steps(request).filter(pk=ids.key_of("step", key)).first()
    if row is None:
        raise not_found("step", key)
    return row


def passage(agent: Agent, key: str) -> Passage:
    row = Passage.objects.filter(agent=agent, pk=ids.key_of("passage", key)).first()
    if row is None:
        raise not_found("passage", key)
    return row


def message(agent: Agent, key: str) -> Message:
    row = Message.objects.filter(agent=agent, pk=ids.key_of("message", key)).first()
    if row is None:
        raise not_found("message", key)
    return row
