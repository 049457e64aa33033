"""Sending: the run that answers what a script sends, begun, found again, or let go on."""

from __future__ import annotations

import hashlib
import json
from uuid import uuid4

from django.http import HttpRequest

from agents.models import Agent, Approval, Run
from agents.models.prepared_sql import key as key_of
from agents.models.prepared_sql import read

from . import lookups
from .content import text_of, valid
from .errors import conflict, invalid
from .schemas.messages import NewMessage, Request


def begun(request: HttpRequest, agent_id: str, data: Request) -> Run:
    """The run that answers; the one there is already if the request came before."""
    agent = lookups.agent(request, agent_id)
    given = data.messages or []
    if data.input is not None:
        given = [*given, NewMessage(content=data.input)]
    if not given:
        raise invalid("messages", "There is no message; give 'messages' or 'input'.")
    if given[0].type == "approval":
        return approved(request, agent, given[0])
    if any(each.type == "tool_return" for each in given):
        raise invalid("messages", "Tools run on this server; a script cannot return for them.")
    said = [(each.role, valid(text_of(each.content))) for each in given]
    asked = hashlib.sha256(json.dumps([said, data.max_steps]).encode()).hexdigest()
    named = request.headers.get("Idempotency-Key") or given[-1].otid
    key = f"api:{hashlib.sha256(named.encode(errors='replace')).hexdigest()}" if named else ""
    if not (key and agent.runs.filter(key=key).exists()):
        refuse_if_undecided(agent)
    run = Run.start(
        agent,
        said[-1][1],
        key or f"api:{uuid4()}",
        role=said[-1][0],
        before=[{"role": role, "content": content} for role, content in said[:-1]],
        most_steps=data.max_steps,
        asked=asked,
    )
    if run.asked != asked:
        raise conflict("The same Idempotency-Key came with another request before; use a new one.")
    run.agent = agent
    return run


def refuse_if_undecided(agent: Agent) -> None:
    """409 where a person has to decide first."""
    if read(Run, "WHERE agent_id = %s AND status = 'waiting' LIMIT 1", key_of(agent)):
        raise conflict(
            "The agent waits for approval of a tool call: send a message of type 'approval', or"
            " decide in the page."
        )


def approved(request: HttpRequest, agent: Agent, given: NewMessage) -> Run:
    """Decide the tool calls that wait, and the run that goes on then. 409 where none waits."""
    run = agent.current_run()
    waiting = list(Approval.objects.pending().filter(step__run=run)) if run else []
    if run is None or not waiting:
        raise conflict("No tool call of this agent waits for approval.")
    words = {each.tool_call_id: each for each in given.approvals or []}
    for approval in waiting:
        word = words.get(approval.tool_call_id)
        yes = word.approve if word else given.approve
        if yes is None:
            continue
        status = Approval.Status.APPROVED if yes else Approval.Status.REFUSED
        why = (word.reason if word else None) or given.reason or ""
        approval.decide(status, by=lookups.person(request), reason=why)
    run.refresh_from_db()
    run.agent = agent
    return run
