"""Ways on where an endpoint refuses what was said: no history makes an agent unusable.

When a run fails over a refusal, what may be at fault is looked for once and kept with the step: the
messages that the refusal names, else the last exchange before the question. A person, or a script,
leaves them out of what is sent and tries again; they stay in recall memory and in the transcript.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext

from agents.llm import ModelError
from agents.memory import sent_requests
from agents.models import Event, Message, Run, Step
from agents.text.stored import stored as _

CALL = _("the call of %(tool)s")
DONE = _("what was done for this message so far")
EXCHANGE = _("the exchange that begins with %(words)s")
MESSAGE = _("message %(number)s")
KEY = "at_fault"  # in `Step.request`
PLACE = re.compile(
    r"messages?\W{0,2}(\d{1,6})\b|(?:message )?index (\d{1,6})|(\d{1,6})\. content block", re.I
)
LONGEST_NAMED = 60  # characters of a message that is named by its beginning


@dataclass(frozen=True)
class Fault:
    """Messages of which an endpoint may not take one, and what to call them."""

    numbers: Sequence[int]
    named: str


def fault_of(run: Run) -> Fault | None:
    """What may be left out of what is sent for a run that failed; None where nothing can be."""
    step = run.step_list[-1] if run.step_list else None
    kept = step.request.get(KEY) if step and run.status == Run.Status.FAILED else None
    return Fault(kept["numbers"], kept["named"]) if kept else None


def note_fault(run: Run, error: ModelError) -> None:
    """Keep with the last step what may be at fault for a refusal; where the run is held."""
    step = run.step_list[-1] if run.step_list else None
    if step is None or not error.refused:
        return
    fault = _named_in(error.server_words, step) or _last_exchange(run)
    if fault:
        step.request[KEY] = {"numbers": list(fault.numbers), "named": fault.named}
        step.update("request")


@transaction.atomic
def retry(run: Run, *, leave_out: bool = False, make_room: bool = False) -> bool:
    """Go on with a run that failed, without what may be at fault, or with room made first.

    False where it cannot go on: something was said since.
    """
    fault = fault_of(run) if leave_out else None
    if not run.retry(wants_room=make_room):
        return False
    if fault:
        _leave_out(run, fault.numbers)
    return True


@transaction.atomic
def leave_out(message: Message) -> None:
    """Send a message to the model no more; a call goes with what it returned."""
    _leave_out(_run_of(message), _with_step(message))


@transaction.atomic
def put_back(message: Message) -> None:
    """Send a message to the model again that was left out, with what was left out with it.

    ValidationError where the context begins after it by now.
    """
    run, numbers = _run_of(message), _with_step(message)
    run.agent = agent = run.agent.locked()
    rows = Message.objects.filter(agent=agent, number__in=numbers, left_out__isnull=False)
    found = list(rows.select_related("step__run"))
    run.conversation.refresh_from_db(fields=["context_from"])
    if any(row.number < run.conversation.context_from for row in found):
        raise ValidationError(
            gettext(
                "This message cannot be put back: older messages have left the context since, and"
                " it would be one of them. It is still in recall memory, where the agent can find"
                " it."
            )
        )
    for row in found:
        since, row.left_out = row.left_out or 0, None
        if since < agent.message_count:
            row.absences = [*row.absences, [since, agent.message_count]]
    Message.objects.bulk_update(found, ["left_out", "absences"])
    _redraw(run, found)


def _run_of(message: Message) -> Run:
    run = message.run or Run(agent=message.agent)
    run.agent, run.conversation = message.agent, message.conversation
    return run


def _with_step(message: Message) -> list[int]:
    """The numbers of a message and of those that are sent with it or not at all."""
    if not message.step_id:
        return [message.number]
    return list(Message.objects.filter(step=message.step_id).values_list("number", flat=True))


def _leave_out(run: Run, numbers: Iterable[int]) -> None:
    """Send these messages no more. Requests of before are still put together with them."""
    run.agent = agent = run.agent.locked()
    messages = Message.objects.filter(agent=agent, number__in=numbers, left_out=None)
    rows = list(messages.select_related("step__run"))
    messages.update(left_out=agent.message_count)
    for row in rows:
        row.left_out = agent.message_count
    _redraw(run, rows)


def _redraw(run: Run, rows: Sequence[Message]) -> None:
    """Note that these messages were left out or put back, and have pages draw them anew."""
    agent = run.agent
    run.conversation.count_rewriting()
    steps = {row.step_id: row.step for row in rows if row.step}
    events = [step.changed() for step in steps.values()]
    events += [Event.of(Event.Kind.MESSAGE_CHANGED, message=row) for row in rows if not row.step]
    for step in steps.values():
        step.run.agent = agent
    run.record(*events)


# -- what may be at fault --------------------------------------------------------------------------


def _named_in(said: str, step: Step) -> Fault | None:
    """The messages that a refusal names by a call's id, or by their place in the request."""
    sent = sent_requests.sent(step)
    if sent is None:
        return None
    wires = [(each, json.loads(each.json)) for each in sent.context.history]
    for each, wire in wires:
        ids = [call["id"] for call in wire.get("tool_calls", [])] + [wire.get("tool_call_id")]
        if any(call_id and call_id in said for call_id in ids):
            return _whole(step, range(each.first, each.number + 1))
    for found in PLACE.finditer(said):
        place = int(next(filter(None, found.groups()))) - 1  # the system message is the first
        if 0 <= place < len(wires) and wires[place][1]["role"] in ("assistant", "tool"):
            each = wires[place][0]
            return _whole(step, range(each.first, each.number + 1))
    return None


def _whole(step: Step, numbers: range) -> Fault | None:
    """Messages with all that belongs to them: a call goes with its return."""
    own = _in_context(step.run).filter(number__in=numbers).exclude(role=Message.Role.USER)
    steps = [pk for pk in own.values_list("step_id", flat=True) if pk]
    rows = list(own) + list(_in_context(step.run).filter(step__in=steps))
    calls = [call for row in rows for call in row.calls()]
    if not rows:
        return None
    ids = [call.id for call in calls]
    rows += _in_context(step.run).filter(step=None, tool_call_id__in=ids) if ids else []
    named = CALL % {"tool": calls[0].name} if calls else _beginning(rows[0])
    return Fault(sorted({row.number for row in rows}), named)


def _last_exchange(run: Run) -> Fault | None:
    """What the run itself has done so far, else the exchange before it."""
    done = _in_context(run).filter(run=run, step__isnull=False)
    if numbers := list(done.values_list("number", flat=True)):
        return Fault(numbers, DONE)
    before = _in_context(run).exclude(run=run)
    newest = before.order_by("-number").first()
    if newest is None:
        return None
    exchange = before.filter(run=newest.run_id).order_by("number")
    numbers = list(exchange.values_list("number", flat=True))
    return Fault(numbers, EXCHANGE % {"words": _beginning(exchange[0])})


def _in_context(run: Run) -> QuerySet[Message]:
    return Message.objects.filter(
        conversation=run.conversation,
        number__gte=run.conversation.context_from,
        status__in=(Message.Status.COMPLETE, Message.Status.STOPPED),
        internal=False,
        left_out=None,
    )


def _beginning(message: Message) -> str:
    words: Any = " ".join(message.words.split())
    short = words if len(words) <= LONGEST_NAMED else f"{words[: LONGEST_NAMED - 1]}…"
    return f"“{short}”" if short else MESSAGE % {"number": f"{message.number:,}"}
