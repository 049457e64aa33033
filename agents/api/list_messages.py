"""Recall memory in pages: an agent's messages between two cursors, in the SDKs' form."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from agents.models import Agent, Conversation, Message
from agents.tools import speaks_by_tool

from . import ids
from .cursors import MOST
from .messages_out import ApiMessage, convert, system_message
from .schemas.fields import Order, Short
from .schemas.messages import MessageOptions

Of = Agent | Conversation
Place = tuple[int, int]  # the number of a row, and which part of it
START: Place = (0, 0)  # of the system message


class MessagePage(MessageOptions):
    """Which messages to list, and how they are shown.

    Without an order and a cursor: the newest messages, oldest first. The system message comes
    before all others, so it starts the page that the conversation starts on.
    """

    limit: Annotated[int, Field(ge=1, le=MOST)] = 100
    after: Short | None = None
    before: Short | None = None
    order: Order | None = None
    conversation_id: Short | None = None


def page_of_messages(
    agent: Agent, page: MessagePage, conversation: Conversation | None = None
) -> list[ApiMessage]:
    """The messages of a page, in its order, of one conversation or of all; none if a cursor names
    no message of the agent."""
    after, before = (place_of(agent, each) for each in (page.after, page.before))
    if (page.after and not after) or (page.before and not before):
        return []
    descends = page.order == "desc"
    lower, upper = (before, after) if descends else (after, before)
    # a page is next to its cursor; without one it is the first, or, without an order, the last
    newest = not descends
    if after or not before:
        newest = descends or not (page.order or after)
    messages = between(conversation or agent, lower, upper, page, newest=newest)
    return messages[::-1] if descends else messages


def place_of(agent: Agent, message_id: str | None) -> Place | None:
    """The place of a message; None if the agent has no such message."""
    if message_id is None:
        return None
    if message_id == ids.system_message(agent.pk):
        return START
    pk, part = ids.part_of("message", message_id)
    number = Message.objects.filter(agent=agent, pk=pk).values_list("number", flat=True).first()
    return None if number is None else (number, part)


def between(
    of: Of, lower: Place | None, upper: Place | None, page: MessagePage, *, newest: bool
) -> list[ApiMessage]:
    """At most `limit` messages between two, the oldest first; from the newer end if `newest`."""
    starts = lower is None and upper != START and page.includes("system_message")
    if starts and not newest:
        page = page.model_copy(update={"limit": page.limit - 1})
        return [system_message(shown(of)), *stored(of, lower, upper, page, newest=newest)]
    messages = stored(of, lower, upper, page, newest=newest)
    if starts and len(messages) < page.limit:
        return [system_message(shown(of)), *messages]
    return messages


def shown(of: Of) -> Conversation:
    """The conversation whose system message is shown."""
    return of.first_conversation if isinstance(of, Agent) else of


def stored(
    of: Of, lower: Place | None, upper: Place | None, page: MessagePage, *, newest: bool
) -> list[ApiMessage]:
    """The same without the system message.

    Rows are read in batches, because a row can be no message, one, or several.
    """
    agent = shown(of).agent
    rows = of.messages.filter(internal=False).defer("extra")
    if lower:
        rows = rows.filter(number__gte=lower[0])
    if upper:
        rows = rows.filter(number__lte=upper[0])
    messages: list[ApiMessage] = []
    step = page.limit * 3 // 2 if speaks_by_tool(agent) else page.limit  # returns are left out
    while len(messages) < page.limit:
        batch = list(rows.order_by("-number" if newest else "number")[:step])
        if not batch:
            break
        last = batch[-1].number
        rows = rows.filter(number__lt=last) if newest else rows.filter(number__gt=last)
        numbers = {row.pk: row.number for row in batch}
        more = convert(batch[::-1] if newest else batch, agent, page, listed=True)
        more = [message for message in more if inside(message, numbers, lower, upper)]
        messages = [*more, *messages] if newest else [*messages, *more]
        if len(batch) < step:
            break
    return messages[-page.limit :] if newest else messages[: page.limit]


def inside(
    message: ApiMessage, numbers: dict[int, int], lower: Place | None, upper: Place | None
) -> bool:
    pk, part = ids.part_of("message", message["id"])
    place = (numbers[pk], part)
    return (lower is None or place > lower) and (upper is None or place < upper)
