"""What was said in an agent's conversation: begun with, rewritten, forgotten."""

from __future__ import annotations

from collections.abc import Sequence

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from .agent import Agent
from .event import Event
from .message import Message, checked, storable
from .run import Run


@transaction.atomic
def post_first_messages(agent: Agent, messages: Sequence[tuple[str, str]]) -> None:
    """Have an agent begin with these messages, each a role and a text, as a run that is over.

    ValidationError where one of them is empty or too long.
    """
    rows = [Message(agent=agent, role=role, content=checked(text)) for role, text in messages]
    now = timezone.now()
    run = Run(agent=agent, key="given", text=rows[-1].content, status=Run.Status.DONE)
    run.reason, run.started_at, run.finished_at = Run.Reason.GIVEN, now, now
    run.insert()
    last = agent.record(Event.of(Event.Kind.RUN_CHANGED, run=run), messages=len(rows))
    for number, row in enumerate(rows, last - len(rows) + 1):
        row.run, row.number = run, number
        row.insert()


@transaction.atomic
def rewrite_message(
    message: Message, *, content: str | None = None, reasoning: str | None = None
) -> None:
    """Change what was said in the past; the agent's next step sees it so.

    A step that sent the message as it was can then no longer show its request as proven.
    ValidationError where the message is still being written, or the text is empty or too long.
    """
    agent = message.agent.locked()
    message.refresh_from_db(fields=["status", "content", "reasoning"])
    if message.status == Message.Status.DRAFT:
        raise ValidationError("The message is still being written; wait until its run has ended.")
    if content is not None:
        message.content = checked(content)
    if reasoning is not None:
        message.reasoning = storable(reasoning)
    message.save(update_fields=["content", "reasoning"])
    changed = Event.of(Event.Kind.MESSAGE_CHANGED, message=message)
    agent.record(message.step.changed() if message.step else changed)
    agent.configure(rewritten=agent.rewritten + 1)


@transaction.atomic
def reset_messages(agent: Agent) -> bool:
    """Forget all that was said, for good; memory stays. False, and nothing is forgotten, while a
    run goes on or waits."""
    agent = agent.locked()
    if agent.runs.filter(status__in=[*Run.ACTIVE, Run.Status.QUEUED]).exists():
        return False
    agent.messages.all().delete()
    agent.runs.all().delete()
    agent.record(Event.of(Event.Kind.RESET))
    agent.configure(context_from=0, message_count=0, rewritten=agent.rewritten + 1)
    return True
