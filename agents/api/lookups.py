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


def agent(request: HttpRequest, given: str) -> Agent:
    found = Agent.find_visible_to(person(request), ids.uuid_of("agent", given))
    if found is None:
        raise not_found("agent", given)
    return found


def blocks(request: HttpRequest) -> QuerySet[Block]:
    """The person's own blocks, and those shared with them."""
    return Block.objects.usable_by(person(request))


def block(request: HttpRequest, given: str) -> Block:
    found = blocks(request).filter(pk=ids.uuid_of("block", given)).first()
    if found is None:
        raise not_found("block", given)
    return found


def held_block(agent: Agent, label: str) -> Block:
    """The agent's block of that label."""
    found = agent.block(label)
    if found is None:
        raise not_found("block", f"with label {label}")
    return found


def tools(request: HttpRequest) -> QuerySet[Tool]:
    return Tool.objects.visible_to(person(request))


def built_in_name(tool_id: str) -> str | None:
    """The name of the built-in tool with this id; None for any other id."""
    key = ids.known("tool", tool_id)
    return names_by_id().get(key) if key else None


def tool_name(request: HttpRequest, tool_id: str) -> str:
    """The name of a built-in tool, or of one of the person's own."""
    return built_in_name(tool_id) or tool(request, tool_id).name


def tool(request: HttpRequest, given: str) -> Tool:
    found = tools(request).filter(pk=ids.uuid_of("tool", given)).first()
    if found is None:
        raise not_found("tool", given)
    return found


def identities(request: HttpRequest) -> QuerySet[Identity]:
    return Identity.objects.visible_to(person(request))


def identity(request: HttpRequest, given: str) -> Identity:
    found = identities(request).filter(pk=ids.uuid_of("identity", given)).first()
    if found is None:
        raise not_found("identity", given)
    return found


def runs(request: HttpRequest) -> QuerySet[Run]:
    return Run.objects.filter(agent__owner=person(request), agent__deleted_at=None)


def run(request: HttpRequest, given: str) -> Run:
    found = runs(request).select_related("agent").filter(pk=ids.key_of("run", given)).first()
    if found is None:
        raise not_found("run", given)
    return found


def steps(request: HttpRequest) -> QuerySet[Step]:
    mine = Step.objects.filter(run__agent__owner=person(request), run__agent__deleted_at=None)
    return mine.select_related("run__agent")


def step(request: HttpRequest, given: str) -> Step:
    found = steps(request).filter(pk=ids.key_of("step", given)).first()
    if found is None:
        raise not_found("step", given)
    return found


def passage(agent: Agent, given: str) -> Passage:
    found = Passage.objects.filter(agent=agent, pk=ids.key_of("passage", given)).first()
    if found is None:
        raise not_found("passage", given)
    return found


def message(agent: Agent, given: str) -> Message:
    found = Message.objects.filter(agent=agent, pk=ids.key_of("message", given)).first()
    if found is None:
        raise not_found("message", given)
    return found
