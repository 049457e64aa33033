"""What a script says about tool calls that wait: approved, refused, or what they returned."""

from __future__ import annotations

from collections.abc import Sequence

from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import Http404, HttpRequest

from agents.models import Agent, Approval, Conversation, Message, Role, Run, Step, ToolCall
from agents.models.approval import Decision

from . import ids, lookups
from .content import text_of
from .errors import Refused, conflict
from .messages_out import CALLS
from .schemas.messages import (
    ApprovalDecision,
    NewMessage,
    SendMessages,
    ToolReturned,
    shown_options,
)
from .skills import listed_skills

Status = Approval.Status
ByCall = dict[str, Decision]


def decide(request: HttpRequest, conversation: Conversation, data: SendMessages) -> tuple[Run, int]:
    """Answer all that a run waits for; the run, and the number of its last message so far.

    400 unless exactly the calls that wait are named. The same once more gives the same run.
    """
    agent, message = conversation.agent, (data.messages or [])[0]
    decisions = decisions_of(agent, message)
    with transaction.atomic():
        waiting = conversation.runs.filter(status=Run.Status.WAITING)
        run = waiting.select_for_update().first()
        pending = list(Approval.objects.pending().filter(step__run=run)) if run else []
        if run is None or not pending:
            return decided_before(conversation, decisions)
        if any(each.kind == Approval.Kind.PERSON for each in pending):
            lookups.check_role(request, agent, Role.EDITOR)
        expected = [each.tool_call_id for each in pending]
        if set(decisions) != set(expected):
            words = f"Expected '{expected}', but received '{list(decisions)}'."
            raise Refused(400, f"Invalid tool call IDs. {words}")
        seen = run.messages.latest("number").number
        run.request_config = shown_options(data)
        if data.client_tools is not None:
            run.client_tools = [each.model_dump() for each in data.client_tools]
        if data.client_skills is not None:
            run.skills = listed_skills(data.client_skills)
        if data.callback_url is not None:
            run.callback_url = data.callback_url
        run.save(update_fields=["request_config", "client_tools", "skills", "callback_url"])
        answers = [(each, decisions[each.tool_call_id]) for each in pending]
        try:
            Approval.decide_all(answers, by=lookups.person(request))
        except ValidationError as error:
            raise Refused(400, error.messages[0]) from None
    run.refresh_from_db()
    run.agent = agent
    return run, seen


def decisions_of(agent: Agent, message: NewMessage) -> ByCall:
    """What a message says, by the ids of the calls."""
    if message.type == "tool_return":
        return {each.tool_call_id: returned(each) for each in message.tool_returns or []}
    if message.approvals:
        return {each.tool_call_id: decision(each) for each in message.approvals}
    if message.approve is None or message.approval_request_id is None:
        words = "Invalid approval response. Give 'approvals', one for each call that waits."
        raise Refused(400, words)
    status = Status.APPROVED if message.approve else Status.REFUSED
    call_id = call_of(agent, message.approval_request_id)
    return {call_id: Decision(status, message.reason or "")}


def decision(given: ApprovalDecision | ToolReturned) -> Decision:
    if isinstance(given, ToolReturned):
        return returned(given)
    return Decision(Status.APPROVED if given.approve else Status.REFUSED, given.reason or "")


def returned(given: ToolReturned) -> Decision:
    """What a script says that a tool returned."""
    text = text_of(given.tool_return, "approvals")
    return Decision.of_return(text, given.status, given.stdout, given.stderr)


def call_of(agent: Agent, request_id: str) -> str:
    """The call of a request that is named by its message, as the older form does."""
    try:
        pk, part = ids.part_of("message", request_id)
    except (Refused, Http404):
        return request_id
    row = Message.objects.filter(agent=agent, pk=pk).first()
    calls: Sequence[ToolCall] = row.calls() if row else []
    return calls[part - CALLS].id if 0 <= part - CALLS < len(calls) else request_id


def decided_before(conversation: Conversation, decisions: ByCall) -> tuple[Run, int]:
    """The run that these were said to before; 400 where nothing waits, 409 if it was another word.

    A client that lost the answer repeats its request.
    """
    asked = Approval.objects.filter(step__run__conversation=conversation.pk)
    newest = asked.filter(tool_call_id__in=decisions)
    step = Step.objects.filter(approvals__in=newest).order_by("-pk").first()
    before = {each.tool_call_id: each for each in step.approvals.all()} if step else {}
    if step is None or set(decisions) - set(before):
        raise Refused(
            400,
            "Cannot process approval response: No tool call is currently awaiting approval."
            " Send an ordinary message instead.",
        )
    for call_id, said in decisions.items():
        if (said.status, said.returned) != (before[call_id].status, before[call_id].returned):
            status = before[call_id].get_status_display()
            raise conflict(f"The call {call_id} was answered already: {status}.")
    run = step.run
    run.agent = conversation.agent
    return run, step.message.number if step.message else -1
