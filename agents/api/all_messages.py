"""Messages of all of a person's agents: listed together, and read by their ids alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from ninja import Query

from agents.models import Agent, Conversation, Message

from . import ids, lookups
from .auth import READ
from .content import fill_in
from .errors import not_found
from .json_router import JsonRouter, json_response
from .list_messages import MessagePage, page_of_messages
from .messages_out import ApiMessage, convert, system_message
from .schemas.fields import Order
from .schemas.messages import MessageOptions, MessageState

router = JsonRouter(tags=["messages"])


class AllMessagesPage(MessagePage):
    """Which messages of all agents to list; the newest come first unless `order` is "asc"."""

    order: Order = "desc"


@router.get(
    "/messages/", auth=READ, response=list[MessageState], operation_id="list_messages_of_all"
)
def index(request: HttpRequest, page: Query[AllMessagesPage]) -> HttpResponse:
    """The messages of all agents, or of one conversation, the newest first. System messages are
    compiled for each agent, and are listed only with its own messages."""
    if page.conversation_id:
        conversation = lookups.conversation(request, page.conversation_id)
        return json_response(page_of_messages(conversation.agent, page, conversation))
    return json_response(page_of_all(lookups.messages(request), page))


@router.get(
    "/messages/{message_id}",
    auth=READ,
    response=list[MessageState],
    operation_id="retrieve_message",
)
def retrieve(request: HttpRequest, message_id: str) -> HttpResponse:
    """A message, with what was stored together with it: reasoning, text and tool calls. Images have
    their `data`, which lists leave out."""
    if agent := agent_of_system_message(request, message_id):
        return json_response([system_message(Conversation.first_of(agent))])
    key = ids.key_of("message", message_id)
    row = lookups.find(lookups.messages(request), "message", key, text=message_id)
    messages = convert([row], row.agent, MessageOptions(), listed=True)
    if not messages:
        raise not_found("message", message_id)
    for message in messages:
        if isinstance(message.get("content"), list):
            fill_in(message["content"], row.agent)
    return json_response(messages)


def agent_of_system_message(request: HttpRequest, message_id: str) -> Agent | None:
    """The agent whose system message has this id, which is made from the agent's key."""
    agents = Agent.objects.visible_to(lookups.person(request))
    if ids.NUMBERED.fullmatch(message_id.removeprefix("message-")):
        return None
    keys = agents.values_list("pk", flat=True)
    found = next((key for key in keys if ids.system_message(key) == message_id), None)
    return agents.filter(pk=found).first() if found else None


def page_of_all(rows: QuerySet[Message], page: MessagePage) -> list[ApiMessage]:
    """A page of messages in the order in which they were stored.

    Rows are read in batches, because a row can be no message, one, or several.
    """
    descends = page.order == "desc"
    lower, upper = (page.before, page.after) if descends else (page.after, page.before)
    above = ids.part_of("message", lower) if lower else None
    below = ids.part_of("message", upper) if upper else None
    newest = descends != (page.before is not None and page.after is None)
    if above:
        rows = rows.filter(pk__gte=above[0])
    if below:
        rows = rows.filter(pk__lte=below[0])
    messages: list[ApiMessage] = []
    reached: int | None = None
    while len(messages) < page.limit:
        further = Q() if reached is None else Q(pk__lt=reached) if newest else Q(pk__gt=reached)
        batch = list(rows.filter(further).order_by("-pk" if newest else "pk")[: page.limit])
        if not batch:
            break
        reached = batch[-1].pk
        more = [
            message
            for message in converted(batch, page)
            if (above is None or place_of(message) > above)
            and (below is None or place_of(message) < below)
        ]
        messages = [*more, *messages] if newest else [*messages, *more]
    messages = messages[-page.limit :] if newest else messages[: page.limit]
    return messages[::-1] if descends else messages


def converted(rows: Sequence[Message], page: MessagePage) -> list[ApiMessage]:
    """Rows of several agents in the SDKs' form, the oldest first."""
    by_agent: dict[Agent, list[Message]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: row.pk):
        by_agent[row.agent].append(row)
    messages = [
        message
        for agent, own in by_agent.items()
        for message in convert(own, agent, page, listed=True)
    ]
    return sorted(messages, key=lambda message: place_of(message)[0])


def place_of(message: ApiMessage) -> tuple[int, int]:
    """The key of a message's row, and which part of it the message is."""
    return ids.part_of("message", message["id"])
