"""Following a run: what it says as it says it, and waiting until it rests.

A `Follower` looks at what is stored and gives what it has not given yet; it is asked whenever the
agent's events are published, and now and then, as a message may get lost. What it gives has a
`seq_id`, from which another one can go on: `((number · 1000 + part) · 1,000,000) + characters`,
with `number` the message's in its agent, `part` of the row (`conversion.py`), and 999,999 for a
whole message.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from uuid import UUID

from django.contrib.auth.models import User
from django.core.serializers.json import DjangoJSONEncoder
from django.utils import timezone

from agents.live import publisher
from agents.models import Agent, Event, Message, Run, Step
from agents.models.prepared_sql import find, read
from agents.tools import speaks_by_tool

from . import ids
from .messages_out import REASONING, TEXT, Conversion, Wire, head
from .schemas.messages import Told
from .ways_on import in_a_sentence

WHOLE = 999_999
GOES_ON = (Run.Status.QUEUED, Run.Status.RUNNING)
LOOK_SECONDS = 5.0  # how often the log is looked at, with news or without
PARTS = {"content": TEXT, "reasoning": REASONING}
SAID = {"content": "content", "reasoning": "reasoning"}


class Follower:
    """What a run says, from `after` on; with `tokens` also what of a message is there so far."""

    def __init__(self, run: Run, told: Told, *, tokens: bool = False, after: int = 0) -> None:
        self.run_id, self.told, self.tokens, self.after = run.pk, told, tokens, after
        self.agent: Agent = run.agent
        self.by_tool = speaks_by_tool(run.agent)
        self.conversion = Conversion(told, self.by_tool)
        self.number = -1  # of the last message that was given whole
        self.given: dict[tuple[int, int], int] = {}  # characters, by row and part
        self.ended = False

    def more(self) -> list[Wire]:
        """What there is to say by now, and the end where there is one."""
        run = find(Run, self.run_id)
        if run is None or not self._may_listen():  # the agent was reset, or deleted for good
            self.ended = True
            return []
        said = self._pieces() if self.tokens else []
        said += self._messages()
        if run.status not in GOES_ON:
            self.ended = True
            said += ending(run)
        return said

    def _may_listen(self) -> bool:
        """Whether whom the agent is of has not been disabled since the request was let in."""
        return bool(read(User, "WHERE id = %s AND is_active", self.agent.owner_id))

    def _messages(self) -> list[Wire]:
        """The messages that are whole, up to the first that is not."""
        later = "WHERE run_id = %s AND number > %s ORDER BY number"
        rows = read(Message, later, self.run_id, self.number)
        draft = next((i for i, row in enumerate(rows) if row.status == row.Status.DRAFT), None)
        rows = [row for row in rows[:draft] if row.role in (row.Role.ASSISTANT, row.Role.TOOL)]
        self.conversion.learn(rows)
        found = []
        for row in rows:
            self.number = row.number
            for wire in self.conversion.wire(row):
                found += self._rest_of(row, wire)
        return found

    def _rest_of(self, row: Message, wire: Wire) -> list[Wire]:
        """What of a whole message was not given yet."""
        part = ids.part_of("message", wire["id"])[1]
        place = self._place(row.number, part)
        if place + WHOLE <= self.after:
            return []
        wire["seq_id"] = place + WHOLE
        given = max(self.given.get((row.pk, part), 0), self.after - place)
        field = next((name for name in SAID if wire["message_type"] == kind_of(name)), None)
        if not self.tokens or field is None or given <= 0:
            return [wire]
        rest = wire[field][given:]
        return [wire | {field: rest}] if rest else []

    def _pieces(self) -> list[Wire]:
        """What was streamed of the message that is being written."""
        found: list[Wire] = []
        got: dict[tuple[int, int], int] = {}
        wanted = self.told.include_return_message_types
        texts = Event.objects.filter(draft__run=self.run_id).select_related("draft")
        for event in texts.order_by("seq"):
            field, text, row = event.data["field"], event.data["text"], event.draft
            assert row is not None
            kind, part = kind_of(field), PARTS[field]
            if (field == "content" and self.by_tool) or (wanted and kind not in wanted):
                continue  # whether it is said or thought is known when the message is whole
            begins = got.get((row.pk, part), 0)
            got[row.pk, part] = ends = begins + len(text)
            place = self._place(row.number, part)
            given = max(self.given.get((row.pk, part), 0), self.after - place)
            if ends > given:
                piece = {SAID[field]: text[max(0, given - begins) :]}
                more = {"source": "reasoner_model"} if field == "reasoning" else {}
                seq = {"seq_id": place + min(ends, WHOLE - 1)}
                found.append(head(row, kind, part) | piece | more | seq)
                self.given[row.pk, part] = ends
        return found

    @staticmethod
    def _place(number: int, part: int) -> int:
        return (number * 1000 + min(part, 999)) * (WHOLE + 1)


def kind_of(field: str) -> str:
    """The type of message in which a field of a draft is shown."""
    return "assistant_message" if field == "content" else "reasoning_message"


# -- the end ---------------------------------------------------------------------------------------


def ending(run: Run) -> list[Wire]:
    """Why the run rests, and what it took."""
    failed = {
        "message_type": "error_message",
        "run_id": ids.numbered("run", run.pk),
        "error_type": "model_error",
        "message": run.error,
        "detail": run.error + in_a_sentence(run),
    }
    return [*([failed] if run.status == Run.Status.FAILED else []), stopped(run), usage(run)]


def stopped(run: Run) -> Wire:
    return {"message_type": "stop_reason", "stop_reason": stop_reason(run) or "end_turn"}


def stop_reason(run: Run) -> str | None:
    """In the wire's words; None while the run goes on."""
    if run.status == Run.Status.WAITING:
        return "requires_approval"
    words = {Run.Reason.NO_HEARTBEAT: "end_turn", Run.Reason.GIVEN: "end_turn"}
    return words.get(run.reason, run.reason) or None  # type: ignore[call-overload]


def usage(run: Run) -> Wire:
    """Tokens as reported, over all steps."""
    steps = read(Step, "WHERE run_id = %s ORDER BY id", run.pk)
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


@asynccontextmanager
async def listening(
    agent_id: UUID, *, every: bool
) -> AsyncIterator[Callable[[float], Awaitable[None]]]:
    """A function that waits for news of an agent, at most so many seconds.

    News is `every` event, or only those that end a run or make it wait for a person.
    """
    notified = asyncio.Event()

    def listener(events: list[publisher.Published]) -> None:
        notified.set()

    async def wait(seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await notified.wait()
        notified.clear()

    topic = publisher.log_topic(agent_id) if every else publisher.rest_topic(agent_id)
    publisher.subscribe(topic, listener)
    try:
        yield wait
    finally:
        publisher.unsubscribe(topic, listener)


def line(wire: Wire) -> str:
    """An event of a stream. It has no `event:` line, as the SDKs drop what has one."""
    return f"data: {json.dumps(wire, cls=DjangoJSONEncoder, ensure_ascii=False)}\n\n"


END = "data: [DONE]\n\n"


def ping(run_id: int) -> Wire:
    """A sign of life."""
    return {
        "id": f"ping-{ids.numbered('run', run_id).removeprefix('run-')}",
        "date": timezone.now(),
        "message_type": "ping",
        "run_id": ids.numbered("run", run_id),
        "seq_id": None,
    }


def all_lines(follower: Follower, wait: Callable[[], None]) -> Iterator[str]:
    """The stream of a run, for a server that holds a thread for each request."""
    while not follower.ended:
        said = follower.more()
        yield from map(line, said)
        if not follower.ended:
            wait()
    yield END
