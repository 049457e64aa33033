"""What of an agent's history is exported, and what of it only this program reads.

Messages have the numbers here that they have in their agent, over all its conversations and with
gaps where one was deleted. A file's messages are counted from 1, as they stand in it: `place_of`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property
from typing import Any, TypeVar

from django.db.models import Model, QuerySet

from agents.models import Agent, Compaction, Conversation, Message, Run, Step

from .entries import COMPACTION, CONVERSATION, RUN, STEP, values_of

BATCH = 2000  # rows read at once
Row = TypeVar("Row", bound=Model)


class ExportedHistory:
    """The conversations of an agent that are exported: one of them, all, or none.

    The first of them is the one that other readers take for the agent's.
    """

    def __init__(
        self, agent: Agent, conversation: Conversation | None = None, *, with_messages: bool = True
    ) -> None:
        self.agent, self.with_messages = agent, with_messages
        self.first = conversation or agent.first_conversation
        self.conversations = [self.first]
        if conversation is None:
            others = agent.conversations.exclude(pk=agent.pk).order_by("created_at")
            self.conversations += others
        self.is_whole = conversation is None
        self.place = {each.pk: place for place, each in enumerate(self.conversations)}
        self.compaction = Compaction.newest(self.first) if with_messages else None
        runs = self.rows(Run.objects.filter(agent=agent), "conversation")
        self.runs = list(runs.exclude(status=Run.Status.QUEUED).order_by("pk"))
        steps = self.rows(Step.objects.filter(run__agent=agent), "run__conversation")
        self.steps = list(steps.order_by("run_id", "pk"))
        self.steps_of: dict[int, list[Step]] = {}
        for step in self.steps:
            self.steps_of.setdefault(step.run_id, []).append(step)
        self.run_place = {run.pk: place for place, run in enumerate(self.runs)}
        self.step_place = {step.pk: place for place, step in enumerate(self.steps)}
        said = self.rows(Message.objects.filter(agent=agent), "conversation")
        self.sent = said.exclude(status=Message.Status.DRAFT).order_by("number")
        # 0 is the system message, and the summary has the number after the last.
        self.summary_id = f"message-{agent.message_count + 1}"

    def rows(self, rows: QuerySet[Row], conversation: str) -> QuerySet[Row]:
        """Those rows that belong to what is exported; `conversation` leads to theirs."""
        if not self.with_messages:
            return rows.none()
        if self.is_whole:  # without the versions that were put away
            return rows.filter(**{f"{conversation}__version_of": None})
        return rows.filter(**{conversation: self.first.pk})

    @cached_property
    def numbers(self) -> list[int]:
        """The numbers of the messages in the file."""
        return list(self.sent.values_list("number", flat=True))

    def place_of(self, number: int) -> int:
        """The place in the file of the first message from that number on; of 0, it is 0."""
        return bisect_left(self.numbers, number) + 1 if number else 0

    # -- what the format has a place for -----------------------------------------------------------

    def in_context(self) -> list[str]:
        """The ids of the messages in the context, the system message first."""
        numbers = self.sent.filter(
            conversation=self.first.pk,
            number__gte=self.first.context_from,
            internal=False,
            left_out=None,
            status__in=(Message.Status.COMPLETE, Message.Status.STOPPED),
        )
        said = [f"message-{number}" for number in numbers.values_list("number", flat=True)]
        return ["message-0", *([self.summary_id] if self.compaction else []), *said]

    def messages(self) -> Iterator[Message]:
        return self.sent.iterator(chunk_size=BATCH)

    # -- what only this program reads --------------------------------------------------------------

    def own_entries(self) -> dict[str, Any]:
        """Conversations, runs with their steps, and what else is known of messages."""
        return {
            "made": ["message-0", *([self.summary_id] if self.compaction else [])],
            "conversations": [
                self.conversation_entry(each) for each in self.conversations if self.with_messages
            ],
            "runs": (self.run_entry(run) for run in self.runs),
            "messages": self.own_messages(),
            "compactions": self.compactions(),
        }

    def conversation_entry(self, conversation: Conversation) -> dict[str, Any]:
        entry = values_of(conversation, CONVERSATION)
        entry["context_from"] = self.place_of(conversation.context_from)
        return entry if self.is_whole else entry | {"hidden": False, "archived_at": None}

    def run_entry(self, run: Run) -> dict[str, Any]:
        steps = [values_of(step, STEP) for step in self.steps_of.get(run.pk, [])]
        place = {"conversation": self.place[run.conversation_id]}
        return values_of(run, (*RUN, "role")) | place | {"steps": steps}

    def own_messages(self) -> Iterator[dict[str, Any]]:
        """What the format has no field for, message by message."""
        fields = ("number", "run_id", "step_id", "status", "internal", "duration_ms", "left_out")
        rows = self.sent.values_list(*fields).iterator(chunk_size=BATCH)
        for number, run, step, status, internal, duration_ms, left_out in rows:
            kept: dict[str, Any] = {
                "id": f"message-{number}",
                "run": self.run_place.get(run),
                "step": self.step_place.get(step),
            }
            if status != Message.Status.COMPLETE:
                kept["status"] = status
            if internal:
                kept["internal"] = True
            if duration_ms is not None:
                kept["duration_ms"] = duration_ms
            if left_out is not None:
                kept["left_out"] = self.place_of(left_out + 1) - 1
            yield kept

    def compactions(self) -> list[dict[str, Any]]:
        """The compactions, which name messages by their places in the file."""
        rows = Compaction.objects.filter(conversation__agent=self.agent)
        return [
            {"run": self.run_place[each.run_id], **values_of(each, COMPACTION)}
            | {"first": self.place_of(each.first), "last": self.place_of(each.last + 1) - 1}
            for each in self.rows(rows, "conversation").order_by("pk")
        ]
