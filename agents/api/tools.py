"""Tools: a person's own, those that come with memoryweb, and those that an agent may call."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.http import HttpRequest
from ninja import Query
from pydantic import BaseModel

from agents.models import Tool
from agents.tools import attaching

from . import lookups
from .agent_details import agent_state, own_tools, tool_states
from .auth import READ, TOOLS, WRITE
from .built_in_tools import built_in_tools, fixed_names
from .cursors import Page, part_of
from .errors import Refused, conflict, invalid, not_found
from .json_router import JsonRouter
from .schemas.agents import AgentState
from .schemas.fields import Json, Many, Short
from .schemas.tools import NewTool, ToolChange, ToolState
from .tool_fields import ANEW, fields, wire_names

router = JsonRouter(tags=["tools"])


class ToolFilters(Page):
    """Which tools to list."""

    name: Short | None = None
    names: Many | None = None
    tool_ids: Many | None = None
    tool_types: Many | None = None
    exclude_tool_types: Many | None = None
    search: Short | None = None
    return_only_letta_tools: bool = False


# -- a person's own and the built-in ones ----------------------------------------------------------


@router.put("/tools/", auth=TOOLS, response=ToolState, operation_id="upsert_tool")
def upsert(request: HttpRequest, data: NewTool) -> Tool:
    """Create a tool from its source, or replace the source of the one with the same name."""
    with wire_names(data):
        return attaching.upsert(lookups.person(request), **ANEW | fields(data))


@router.post("/tools/", auth=TOOLS, response=ToolState, operation_id="create_tool")
def create(request: HttpRequest, data: NewTool) -> Tool:
    """The same as PUT, as it was on Letta's last servers: a script can be run again."""
    return upsert(request, data)


@router.get("/tools/", auth=READ, response=list[ToolState], operation_id="list_tools")
def index(request: HttpRequest, filters: Query[ToolFilters]) -> list[ToolState]:
    """A person's own tools, the newest first, then those that come with memoryweb."""
    states = filtered(request, filters)
    return part_of(states[::-1] if filters.ascends else states, filters, lambda state: state.id)


def filtered(request: HttpRequest, filters: ToolFilters) -> list[ToolState]:
    own = [] if filters.return_only_letta_tools else lookups.tools(request).order_by("-created_at")
    states = [ToolState.model_validate(tool) for tool in own]
    taken = {state.name for state in states} - fixed_names()
    states += [state for name, state in built_in_tools().items() if name not in taken]
    checks = {
        "name": filters.name and [filters.name],
        "id": filters.tool_ids,
        "tool_type": filters.tool_types,
    }
    for field, allowed in checks.items():
        if allowed is not None:
            states = [state for state in states if getattr(state, field) in allowed]
    if filters.names is not None:
        states = [state for state in states if state.name in filters.names]
    if filters.exclude_tool_types:
        states = [state for state in states if state.tool_type not in filters.exclude_tool_types]
    if filters.search:
        searched = filters.search.lower()
        states = [s for s in states if searched in f"{s.name} {s.description}".lower()]
    return states


@router.get("/tools/count", auth=READ, response=int, operation_id="count_tools")
def count(request: HttpRequest, filters: Query[ToolFilters]) -> int:
    """How many tools there are."""
    return len(filtered(request, filters))


@router.post(
    "/tools/add-base-tools", auth=TOOLS, response=list[ToolState], operation_id="add_base_tools"
)
def add_base_tools(request: HttpRequest) -> list[ToolState]:
    """The tools that come with memoryweb; they are always there, so nothing is added."""
    return list(built_in_tools().values())


@router.get("/tools/{tool_id}", auth=READ, response=ToolState, operation_id="retrieve_tool")
def retrieve(request: HttpRequest, tool_id: str) -> Tool | ToolState:
    """A tool."""
    if name := lookups.built_in_name(tool_id):
        return built_in_tools()[name]
    return lookups.tool(request, tool_id)


def own_tool(request: HttpRequest, tool_id: str) -> Tool:
    """A person's own tool; 403 for one that comes with memoryweb."""
    if name := lookups.built_in_name(tool_id):
        words = f"'{name}' comes with memoryweb and cannot be changed or deleted."
        instead = f"PATCH /v1/agents/{{agent_id}}/tools/approval/{name} sets it for one agent"
        raise Refused(403, f"{words} To have a person approve its calls: {instead}.")
    return lookups.tool(request, tool_id)


@router.patch("/tools/{tool_id}", auth=TOOLS, response=ToolState, operation_id="modify_tool")
def modify(request: HttpRequest, tool_id: str, data: ToolChange) -> Tool:
    """Change a tool; agents that use it keep it, even if its function now has another name."""
    tool = own_tool(request, tool_id)
    if data.json_schema and data.args_json_schema:
        raise invalid("args_json_schema", "Send json_schema or args_json_schema, not both.")
    changes = fields(data)
    if "source" in changes:
        changes = {"name": ""} | changes  # as the source has it
    try:
        with wire_names(data):
            return attaching.rewrite(tool, tool.updated_at, **changes)
    except attaching.ChangedMeanwhile:
        raise conflict("Somebody else changed the tool at the same time; try again.") from None


@router.delete("/tools/{tool_id}", auth=TOOLS, response=Json | None, operation_id="delete_tool")
def delete(request: HttpRequest, tool_id: str) -> None:
    """Delete a tool; it is detached from the agents that use it."""
    attaching.remove(own_tool(request, tool_id))


# -- of an agent -----------------------------------------------------------------------------------


@router.get(
    "/agents/{agent_id}/tools",
    auth=READ,
    response=list[ToolState],
    operation_id="list_agent_tools",
)
def of_agent(request: HttpRequest, agent_id: str, page: Query[Page]) -> list[ToolState]:
    """The tools an agent may call."""
    agent = lookups.agent(request, agent_id)
    states = tool_states(agent, own_tools(agent.owner_id, agent.tools))
    return part_of(states, page, lambda state: state.id)


@router.patch(
    "/agents/{agent_id}/tools/attach/{tool_id}",
    auth=WRITE,
    response=AgentState,
    operation_id="attach_tool",
)
def attach(request: HttpRequest, agent_id: str, tool_id: str) -> AgentState:
    """Let an agent call a tool."""
    agent = lookups.agent(request, agent_id)
    try:
        attaching.attach(agent, lookups.tool_name(request, tool_id))
    except ValidationError as error:
        raise conflict(error.messages[0]) from None
    return agent_state(lookups.agent(request, agent_id))


@router.patch(
    "/agents/{agent_id}/tools/detach/{tool_id}",
    auth=WRITE,
    response=AgentState,
    operation_id="detach_tool",
)
def detach(request: HttpRequest, agent_id: str, tool_id: str) -> AgentState:
    """Detach a tool from an agent, and drop the rules that name it."""
    agent = lookups.agent(request, agent_id)
    attaching.detach(agent, lookups.tool_name(request, tool_id))
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
) -> AgentState:
    """Set, in the body or the query, whether a person approves each call of a tool.

    For this agent it overrides the tool's own `default_requires_approval`.
    """
    required = data.requires_approval if data else requires_approval
    if required is None:
        raise invalid("requires_approval", "Give 'requires_approval': true or false.")
    agent = lookups.agent(request, agent_id)
    if tool_name not in agent.tools:
        raise not_found("tool", tool_name)
    attaching.set_approval(agent, tool_name, required)
    return agent_state(lookups.agent(request, agent_id))
