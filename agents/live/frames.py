"""Frames: what a socket sends next, read from the log and rendered, in a thread."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.models import User

from agents.models import Agent, Conversation, Event

from . import publisher
from .fragments import drawn, render

BATCH = 100  # events read from the log at once
CONVERSATION_GONE = "agents/events/conversation_gone.html"

# An event's seq, its kind, and its fragments; None for an event of another conversation.
Frame = tuple[int, str, str | None]


class NothingToShow(Exception):
    """What a page shows was deleted, or is no longer the person's; names the template that says
    so."""


def render_list(user: User, agent_id: UUID | None, conversation_id: UUID | None) -> str:
    agents = Agent.objects.visible_to(user).select_related("owner").listed().with_activity()
    shown = {"viewer": user, "shown_id": agent_id, "shown_conversation": conversation_id}
    return drawn("agents/events/_agents.html", agents=agents, **shown)


def are_next(seq: int, events: list[publisher.Published]) -> bool:
    """Whether these are the very next events after `seq`, all rendered; or none."""
    seqs = [event["seq"] for event in events]
    return seqs == list(range(seq + 1, seq + 1 + len(seqs))) and all(e["content"] for e in events)


def frame_of(event: publisher.Published, conversation_id: UUID | None) -> Frame:
    """A published event, for the page of a conversation."""
    ours = event["conversation"] in ("", str(conversation_id))
    return event["seq"], event["kind"], event["content"] if ours else None


def render_next(user: User, agent_id: UUID, conversation_id: UUID, seq: int) -> list[Frame]:
    """The next events of the log after `seq`."""
    agent = Agent.find_visible_to(user, agent_id)
    if agent is None:
        raise NothingToShow("agents/events/gone.html")
    conversation = Conversation.of(agent, conversation_id)
    if conversation is None:
        raise NothingToShow(CONVERSATION_GONE)
    log = Event.objects.filter(agent=agent).after(seq)
    return [
        (seq, kind, render(conversation, kind, data) if of in (None, conversation.pk) else None)
        for seq, kind, data, of in log.values_list("seq", "kind", "data", "conversation")[:BATCH]
    ]
