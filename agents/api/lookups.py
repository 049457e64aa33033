"""The rows that a request names, if the person may see them; 404 for all others."""

from __future__ import annotations

from typing import Any, TypeVar, cast

from django.contrib.auth.models import User
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from agents.models import (
    Agent,
    Block,
    Conversation,
    Identity,
    Message,
    Passage,
    Role,
    Run,
    Schedule,
    Step,
    Tool,
)
from agents.models.role import visible
from agents.permissions import check_agent, role_for_operation

from . import ids
from .built_in_tools import names_by_id
from .errors import not_found

Row = TypeVar("Row", bound=Model)


def person(request: HttpRequest) -> User:
    """Who makes the request, as `auth` found out."""
    return cast(User, request.auth)  # type: ignore[attr-defined]


def find(rows: QuerySet[Row], noun: str, key: Any, *, text: str) -> Row:
    """The row with that key; 404, in the words of `text`, if it is not among these."""
    row = rows.filter(pk=key).first()
    if row is None:
        raise not_found(noun, text)
    return row


def needed(request: HttpRequest) -> Role:
    """The role in an agent that the operation takes."""
    route = request.resolver_match.route if request.resolver_match else ""
    return role_for_operation(request.method or "", route, request.needed_scope)  # type: ignore[attr-defined]


def agent(request: HttpRequest, key: str, needs: Role | None = None) -> Agent:
    """An agent that the person may see; Forbidden where it takes another role in it than theirs,
    which the operation says unless `needs` does."""
    row = Agent.find_visible_to(person(request), ids.uuid_of("agent", key))
    if row is None:
        raise not_found("agent", key)
    check_agent(row, row.role, needs or needed(request))
    return row


def check_role(request: HttpRequest, agent: Agent, needs: Role) -> None:
    """Forbidden where it takes another role in the agent than the person's."""
    check_agent(agent, agent.role_of(person(request)) or Role.VIEWER, needs)


def conversations(request: HttpRequest) -> QuerySet[Conversation]:
    return Conversation.objects.visible_to(person(request)).select_related("agent")


def conversation(request: HttpRequest, key: str, agent_id: str | None = None) -> Conversation:
    """The conversation of that id. The first one of an agent is also had by `default`, with the
    agent's id beside it, and by the agent's id."""
    if key == "default" and agent_id:
        return agent(request, agent_id).first_conversation
    if key.startswith("agent-"):
        return agent(request, key).first_conversation
    row = find(conversations(request), "conversation", ids.uuid_of("conv", key), text=key)
    check_role(request, row.agent, needed(request))
    return row


def blocks(request: HttpRequest) -> QuerySet[Block]:
    """The person's own blocks, and those shared with them."""
    return Block.objects.usable_by(person(request))


def block(request: HttpRequest, key: str) -> Block:
    return find(blocks(request), "block", ids.uuid_of("block", key), text=key)


def held_block(agent: Agent, label: str) -> Block:
    """The agent's block with that label."""
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
    return find(tools(request), "tool", ids.uuid_of("tool", key), text=key)


def identities(request: HttpRequest) -> QuerySet[Identity]:
    return Identity.objects.visible_to(person(request))


def identity(request: HttpRequest, key: str) -> Identity:
    return find(identities(request), "identity", ids.uuid_of("identity", key), text=key)


def runs(request: HttpRequest) -> QuerySet[Run]:
    return Run.objects.filter(visible(person(request))).select_related("agent")


def run(request: HttpRequest, key: str) -> Run:
    row = find(runs(request), "run", ids.key_of("run", key), text=key)
    check_role(request, row.agent, needed(request))
    return row


def schedule(request: HttpRequest, agent_id: str, key: str) -> Schedule:
    """The schedule of that id, if it is the agent's."""
    rows = agent(request, agent_id).schedules.all()
    return find(rows, "scheduled message", ids.uuid_of("schedule", key), text=key)


def steps(request: HttpRequest) -> QuerySet[Step]:
    rows = Step.objects.filter(visible(person(request), agent="run__agent__"))
    return rows.select_related("run__agent")


def step(request: HttpRequest, key: str) -> Step:
    row = find(steps(request), "step", ids.key_of("step", key), text=key)
    check_role(request, row.run.agent, needed(request))
    return row


def passage(agent: Agent, key: str) -> Passage:
    rows = Passage.objects.filter(agent=agent)
    return find(rows, "passage", ids.key_of("passage", key), text=key)


def messages(request: HttpRequest) -> QuerySet[Message]:
    """What was said to and by all agents, but in runs that are no part of a conversation."""
    own = Message.objects.filter(visible(person(request)))
    return own.filter(internal=False).select_related("agent").defer("extra")


def message(agent: Agent, key: str) -> Message:
    rows = Message.objects.filter(agent=agent)
    return find(rows, "message", ids.key_of("message", key), text=key)
