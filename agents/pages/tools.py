"""The panel's tab of tools: what an agent can call, by what rules; attached and detached there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any
from uuid import UUID
from zlib import crc32

from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from agents import tools
from agents.models import Agent, Conversation, Message
from agents.tools import Tool, custom
from agents.tools.attaching import attach, attachable, detach, set_rules
from agents.tools.custom import CustomTool

from .forms.rules import RulesForm, in_words
from .request import Request, find_agent

COUNTED = 2_000  # messages, the newest: reading more to count calls would slow the panel


def tab(request: Request, conversation: Conversation) -> dict[str, Any]:
    """The agent's tools in its order, what more it could have, and whether its own can run."""
    agent = conversation.agent
    found, called = tools.of_agent(agent), calls_of(agent)
    listed = [card(agent, name, found.get(name)) for name in dict.fromkeys(agent.tools)]
    for each in listed:
        each["called"] = called[each["name"]]
    more = attachable(agent)
    del more["missing"]  # an agent may keep such a tool, but nobody has a use for a new one
    needed = more["custom"] or any(isinstance(tool, CustomTool) for tool in found.values())
    runs, disabled_reason = custom.available() if needed else (True, "")
    if not runs:
        more["custom"] = []
    return {
        "tools": listed,
        "attachable": more,
        "can_attach": any(more.values()),
        "disabled_reason": disabled_reason,
        "counted_messages": COUNTED if agent.message_count > COUNTED else None,
    }


def card(agent: Agent, name: str, tool: Tool | None) -> dict[str, Any]:
    """A tool as the tab shows it; without a tool, a name that stands for none."""
    own = [rule for rule in agent.tool_rules if rule["tool_name"] == name]
    kinds = {rule["type"] for rule in own}
    shown = {
        "name": name,
        "key": f"{crc32(name.encode()):08x}",
        "rules": in_words(own),
        "ends_turn": bool(tool and tool.ends_turn and not kinds & {"exit_loop", "continue_loop"}),
        "kind": "unknown",
        "kind_name": gettext("unknown"),
    }
    if tool is None:
        return shown
    if isinstance(tool, CustomTool):
        shown |= {"kind": "custom", "kind_name": gettext("custom"), "row": tool.row}
        ruled = kinds & {"requires_approval", "no_approval"}
        shown["asks_by_default"] = tool.needs_approval and not ruled
    else:
        built_in = name in tools.names()
        of_class = gettext("of %(memory_class)s") % {"memory_class": agent.memory_class}
        shown |= {"kind": "ready", "kind_name": gettext("built in") if built_in else of_class}
        shown["missing"] = tool.missing()
    return shown | described(tool.schema)


def calls_of(agent: Agent) -> Counter[str]:
    """How often each tool was called in the newest messages."""
    since = agent.message_count - COUNTED
    answers = agent.messages.filter(role=Message.Role.ASSISTANT, number__gt=since)
    calls_made = answers.exclude(tool_calls=[]).values_list("tool_calls", flat=True)
    return Counter(call["name"] for calls in calls_made for call in calls)


def described(function: dict[str, Any]) -> dict[str, Any]:
    """A tool's schema in words: name, description, arguments with their types."""
    parameters = function["parameters"]
    arguments = [
        {
            "name": name,
            "type": type_in_words(schema),
            "description": schema.get("description", ""),
            "required": name in parameters.get("required", []),
            "default": schema.get("default"),
        }
        for name, schema in parameters.get("properties", {}).items()
    ]
    return {
        "name": function["name"],
        "description": function["description"],
        "arguments": arguments,
    }


def type_in_words(schema: dict[str, Any]) -> str:
    """A JSON schema's type: `string`, `list of string`, `string or null`."""
    if "enum" in schema:
        return alternatives(f"“{value}”" for value in schema["enum"])
    if "const" in schema:
        return f"“{schema['const']}”"
    if "anyOf" in schema:
        return alternatives(type_in_words(one) for one in schema["anyOf"])
    if schema.get("type") == "array":
        items = schema.get("items")
        named = gettext("list of %(type)s") % {"type": type_in_words(items)} if items else ""
        return named or gettext("list")
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    return str(schema.get("type") or gettext("anything"))


def alternatives(names: Iterable[str]) -> str:
    """Names with "or" between them."""
    return gettext(" or ").join(names)


# -- what is done in the tab; the panel itself is drawn anew by the event --------------------------


@login_required
@require_POST
def attach_one(request: Request, agent_id: UUID) -> HttpResponse:
    """Let the agent call one more tool. POST: `tool`, its name."""
    agent = find_agent(request, agent_id)
    try:
        attach(agent, request.POST.get("tool", ""))
    except ValidationError as error:
        context = {"error": " ".join(error.messages)}
        return render(request, "agents/tools/_refusal.html", context, status=422)
    return HttpResponse()


@login_required
@require_POST
def detach_one(request: Request, agent_id: UUID) -> HttpResponse:
    """Take a tool, and the rules that name it, from the agent. POST: `tool`, its name."""
    agent = find_agent(request, agent_id)
    detach(agent, request.POST.get("tool", ""))
    return HttpResponse(status=204)


@login_required
def rules(request: Request, agent_id: UUID) -> HttpResponse:
    """The rules for one of the agent's tools. GET and POST: `tool`, its name."""
    agent = find_agent(request, agent_id)
    posted = request.method == "POST"
    name = (request.POST if posted else request.GET).get("tool", "")
    if name not in agent.tools:
        raise Http404
    key = f"{crc32(name.encode()):08x}"
    form = RulesForm(request.POST or None, agent=agent, name=name, auto_id=f"rules-{key}-%s")
    if posted and form.is_valid():
        try:
            set_rules(agent, name, form.rules())
            return HttpResponse()  # the editor closes; the panel is drawn anew
        except ValidationError as error:
            form.add_error(None, error)
    context = {"agent": agent, "form": form, "name": name, "key": key}
    status = 422 if form.errors else 200
    return render(request, "agents/tools/_rules.html", context, status=status)
