"""Tools: a person's own, and those that memoryweb brings; what an agent may call."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils import timezone
from ninja import Query, Router
from pydantic import BaseModel

from agents.models import Agent, Tool
from agents.models.tool import LONGEST_RETURN
from agents.tools import ToolError, attaching
from agents.tools.dry_run import try_out

from . import lookups
from .auth import READ, TOOLS, WRITE
from .cursors import Page, part_of
from .errors import Refused, conflict, invalid, not_found
from .schemas.agents import AgentState
from .schemas.fields import Json, Many, Short
from .schemas.tools import NewTool, Ran, SourceToRun, ToolChange, ToolState
from .serializers import (
    agent_state,
    built_in_state,
    built_in_tools,
    own_tool_state,
    tool_id,
    tool_states,
)

router = Router(tags=["tools"])


class Wanted(Page):
    """Which tools."""

    name: Short | None = None
    names: Many | None = None
    tool_ids: Many | None = None
    tool_types: Many | None = None
    exclude_tool_types: Many | None = None
    search: Short | None = None
    return_only_letta_tools: bool = False


# -- a person's own, and the others ----------------------------------------------------------------


@router.put("/tools/", auth=TOOLS, response=ToolState, operation_id="upsert_tool")
def upsert(request: HttpRequest, data: NewTool) -> dict[str, Any]:
    """Make a tool of its source, or give the one of the same name a new source."""
    return own_tool_state(attaching.upsert(lookups.person(request), **fields(data)))


@router.post("/tools/", auth=TOOLS, response=ToolState, operation_id="create_tool")
def create(request: HttpRequest, data: NewTool) -> dict[str, Any]:
    """Make a tool of its source; 409 where there is one of its name."""
    tool = Tool(owner=lookups.person(request), **fields(data))
    tool.clean()
    if lookups.tools(request).filter(name=tool.name).exists():
        raise conflict(f"You already have a tool '{tool.name}'; PUT /v1/tools/ changes it.")
    given = {name: getattr(tool, name) for name in ("source", *Tool.SETTINGS)}
    return own_tool_state(attaching.create(lookups.person(request), **given))


def fields(data: NewTool | ToolChange) -> dict[str, Any]:
    """A tool's fields, as far as they were given."""
    if getattr(data, "source_type", None) not in (None, "python", "json"):
        raise invalid("source_type", "A tool is written in Python; no other language can run here.")
    limit = data.return_char_limit
    given = {
        "source": data.source_code,
        "tags": data.tags,
        "return_char_limit": None if limit is None else min(limit, LONGEST_RETURN),
        "default_requires_approval": data.default_requires_approval,
    }
    return {name: value for name, value in given.items() if value is not None}


@router.get("/tools/", auth=READ, response=list[ToolState], operation_id="list_tools")
def index(request: HttpRequest, wanted: Query[Wanted]) -> list[dict[str, Any]]:
    """A person's own tools, the newest first, then those that memoryweb brings."""
    states = filtered(request, wanted)
    return part_of(states[::-1] if wanted.rises else states, wanted, lambda state: state["id"])


def filtered(request: HttpRequest, wanted: Wanted) -> list[dict[str, Any]]:
    own = [] if wanted.return_only_letta_tools else lookups.tools(request).order_by("-created_at")
    states = [own_tool_state(tool) for tool in own]
    states += [built_in_state(tool) for tool in built_in_tools().values()]
    checks = {
        "name": wanted.name and [wanted.name],
        "id": wanted.tool_ids,
        "tool_type": wanted.tool_types,
    }
    for field, allowed in checks.items():
        if allowed is not None:
            states = [state for state in states if state[field] in allowed]
    if wanted.names is not None:
        states = [state for state in states if state["name"] in wanted.names]
    if wanted.exclude_tool_types:
        states = [state for state in states if state["tool_type"] not in wanted.exclude_tool_types]
    if wanted.search:
        searched = wanted.search.lower()
        states = [s for s in states if searched in f"{s['name']} {s['description']}".lower()]
    return states


@router.get("/tools/count", auth=READ, response=int, operation_id="count_tools")
def count(request: HttpRequest, wanted: Query[Wanted]) -> int:
    """How many tools there are."""
    return len(filtered(request, wanted))


@router.post(
    "/tools/add-base-tools", auth=TOOLS, response=list[ToolState], operation_id="add_base_tools"
)
def add_base_tools(request: HttpRequest) -> list[dict[str, Any]]:
    """The tools that memoryweb brings; they are always there, so nothing is added."""
    return [built_in_state(tool) for tool in built_in_tools().values()]


@router.post("/tools/run", auth=TOOLS, response=Ran, operation_id="run_tool_from_source")
def run_source(request: HttpRequest, data: SourceToRun) -> dict[str, Any]:
    """Run a function in the sandbox; what it would change in an agent's memory is not kept."""
    owner = lookups.person(request)
    row = Tool(owner=owner, name=data.name or "", source=data.source_code)
    row.clean()
    agent = lookups.agent(request, data.agent_id) if data.agent_id else Agent(owner=owner, name="")
    returned, error, stdout = "", "", ""
    try:
        prepared = try_out(owner, row, agent, data.args).prepared
        returned, error, stdout = prepared.returned, prepared.error, prepared.stdout
    except ToolError as refusal:
        error = str(refusal)
    return {
        "id": f"message-{uuid4()}",
        "date": timezone.now(),
        "tool_call_id": f"call-{uuid4()}",
        "tool_return": error or returned,
        "status": "error" if error else "success",
        "stdout": lines(stdout),
        "stderr": lines(error),
    }


