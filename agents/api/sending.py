"""Sending messages: starts the run that answers, finds it again, or lets it continue."""

from __future__ import annotations

import hashlib
import json
from uuid import uuid4

from django.http import HttpRequest

from agents.models import Agent, Approval, Run

from . import lookups
from .content import checked_text, text_of
from .errors import conflict, invalid
from .schemas.messages import NewMessage, SendMessages


def start_run(request: HttpRequest, agent_id: str, data: SendMessages) -> Run:
    """The run that answers; if the same request was sent before, the run that it started."""
    agent = lookups.agent(request, agent_id)
    sent = data.messages or []
    if data.input is not None:
        sent = [*sent, NewMessage(content=data.input)]
    if not sent:
        raise invalid("messages", "There is no message; give 'messages' or 'input'.")
    if sent[0].type == "approval":
        return decide(request, agent, sent[0])
    if any(each.type == "tool_return" for each in sent):
        raise invalid("messages", "Tools run on this server; a script cannot send their returns.")
    messages = [(each.role, checked_text(text_of(each.content))) for each in sent]
    digest = hashlib.sha256(json.dumps([messages, data.max_steps]).encode()).hexdigest()
    name = request.headers.get("Idempotency-Key") or sent[-1].otid
    key = f"api:{hashlib.sha256(name.encode(errors='replace')).hexdigest()}" if name else ""
    if not (key and agent.runs.filter(key=key).exists()):
        refuse_if_undecided(agent)
    run = Run.start(
        agent,
        messages[-1][1],
        key or f"api:{uuid4()}",
        role=messages[-1][0],
        before=[{"role": role, "content": content} for role, content in messages[:-1]],
        most_steps=data.max_steps,
        asked=digest,
    )
    if run.asked != digest:
        raise conflict("This Idempotency-Key was used for a different request; use a new one.")
    run.agent = agent
    return run


def refuse_if_undecided(agent: Agent) -> None:
    """409 if a person has to decide on a tool call first."""
    if Run.objects.waiting_for_approval(agent):
        raise conflict(
            "The agent waits for the approval of a tool call: send a message of type 'approval',"
            " or decide in the page."
        )


def decide(request: HttpRequest, agent: Agent, message: NewMessage) -> Run:
    """Approve or refuse the pending tool calls; the run that continues. 409 if there are none."""
    run = agent.current_run()
    pending = list(Approval.objects.pending().filter(step__run=run)) if run else []
    if run is None or not pending:
        raise conflict("No tool call of this agent waits for approval.")
    decisions = {each.tool_call_id: each for each in message.approvals or []}
    for approval in pending:
        decision = decisions.get(approval.tool_call_id)
        approve = decision.approve if decision else message.approve
        if approve is None:
            continue
        status = Approval.Status.APPROVED if approve else Approval.Status.REFUSED
        reason = (decision.reason if decision else None) or message.reason or ""
        approval.decide(status, by=lookups.person(request), reason=reason)
    run.refresh_from_db()
    run.agent = agent
    return run
