"""What was asked about tool calls, and answered, in the SDKs' form."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from agents.models import Approval, Message

ANSWERS = 500  # parts of a row from here on: what was answered, by the place of the first call
Status = Approval.Status
ByCall = dict[str, Approval]


def asked_of(rows: Iterable[Message]) -> dict[int, ByCall]:
    """What was asked about the calls of these messages, by step and call."""
    called = [row for row in rows if row.tool_calls or row.role == Message.Role.TOOL]
    steps = {row.step_id for row in called if row.step_id}
    asked: defaultdict[int, ByCall] = defaultdict(dict)
    if steps:
        for each in Approval.objects.filter(step__in=steps):
            asked[each.step_id][each.tool_call_id] = each
    return asked


def asked_together(asked: ByCall, call_id: str) -> list[str]:
    """The calls that were asked about at the same moment as this one, in their order."""
    moment = asked[call_id].created_at
    return [each.tool_call_id for each in asked.values() if each.created_at == moment]


def answered_together(asked: ByCall) -> list[list[Approval]]:
    """What was answered, each list at one moment, in the order of the calls."""
    groups: defaultdict[Any, list[Approval]] = defaultdict(list)
    for each in asked.values():
        if each.decided_at and not each.is_pending:
            groups[each.decided_at].append(each)
    return list(groups.values())


def response_fields(answers: list[Approval]) -> dict[str, Any]:
    """The fields of a message that tells what was answered."""
    approvals = [returned(each) if each.returned else decided(each) for each in answers]
    first = next((each for each in approvals if each["type"] == "approval"), {})
    return {
        "approvals": approvals,
        "approve": first.get("approve"),
        "approval_request_id": first.get("tool_call_id"),
        "reason": first.get("reason"),
    }


def decided(approval: Approval) -> dict[str, Any]:
    """A decision; what nobody answered counts as refused."""
    unanswered = approval.status in (Status.EXPIRED, Status.STOPPED)
    return {
        "type": "approval",
        "tool_call_id": approval.tool_call_id,
        "approve": approval.status == Status.APPROVED,
        "reason": approval.refusal if unanswered else approval.reason or None,
    }


def returned(approval: Approval) -> dict[str, Any]:
    """What a script gave back."""
    return {"type": "tool", "tool_call_id": approval.tool_call_id, **(approval.returned or {})}