def lines(text: str) -> list[str]:
    return [text] if text else []


@router.get("/tools/{tool_id}", auth=READ, response=ToolState, operation_id="retrieve_tool")
def retrieve(request: HttpRequest, tool_id: str) -> dict[str, Any]:
    """A tool."""
    found = any_tool(request, tool_id)
    return own_tool_state(found) if isinstance(found, Tool) else brought_state(found)


def any_tool(request: HttpRequest, given: str) -> Tool | str:
    """A person's own tool, or the name of one that memoryweb brings."""
    by_id = {tool_id(name): name for name in built_in_tools()}
    return by_id[given] if given in by_id else lookups.tool(request, given)


def brought_state(name: str) -> dict[str, Any]:
    return built_in_state(built_in_tools()[name])


def own_tool(request: HttpRequest, given: str) -> Tool:
    """A person's own tool; 403 for one that memoryweb brings."""
    found = any_tool(request, given)
    if isinstance(found, str):
        words = f"'{found}' comes with memoryweb and cannot be changed or deleted."
        instead = f"PATCH /v1/agents/{{agent_id}}/tools/approval/{found} sets it for one agent"
        raise Refused(403, f"{words} To have a person approve its calls: {instead}.")
    return found


@router.patch("/tools/{tool_id}", auth=TOOLS, response=ToolState, operation_id="modify_tool")
def modify(request: HttpRequest, tool_id: str, data: ToolChange) -> dict[str, Any]:
    """Change a tool; agents that use it keep it, also if its function has another name now."""
    tool = own_tool(request, tool_id)
    changes = fields(data)
    if "source" in changes:
        changes["name"] = ""  # as the source has it
    try:
        return own_tool_state(attaching.rewrite(tool, tool.updated_at, **changes))
    except attaching.ChangedMeanwhile:
        raise conflict("Somebody else changed the tool at the same moment; try again.") from None


@router.delete("/tools/{tool_id}", auth=TOOLS, response=Json | None, operation_id="delete_tool")
def delete(request: HttpRequest, tool_id: str) -> None:
    """Delete a tool; it leaves the agents that use it."""
    attaching.remove(own_tool(request, tool_id))


# -- of an agent -----------------------------------------------------------------------------------


@router.get(
    "/agents/{agent_id}/tools",
    auth=READ,
    response=list[ToolState],
    operation_id="list_agent_tools",
)
def of_agent(request: HttpRequest, agent_id: str, wanted: Query[Page]) -> list[dict[str, Any]]:
    """The tools an agent may call."""
    states = tool_states(lookups.agent(request, agent_id))
    return part_of(states, wanted, lambda state: state["id"])


@router.patch(
    "/agents/{agent_id}/tools/attach/{tool_id}",
    auth=WRITE,
    response=AgentState,
    operation_id="attach_tool",
)
def attach(request: HttpRequest, agent_id: str, tool_id: str) -> dict[str, Any]:
    """Let an agent call a tool."""
    agent, tool = lookups.agent(request, agent_id), any_tool(request, tool_id)
    try:
        attaching.attach(agent, tool if isinstance(tool, str) else tool.name)
    except ValidationError as error:
        raise conflict(error.messages[0]) from None
    return agent_state(lookups.agent(request, agent_id))


@router.patch(
    "/agents/{agent_id}/tools/detach/{tool_id}",
    auth=WRITE,
    response=AgentState,
    operation_id="detach_tool",
)
def detach(request: HttpRequest, agent_id: str, tool_id: str) -> dict[str, Any]:
    """Take a tool from an agent, and the rules that name it."""
    agent, tool = lookups.agent(request, agent_id), any_tool(request, tool_id)
    attaching.detach(agent, tool if isinstance(tool, str) else tool.name)
    return agent_state(lookups.agent(request, agent_id))


class Approval(BaseModel):
    """Whether a person must approve each call."""

    requires_approval: bool


@router.patch(
    "/agents/{agent_id}/tools/approval/{tool_name}",
    auth=WRITE,
    response=AgentState,
    operation_id="set_tool_approval",
)
def set_approval(
    request: HttpRequest,
    agent_id: str,
    tool_name: str,
    data: Approval | None = None,
    requires_approval: bool | None = None,
) -> dict[str, Any]:
    """Have a person approve each call of a tool, or not; said in the body or in the query.

    For this agent it counts more than the tool's own `default_requires_approval`.
    """
    wanted = data.requires_approval if data else requires_approval
    if wanted is None:
        raise invalid("requires_approval", "Say true or false.")
    agent = lookups.agent(request, agent_id)
    if tool_name not in agent.tools:
        raise not_found("tool", tool_name)
    attaching.set_approval(agent, tool_name, wanted)
    return agent_state(lookups.agent(request, agent_id))
