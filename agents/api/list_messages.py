"""Recall memory in pages: an agent's messages between two cursors, as the wire has them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from agents.models import Agent, Message

from . import ids
from .cursors import MOST
from .messages_out import convert, system_message
from .schemas.fields import Order, Short
from .schemas.messages import Told

Place = tuple[int, int]  # a row's number, and a part of it
START: Place = (0, 0)  # where the system message stands


class Wanted(Told):
    """Which messages, and how they are shown.

    Without an order and a cursor, the newest, the oldest of them first. The system message comes
    before all that was said: a page that begins with the conversation begins with it.
    """

    limit: Annotated[int, Field(ge=1, le=MOST)] = 100
    after: Short | None = None
    before: Short | None = None
    order: Order | None = None


def page(agent: Agent, wanted: Wanted) -> list[dict[str, Any]]:
    """The messages wanted, in the order wanted; none where a cursor is not the agent's."""
    after, before = (cursor(agent, each) for each in (wanted.after, wanted.before))
    if (wanted.after and not after) or (wanted.before and not before):
        return []
    falls = wanted.order == "desc"
    lower, upper = (before, after) if falls else (after, before)
    # a page lies next to its cursor; without one it is the first, or, without an order, the last
    newest = not falls
    if after or not before:
        newest = falls or not (wanted.order or after)
    found = between(agent, lower, upper, wanted, newest=newest)
    return found[::-1] if falls else found


def cursor(agent: Agent, given: str | None) -> Place | None:
    """Where a message stands; None where it is not the agent's."""
    if given is None:
        return None
    if given == ids.system_message(agent.pk):
        return START
    pk, part = ids.part_of("message", given)
    number = Message.objects.filter(agent=agent, pk=pk).values_list("number", flat=True).first()
    return None if number is None else (number, part)


def between(
    agent: Agent, lower: Place | None, upper: Place | None, wanted: Wanted, *, newest: bool
) -> list[dict[str, Any]]:
    """At most `limit` messages between two, the oldest first; from the newer end if `newest`."""
    begins = lower is None and upper != START and kept(wanted, "system_message")
    if begins and not newest:
        wanted = wanted.model_copy(update={"limit": wanted.limit - 1})
        return [system_message(agent), *said(agent, lower, upper, wanted, newest=newest)]
    found = said(agent, lower, upper, wanted, newest=newest)
    if begins and len(found) < wanted.limit:
        return [system_message(agent), *found]
    return found


def said(
    agent: Agent, lower: Place | None, upper: Place | None, wanted: Wanted, *, newest: bool
) -> list[dict[str, Any]]:
    """The same without the system message.

    Rows are read in batches, as one may be none, one or several messages.
    """
    rows = Message.objects.filter(agent=agent, aside=False)
    if lower:
        rows = rows.filter(number__gte=lower[0])
    if upper:
        rows = rows.filter(number__lte=upper[0])
    found: list[dict[str, Any]] = []
    step = wanted.limit + 10
    while len(found) < wanted.limit:
        batch = list(rows.order_by("-number" if newest else "number")[:step])
        if not batch:
            break
        last = batch[-1].number
        rows = rows.filter(number__lt=last) if newest else rows.filter(number__gt=last)
        numbers = {row.pk: row.number for row in batch}
        wires = convert(batch[::-1] if newest else batch, agent, wanted)
        wires = [wire for wire in wires if inside(wire, numbers, lower, upper)]
        found = [*wires, *found] if newest else [*found, *wires]
        if len(batch) < step:
            break
    return found[-wanted.limit :] if newest else found[: wanted.limit]


def kept(told: Told, kind: str) -> bool:
    """Whether messages of a type are wanted."""
    return not told.include_return_message_types or kind in told.include_return_message_types


def inside(
    wire: dict[str, Any], numbers: dict[int, int], lower: Place | None, upper: Place | None
) -> bool:
    pk, part = ids.part_of("message", wire["id"])
    place = (numbers[pk], part)
    return (lower is None or place > lower) and (upper is None or place < upper)
