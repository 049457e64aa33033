"""Sending messages: starts the run that answers, or finds it again."""

from __future__ import annotations

import hashlib
import json
from typing import Any, NamedTuple
from uuid import uuid4

from django.db import transaction
from django.http import HttpRequest

from agents.models import Agent, Conversation, Run
from agents.models.message import storable
from agents.tools import ENDING

from .content import Content, check_sources, checked_text, content_of, keep_images
from .decisions import decide
from .errors import Refused, conflict, invalid
from .lookups import person
from .messages_out import pending_request
from .model_choice import check_model
from .schemas.fields import Json
from .schemas.messages import NewMessage, SendMessages, shown_options
from .skills import listed_skills

ANSWERING = ("approval", "tool_return")  # types of messages that answer a waiting call


class Started(NamedTuple):
    """The run that answers a request, and the number of the message after which it does.

    `then` is the run that begins when that one has ended, where a request both answers tool calls
    that waited and sends a message.
    """

    run: Run
    seen: int = -1
    then: Run | None = None


def start_run(request: HttpRequest, conversation: Conversation, data: SendMessages) -> Started:
    """Begin the run of a request, or have the one go on whose tool calls it answers.

    If the same request was sent before, the runs are those that it started.
    """
    if data.input is not None and data.messages is not None:
        raise invalid("input", "Give either 'input' or 'messages', not both.")
    sent = data.messages or []
    if data.input is not None:
        sent = [NewMessage(content=data.input)]
    if not sent:
        raise invalid("messages", "There is no message; give 'messages' or 'input'.")
    answers = sent[0].type in ANSWERING
    said = sent[1:] if answers else sent
    if any(each.type in ANSWERING for each in said):
        words = "What is said about tool calls that wait is one message, before all others."
        raise invalid("messages", words)
    new = new_run(request, conversation.agent, data, said) if said else None
    if not answers:
        assert new
        if not (new.key and conversation.agent.runs.filter(key=new.key).exists()):
            refuse_if_undecided(conversation)
        return Started(begin(conversation, new))
    with transaction.atomic():
        run, seen = decide(request, conversation, data)
        return Started(run, seen, begin(conversation, new) if new else None)


class NewRun(NamedTuple):
    """A run that may begin: its text, the key that a script gave it, and its other fields."""

    text: str
    key: str
    fields: dict[str, Any]


def new_run(
    request: HttpRequest, agent: Agent, data: SendMessages, sent: list[NewMessage]
) -> NewRun:
    """The run of these messages; 422 where something is wrong with them. It can be slow."""
    tools = brought_tools(agent, data)
    overrides = overridden(data, agent)
    contents = contents_of(sent)
    messages = [(each.role, said.text) for each, said in zip(sent, contents, strict=True)]
    sources = [said.sources for said in contents if said.sources]
    senders = [storable(each.sender_id or "") for each in sent]
    more: list[Any] = [each for each in (tools, data.callback_url, sources) if each]
    more += [senders] if any(senders) else []
    said = [messages, data.max_steps, *more, *sorted(overrides.items())]
    name = request.headers.get("Idempotency-Key") or sent[-1].otid
    key = key_named(name) if name else ""
    images = kept_images(request, agent, contents, key)
    *before, last = (
        {"role": role, "content": text, "sender_id": sender, "images": its}
        for (role, text), sender, its in zip(messages, senders, images, strict=True)
    )
    fields = {
        "author": person(request),
        "role": last["role"],
        "sender_id": last["sender_id"],
        "images": last["images"],
        "before": before,
        "background": data.background,
        "most_steps": data.max_steps,
        "request_sha256": hashlib.sha256(json.dumps(said).encode()).hexdigest(),
        "client_tools": tools,
        **overrides,
        "request_config": shown_options(data),
        "callback_url": data.callback_url or "",
    }
    return NewRun(messages[-1][1], key, fields)


def begin(conversation: Conversation, new: NewRun) -> Run:
    """Begin a run, or queue it; the one that is there already, if its key was used before."""
    run = conversation.start(new.text, new.key or f"api:{uuid4()}", **new.fields)
    if run.request_sha256 != new.fields["request_sha256"]:
        raise conflict("This Idempotency-Key was used for a different request; use a new one.")
    run.agent = conversation.agent
    return run


def kept_images(
    request: HttpRequest, agent: Agent, contents: list[Content], key: str
) -> list[list[str]]:
    """The images of messages, stored, as the SHA-256s of each one's; not of a request that comes
    again, whose run has them."""
    sources = any(content.sources for content in contents)
    if sources and key and agent.runs.filter(key=key).exists():
        return [["" for _ in content.sources] for content in contents]
    return keep_images(person(request), agent, contents)


def contents_of(sent: list[NewMessage]) -> list[Content]:
    """What messages say; 422 where one says nothing, or has images that it may not have."""
    contents = [content_of(each.content) for each in sent]
    check_sources(contents)
    for message, content in zip(sent, contents, strict=True):
        if content.sources and message.role != "user":
            raise invalid("messages", "Only a message of role 'user' may have images.")
    return [
        content._replace(text=checked_text(content.text, images=bool(content.sources)))
        for content in contents
    ]


def overridden(data: SendMessages, agent: Agent) -> dict[str, str]:
    """What stands in for the agent's settings in this run. 422 for a model that cannot be."""
    if data.override_model:
        check_model(data.override_model, agent.owner_id, "override_model")
    given = {"override_model": data.override_model, "override_system": data.override_system}
    given["skills"] = listed_skills(data.client_skills)
    return {name: value for name, value in given.items() if value}


def key_named(name: str) -> str:
    """The key of the run of a request that a script named, by its `otid` for example."""
    return f"api:{hashlib.sha256(name.encode(errors='replace')).hexdigest()}"


def refuse_if_undecided(conversation: Conversation) -> None:
    """409 if tool calls wait to be approved, or for what a script returns, first."""
    if waiting := Run.objects.waiting_for_approval(conversation):
        waiting.agent = conversation.agent
        words = (
            "The agent is waiting for approval on a tool call, or for a script to return one:"
            " send a message of type 'approval', or decide in the page."
        )
        detail = {"code": "PENDING_APPROVAL", "message": words}
        request = pending_request(waiting) or {}
        raise Refused(409, detail | {"pending_request_id": request.get("id")})


def brought_tools(agent: Agent, data: SendMessages) -> list[Json]:
    """The client-side tools of a request. 422 for one of the name by which the agent talks."""
    tools = [each.model_dump() for each in data.client_tools or []]
    for tool in tools:
        if tool["name"] in ENDING and tool["name"] in agent.tools:
            words = f"The agent talks by its own tool {tool['name']}; give yours another name."
            raise invalid("client_tools", words)
    return tools
