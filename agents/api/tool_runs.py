"""Tools that are called by a script itself, and tools that are searched for."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from django.http import HttpRequest
from django.utils import timezone

from agents.models import Agent, Editor, Tool
from agents.text.terms import query_terms, terms
from agents.tools import ToolError, of_agent
from agents.tools.direct_calls import call_directly
from agents.tools.dry_run import dry_run

from . import lookups
from .agent_details import agent_state
from .auth import READ, TOOLS
from .errors import Refused, invalid
from .json_router import JsonRouter
from .schemas.tool_runs import (
    ExecutionResult,
    FoundTool,
    RunResult,
    SourceToRun,
    ToolArguments,
    ToolSearch,
)
from .schemas.tools import ToolState
from .tool_fields import described, wire_names
from .tools import ToolFilters, filtered

router = JsonRouter(tags=["tools"])


@router.post("/tools/run", auth=TOOLS, response=RunResult, operation_id="run_tool_from_source")
def run_source(request: HttpRequest, data: SourceToRun) -> dict[str, Any]:
    """Run a function in the sandbox; its changes to an agent's memory are not kept."""
    owner = lookups.person(request)
    row = Tool(owner=owner, source=data.source_code, **{"name": data.name or ""} | described(data))
    with wire_names(data):
        row.clean()
    agent = lookups.agent(request, data.agent_id) if data.agent_id else Agent(owner=owner, name="")
    returned, error, stdout = "", "", ""
    try:
        prepared = dry_run(owner, row, agent, data.args).prepared
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


@router.post(
    "/agents/{agent_id}/tools/{tool_name}/run",
    auth=TOOLS,
    response=ExecutionResult,
    operation_id="run_tool_for_agent",
)
def run_of_agent(
    request: HttpRequest, agent_id: str, tool_name: str, data: ToolArguments | None = None
) -> dict[str, Any]:
    """Call one of an agent's tools; what it changes is kept, and the ledger says who called it.

    The agent's rules and approvals are for its own calls: they do not hold here.
    """
    person, agent = lookups.person(request), lookups.agent(request, agent_id)
    tool = of_agent(agent).get(tool_name)
    if tool is None:
        raise Refused(404, f"Tool '{tool_name}' not found or not attached to agent '{agent_id}'")
    by = Editor.person(person, Editor.API)
    result = call_directly(tool, agent, data.args if data else {}, person=person, by=by)
    return {
        "status": "error" if result.failed else "success",
        "func_return": result.content,
        "stdout": lines(result.stdout),
        "stderr": lines(result.content if result.failed else ""),
        "agent_state": agent_state(lookups.agent(request, agent_id)),
    }


@router.post("/tools/search", auth=READ, response=list[FoundTool], operation_id="search_tools")
def search(request: HttpRequest, data: ToolSearch) -> list[FoundTool]:
    """Find tools by words of their names, descriptions and arguments, the best first."""
    if data.search_mode == "vector":
        raise invalid("search_mode", "Tools are found by words only: send 'hybrid' or 'fts'.")
    states = filtered(request, ToolFilters(tool_types=data.tool_types))
    if data.tags is not None:
        states = [state for state in states if {*data.tags} & {*state.tags}]
    if data.query is not None:
        states = ranked(states, data.query)
    return [
        FoundTool(
            tool=state,
            embedded_text=None,
            fts_rank=place if data.query is not None else None,
            vector_rank=None,
            combined_score=1 / (60 + place),
        )
        for place, state in enumerate(states[: data.limit], 1)
    ]


def ranked(states: list[ToolState], query: str) -> list[ToolState]:
    """Those that have words of the query, the ones with most of them first; a word of the name
    counts as two."""
    words = [set(forms) for forms in query_terms(query).words]
    scores = []
    for state in states:
        named = {*terms(state.name.replace("_", " "))}
        about = {*terms(f"{state.description} {' '.join(state.tags)} {arguments_in(state)}")}
        score = sum(2 * bool(word & named) + bool(word & about) for word in words)
        if score:
            scores.append((score, state))
    return [state for _, state in sorted(scores, key=lambda scored: -scored[0])]


def arguments_in(state: ToolState) -> str:
    """The names of a tool's arguments and what is said of them."""
    parameters = state.json_schema.get("parameters", {}).get("properties", {})
    parts = [
        f"{name.replace('_', ' ')} {each.get('description', '')}"
        for name, each in parameters.items()
        if isinstance(each, dict)
    ]
    return " ".join(parts)
