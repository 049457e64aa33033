"""Frames: what a socket sends next, read from the log and rendered, in a thread."""

from __future__ import annotations

from typing import Any, NamedTuple
from uuid import UUID

from django.contrib.auth.models import User

from agents.models import Agent, Conversation, Event
from agents.models.agent_list import list_agents
from agents.models.quota_checks import lowest_meter

from . import publisher
from .fragments import drawn, render

BATCH = 100  # events read from the log at once
CONVERSATION_GONE = "agents/events/conversation_gone.html"
TEMPORARY_GONE = "agents/events/temporary_gone.html"


class Frame(NamedTuple):
    """What a page is sent: an event's fragments, None for an event of another conversation, or a
    piece or a finished block of a draft, whose `seq` is 0 where the log may not have it yet."""

    seq: int
    kind: str
    content: str | None
    piece: dict[str, Any] | None = None
    block: dict[str, Any] | None = None


class NothingToShow(Exception):
    """What a page shows was deleted, or is no longer the person's; names the template that says
    so."""


def render_list(user: User, agent_id: UUID | None, conversation_id: UUID | None) -> str:
    """A person's list of agents, and what they are told of their quotas: both change with runs."""
    agents = list_agents(user, agent_id)
    shown = {"viewer": user, "shown_id": agent_id, "shown_conversation": conversation_id}
    quota = lowest_meter(user.pk)
    return drawn("agents/events/_agents.html", agents=agents, quota=quota, **shown)


def are_next(seq: int, events: list[publisher.Published]) -> bool:
    """Whether these are the very next events after `seq`, all rendered; or none. Pieces and blocks
    of drafts that are no events may be among them."""
    seqs = [event["seq"] for event in events if "seq" in event]
    drawn = all(event.get("piece") or event.get("block") or event["content"] for event in events)
    return seqs == list(range(seq + 1, seq + 1 + len(seqs))) and drawn


def frame_of(event: publisher.Published, conversation_id: UUID | None) -> Frame:
    """A published event, for the page of a conversation."""
    ours = event["conversation"] in ("", str(conversation_id))
    seq, content, piece = event.get("seq", 0), event.get("content", ""), event.get("piece")
    return Frame(seq, event["kind"], content if ours else None, piece, event.get("block"))


def render_next(user: User, agent_id: UUID, conversation_id: UUID, seq: int) -> list[Frame]:
    """The next events of the log after `seq`."""
    agent = Agent.find_visible_to(user, agent_id, temporary=True)
    if agent is None:
        raise NothingToShow("agents/events/gone.html")
    conversation = Conversation.of(agent, conversation_id)
    if conversation is None:
        raise NothingToShow(CONVERSATION_GONE)
    log = Event.objects.filter(agent=agent).after(seq)
    frames = []
    for at, kind, data, of in log.values_list("seq", "kind", "data", "conversation")[:BATCH]:
        if of not in (None, conversation.pk):
            frames.append(Frame(at, kind, None))
        elif kind == Event.Kind.TEXT:
            frames.append(Frame(at, kind, "", data))
        else:
            frames.append(Frame(at, kind, render(conversation, kind, data)))
    return frames
