"""Following a run: its messages as they are written, and waiting until it rests.

A `Follower` reads what is stored and returns what it has not returned yet. It is asked whenever the
agent's events are published, and every few seconds, because a publication can get lost. Each item
has a `seq_id`, from which another follower can continue:
`((number · 1000 + part) · 1,000,000) + characters`, where `number` is the message's number in its
agent, `part` is the part of the row (see `messages_out`), and 999,999 stands for a whole message.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple
from uuid import UUID

from django.utils import timezone

from agents.live import publisher
from agents.models import Agent, Message, Run
from agents.models.people import is_active
from agents.tools import speaks_by_tool

from . import ids
from .messages_out import (
    REASONING,
    REQUEST,
    TEXT,
    ApiMessage,
    Conversion,
    head,
    requests_of,
    timestamp,
)
from .schemas.messages import MessageOptions
from .schemas.runs import stop_reason
from .ways_on import in_a_sentence

WHOLE = 999_999
NOT_ENDED = (Run.Status.QUEUED, Run.Status.RUNNING)
LOOK_SECONDS = 5.0  # how often the log is looked at, with news or without
PARTS = {"content": TEXT, "reasoning": REASONING}


class Follower:
    """The messages of a run after `after`; with `tokens`, also parts of unfinished messages.

    Messages up to the number `seen` were returned before the run continued.
    """

    def __init__(
        self,
        run: Run,
        options: MessageOptions,
        *,
        tokens: bool = False,
        after: int = 0,
        seen: int = -1,
    ) -> None:
        self.run_id, self.options, self.tokens, self.after = run.pk, options, tokens, after
        self.agent: Agent = run.agent
        self.by_tool = speaks_by_tool(run.agent)
        self.conversion = Conversion(options, self.by_tool)
        self.seen = self.number = seen  # of the last message that was returned whole
        self.requests: set[str] = set()  # ids of the requests for approval that were returned
        self.returned: dict[tuple[int, int], int] = {}  # characters, by row and part
        self.draft: Message | None = None  # that is being written
        self.ended = False

    def more(self) -> list[ApiMessage]:
        """What is new, with the end of the run if it has ended."""
        run = Run.find(self.run_id)
        if run is None or not is_active(self.agent.owner_id):  # deleted, or disabled since then
            self.ended = True
            return []
        items = self._parts() if self.tokens else []
        items += self._messages(run)
        if run.status not in NOT_ENDED:
            self.ended = True
            items += self._requests(run) + ending(run, self.seen)
        return items

    def _requests(self, run: Run) -> list[ApiMessage]:
        """What a run waits for, where that showed only when the call was made."""
        requests = []
        run.agent = self.agent
        for row, request in requests_of(run, self.options):
            if request["id"] not in self.requests:
                part = ids.part_of("message", request["id"])[1]
                requests.append(request | {"seq_id": self._place(row.number, part) + WHOLE})
        return requests

    def _messages(self, run: Run) -> list[ApiMessage]:
        """The finished messages, up to the first that is not."""
        rows = run.stored_messages(self.number)
        draft = next((i for i, row in enumerate(rows) if row.status == row.Status.DRAFT), None)
        rows = [row for row in rows[:draft] if row.role in (row.Role.ASSISTANT, row.Role.TOOL)]
        self.conversion.prepare(rows)
        messages = []
        for row in rows:
            self.number = row.number
            for message in self.conversion.messages(row):
                if message["message_type"] == REQUEST:
                    self.requests.add(message["id"])
                messages += self._rest_of(row, message)
        return messages

    def _rest_of(self, row: Message, message: ApiMessage) -> list[ApiMessage]:
        """The part of a finished message that was not returned yet."""
        part = ids.part_of("message", message["id"])[1]
        place = self._place(row.number, part)
        if place + WHOLE <= self.after:
            return []
        message["seq_id"] = place + WHOLE
        returned = max(self.returned.get((row.pk, part), 0), self.after - place)
        field = next((name for name in PARTS if message["message_type"] == kind_of(name)), None)
        if not self.tokens or field is None or returned <= 0:
            return [message]
        rest = message[field][returned:]
        return [message | {field: rest}] if rest else []

    def _parts(self) -> list[ApiMessage]:
        """What the log has of the message that is being written."""
        drafts = Message.objects.filter(run=self.run_id, status=Message.Status.DRAFT)
        self.draft = drafts.first()
        texts = self.draft.texts.order_by("seq") if self.draft else []
        return self.pieces([event.data for event in texts])

    def pieces(self, pieces: Sequence[dict[str, Any]]) -> list[ApiMessage]:
        """Parts of the message that is being written, of what was published or is in the log."""
        row, parts = self.draft, []
        for piece in pieces if self.tokens else ():
            field, text, start = piece["field"], piece["text"], piece["start"]
            kind, part = kind_of(field), PARTS[field]
            if (field == "content" and self.by_tool) or not self.options.includes(kind):
                continue  # only a finished message shows whether its text is reasoning
            if row is None or piece["message"] != row.pk:
                continue
            place, end = self._place(row.number, part), start + len(text)
            returned = max(self.returned.get((row.pk, part), 0), self.after - place)
            if start <= returned < end:
                new = {field: text[returned - start :]}
                source = {"source": "reasoner_model"} if field == "reasoning" else {}
                seq = {"seq_id": place + min(end, WHOLE - 1)}
                parts.append(head(row, kind, part) | new | source | seq)
                self.returned[row.pk, part] = end
        return parts

    @staticmethod
    def _place(number: int, part: int) -> int:
        return (number * 1000 + min(part, 999)) * (WHOLE + 1)


def kind_of(field: str) -> str:
    """The type of message that shows a field of a draft."""
    return "assistant_message" if field == "content" else "reasoning_message"


# -- the end ---------------------------------------------------------------------------------------


def ending(run: Run, seen: int = -1) -> list[ApiMessage]:
    """Why the run rests, and the tokens that it used."""
    failed = {
        "message_type": "error_message",
        "run_id": ids.numbered("run", run.pk),
        "error_type": "model_error",
        "message": run.error,
        "detail": run.error + in_a_sentence(run),
    }
    errors = [failed] if run.status == Run.Status.FAILED else []
    return [*errors, stopped(run), usage(run, seen)]


def stopped(run: Run) -> ApiMessage:
    return {"message_type": "stop_reason", "stop_reason": stop_reason(run) or "end_turn"}


def usage(run: Run, seen: int = -1) -> ApiMessage:
    """The tokens that the endpoint reported, over all steps after the message `seen`."""
    steps = run.stored_steps()
    if seen >= 0:  # those before were reported with what was answered then
        before = set(run.messages.filter(number__lte=seen).values_list("step_id", flat=True))
        steps = [step for step in steps if step.pk not in before]
    prompt = sum(step.prompt_tokens or 0 for step in steps)
    completion = sum(step.completion_tokens or 0 for step in steps)
    return {
        "message_type": "usage_statistics",
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "step_count": len(steps),
        "context_tokens": steps[-1].context_tokens if steps else None,
        "run_ids": [ids.numbered("run", run.pk)],
    }


# -- waiting ---------------------------------------------------------------------------------------


class News(NamedTuple):
    """Pieces of drafts that were published, and whether the log is to be looked at."""

    pieces: list[dict[str, Any]]
    look: bool


@asynccontextmanager
async def listening(
    agent_id: UUID, *, every: bool
) -> AsyncIterator[Callable[[float], Awaitable[News]]]:
    """A function that waits for news of an agent, at most so many seconds.

    News is `every` event, or only those that end a run or make it wait for a person.
    """
    notified = asyncio.Event()
    published: list[publisher.Published] = []
    grown = False

    def listener(events: list[publisher.Published]) -> None:
        nonlocal grown
        published.extend(events)
        grown = grown or not events
        notified.set()

    async def wait(seconds: float) -> News:
        nonlocal grown
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await notified.wait()
        notified.clear()
        news = News([event["piece"] for event in published], grown or not published)
        grown = False
        published.clear()
        return news

    topic = publisher.log_topic(agent_id) if every else publisher.rest_topic(agent_id)
    publisher.subscribe(topic, listener)
    try:
        yield wait
    finally:
        publisher.unsubscribe(topic, listener)


def line(item: ApiMessage) -> str:
    """An event of a stream, without an `event:` line: the SDKs ignore events that have one."""
    return f"data: {json.dumps(item, ensure_ascii=False)}\n\n"


END = "data: [DONE]\n\n"


def ping(run_id: int) -> ApiMessage:
    """A message that only shows that the connection is alive."""
    return {
        "id": f"ping-{ids.numbered('run', run_id).removeprefix('run-')}",
        "date": timestamp(timezone.now()),
        "message_type": "ping",
        "run_id": ids.numbered("run", run_id),
        "seq_id": None,
    }
