"""Reflection: the agent goes over what was said and puts its core memory in order.

A run of its own, with the tools that edit core memory and no others. What is said in it stays out
of the conversation. Letta calls it sleep-time.
"""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from agents.models import Conversation, Run

INSTRUCTIONS = """\
This is no message of the person: it is time to reflect. Go over the conversation since your last \
reflection and over your core memory, and put the memory in order with your tools:
- merge lines that say the same,
- where two contradict each other, keep what is true now,
- note what matters later and is not noted yet,
- shorten what is longer than it need be.
Leave alone what is in order. When you are done, say in one sentence what you changed, or that \
nothing had to be."""


def reflect(conversation: Conversation) -> Run:
    """Have the agent reflect on a conversation, after what goes on; at most one waits."""
    waiting = (run for run in conversation.waiting_runs() if run.kind == Run.Kind.REFLECTION)
    return next(waiting, None) or conversation.start(
        INSTRUCTIONS, f"reflection-{uuid4().hex}", Run.Kind.REFLECTION
    )


def reflect_after(run: Run, **_: Any) -> None:
    """Have the agent of a run that was answered reflect, if it is due."""
    if run.kind == Run.Kind.MESSAGE and run.status == Run.Status.DONE:
        reflect_if_due(run)


def reflect_if_due(run: Run) -> Run | None:
    """Have the agent reflect if it does so by itself, and enough runs of the conversation have
    ended since."""
    if not run.agent.reflect_every:
        return None
    runs = Run.objects.filter(conversation=run.conversation_id)
    last = runs.filter(kind=Run.Kind.REFLECTION).order_by("-pk").first()
    answered = runs.filter(kind=Run.Kind.MESSAGE, status=Run.Status.DONE)
    if last:
        answered = answered.filter(pk__gt=last.pk)
    if answered.count() < run.agent.reflect_every:
        return None
    run.conversation.agent = run.agent
    return reflect(run.conversation)
