"""Approvals: a person decides on a tool call that waits, or returns it in a script's place."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_POST

from agents import tools
from agents.models import Agent, Approval
from agents.models.approval import Decision, checked_arguments
from agents.tools import ToolError

from .request import Request, find_agent
from .runs import done

Decided = Approval.Status


@login_required
@require_POST
def decide(request: Request, agent_id: UUID, approval_id: int) -> HttpResponse:
    """POST: `decision` ("approved" or "refused"), `arguments` if changed, `reason` if refused.

    For a script's tool: `decision` ("returned", or "failed" with an error) and `returned`.
    """
    agent = find_agent(request, agent_id)
    approvals = Approval.objects.select_related("step__run__conversation__agent")
    approval = get_object_or_404(approvals, pk=approval_id, step__run__agent=agent)
    try:
        Approval.decide_all([(approval, decision(agent, approval, request))], by=request.user)
    except (ValidationError, ToolError) as error:
        words = " ".join(getattr(error, "messages", [str(error)]))
        return render(request, "agents/_refusal.html", {"error": words}, status=422)
    return done(request, approval.step.run.conversation)


def decision(agent: Agent, approval: Approval, request: Request) -> Decision:
    """What the person says."""
    match request.POST.get("decision"):
        case Decided.APPROVED:
            return Decision(Decided.APPROVED, arguments=changed_arguments(agent, approval, request))
        case "returned" | "failed" as how:
            text = request.POST.get("returned", "")
            return Decision.of_return(text, "error" if how == "failed" else "success")
    return Decision(Decided.REFUSED, request.POST.get("reason", "")[:1000])


def changed_arguments(agent: Agent, approval: Approval, request: Request) -> str:
    """The arguments if the person changed them, else "". An error where they fit no call."""
    typed = request.POST.get("arguments", "").replace("\r\n", "\n").strip()
    message = approval.step.message
    calls = message.calls() if message else []
    call = next((call for call in calls if call.id == approval.tool_call_id), None)
    if not typed or call is None or typed == call.pretty().strip():
        return ""
    checked = checked_arguments(typed)
    if tool := tools.of_agent(agent).get(call.name):
        tool.parse(checked, heartbeat=tools.speaks_by_tool(agent))
    return checked
