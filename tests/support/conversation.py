"""Conversations that are stored without anybody having run."""

from __future__ import annotations

from agents.models import Agent, Message
from tests.support.stored import of


def add_message(agent: Agent, role: str, content: str = "", **more: object) -> Message:
    """A message as it is stored, without anybody having run."""
    agent.message_count += 1
    agent.save()
    return Message.objects.create(
        **of(agent), role=role, content=content, number=agent.message_count, **more
    )


def talk(agent: Agent, exchanges: int, length: int = 230) -> None:
    for number in range(exchanges):
        add_message(agent, "user", f"Question {number}: " + "x" * length)
        add_message(agent, "assistant", f"Answer {number}: " + "y" * length)
