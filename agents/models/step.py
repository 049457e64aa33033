"""Step: one model call inside a run, with its tool calls."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from .block_edit import BlockEdit
from .event import Event
from .message import Message, ToolCall, storable
from .prepared_sql import PreparedRow

if TYPE_CHECKING:
    from .approval import Approval

VERDICTS = ("positive", "negative")
MOST_TAGS, LONGEST_TAG = 50, 100  # of feedback; characters
MOST_BYTES_PER_TOKEN = 8.0  # of a request; beyond, the endpoint did not read all of it


BATCH = 200  # steps whose requests are removed at once
KEPT_OF_REQUEST = (
    "versions",
    "messages",
    "internal",
    "at_fault",
)  # for time travel, forks, ways on


class StepQuerySet(models.QuerySet["Step"]):
    def prune_requests(self, before: datetime, days: float, after_pk: int = 0) -> Pruned:
        """Remove what the requests of a batch of the oldest steps were made of.

        What the ledger and time travel read stays: which blocks at which versions, which messages.
        """
        batch = self.filter(pk__gt=after_pk, started_at__lt=before, request__has_key="texts")
        whole = batch.exclude(request__has_key="removed_after").order_by("pk")
        rows = list(whole.select_related("run")[:BATCH])
        for step in rows:
            kept = {name: step.request[name] for name in KEPT_OF_REQUEST if name in step.request}
            texts = step.request["texts"]
            kept["texts"] = {"blocks": texts["blocks"]} if "blocks" in texts else {}
            step.request = kept | {"removed_after": days}
        self.bulk_update(rows, ["request"])
        last = rows[-1].pk if len(rows) == BATCH else None
        return Pruned(last, {step.run.agent_id for step in rows})


class Pruned(NamedTuple):
    """The key of a batch's last step, None if it was the last batch; whose steps they were."""

    last: int | None
    agents: set[UUID]


class Card(NamedTuple):
    """All there is to a tool call."""

    call: ToolCall
    answer: Message | None
    edits: list[BlockEdit]
    approval: Approval | None


class Step(PreparedRow):
    """One model call: which model answered, how it ended, and why another step followed."""

    class Status(models.TextChoices):
        STREAMING = "streaming", _("Streaming")
        CALLING = "calling", _("Calling")  # the message is complete, its tools are run
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")  # the model broke off or refused; `error` says how
        STOPPED = "stopped", _("Stopped")

    # the index of the constraint below begins with the run: it needs none of its own
    run = models.ForeignKey("Run", models.CASCADE, related_name="steps", db_index=False)
    number = models.PositiveIntegerField()
    status = models.CharField(max_length=10, choices=Status, default=Status.STREAMING)
    model = models.CharField(max_length=200)
    endpoint = models.CharField(max_length=300)
    context_tokens = models.PositiveIntegerField(
        default=0, help_text=_("Tokens of the request, estimated before it was sent.")
    )
    window = models.PositiveIntegerField(
        default=0, help_text=_("The model's context window, tokens.")
    )
    request = models.JSONField(
        default=dict,
        help_text=_("What the request was made of; see agents/memory/sent_requests.py."),
    )
    request_sha256 = models.CharField(max_length=64, blank=True)
    context_bytes = models.PositiveIntegerField(default=0)
    prompt_tokens = models.PositiveIntegerField(null=True, blank=True)
    completion_tokens = models.PositiveIntegerField(null=True, blank=True)
    outcome = models.CharField(max_length=500, blank=True)
    error = models.TextField(blank=True)
    feedback = models.JSONField(
        default=dict, blank=True, help_text=_('What a person thinks of it: {"verdict", "tags"}.')
    )
    started_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = StepQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["run", "number"], name="step_number_is_unique"),
        ]

    def __str__(self) -> str:
        return gettext("Step %(number)s") % {"number": self.number}

    @cached_property
    def message_list(self) -> list[Message]:
        """The step's messages in order: the model's, then the tools' returns."""
        return list(self.messages.all())

    @cached_property
    def edit_list(self) -> list[BlockEdit]:
        """The block edits its tool calls made."""
        return list(self.block_edits.all())

    @property
    def request_removed_after(self) -> float | None:
        """The days after which its request was removed; None where it was not."""
        days: float | None = self.request.get("removed_after")
        return days

    @property
    def message(self) -> Message | None:
        """What the model said in this step."""
        return next((m for m in self.message_list if m.role == Message.Role.ASSISTANT), None)

    def returns(self) -> dict[str, Message]:
        """The return of each call that has run, by its id."""
        return {m.tool_call_id: m for m in self.message_list if m.role == Message.Role.TOOL}

    def unanswered(self) -> list[ToolCall]:
        """The tool calls that have no return yet: these have not run."""
        answered = self.returns()
        calls = self.message.calls() if self.message else []
        return [call for call in calls if call.id not in answered]

    @cached_property
    def approval_list(self) -> list[Approval]:
        """The approvals its tool calls needed."""
        return list(self.approvals.all())

    def approval(self, call_id: str) -> Approval | None:
        """What a person was asked about a call."""
        return next((each for each in self.approval_list if each.tool_call_id == call_id), None)

    def undecided(self) -> list[Approval]:
        """What its calls wait for: a person's word, or a script's return."""
        return [each for each in self.approval_list if each.is_pending]

    def called(self) -> list[str]:
        """The tools it has called with success, in order."""
        if not self.message or not self.message.tool_calls:
            return []
        returns = self.returns()
        calls = self.message.calls()
        return [c.name for c in calls if c.id in returns and not returns[c.id].is_error]

    def cards(self) -> list[Card]:
        """Each tool call with its return, the block edits it made and the approval it needed."""
        if not self.message or not self.message.tool_calls:
            return []
        returns = self.returns()
        edits: dict[str, list[BlockEdit]] = {}
        for edit in self.edit_list:
            edits.setdefault(edit.tool_call_id, []).append(edit)
        return [
            Card(call, returns.get(call.id), edits.get(call.id, []), self.approval(call.id))
            for call in self.message.calls()
        ]

    def changed(self) -> Event:
        """The event that has the step drawn anew."""
        return Event.of(Event.Kind.STEP_CHANGED, step=self)

    def store(self) -> None:
        """Store what may have changed since the step began."""
        self.update(
            "status", "prompt_tokens", "completion_tokens", "outcome", "error", "finished_at"
        )

    def end(self, outcome: str, reason: str = "", error: str = "") -> None:
        """Close the step, saying what it came to; with a reason (`Run.Reason`), the run too."""
        self.status, self.outcome, self.finished_at = self.Status.DONE, outcome, timezone.now()
        self.store()
        if reason:
            self.run.end(reason, error, after=[self.changed()])
        else:
            self.run.record(self.changed())

    # -- what a person thinks of it ------------------------------------------------------------

    @transaction.atomic
    def judge(self, verdict: str | None, tags: Iterable[str] = ()) -> None:
        """Keep what a person thinks of the step; with no verdict, that there is none any more."""
        self.feedback = checked_feedback(verdict, tags)
        self.update("feedback")
        event = Event(kind=Event.Kind.STEP_CHANGED, data={"step": self.pk})
        self.run.record(event)  # without the rows: it may not be the newest step

    @property
    def verdict(self) -> str | None:
        """Whether the step was called good ("positive") or bad ("negative"), if it was."""
        verdict: str | None = self.feedback.get("verdict")
        return verdict

    @property
    def sent_images(self) -> int:
        """How many images its request had."""
        return int(self.request.get("images", 0))

    @property
    def hidden_images(self) -> int:
        """Of how many images the model was told only that they are there."""
        return int(self.request.get("hidden_images", 0))

    @property
    def was_cut(self) -> bool:
        """Whether the endpoint read so little of the request that it must have left some out."""
        read = self.prompt_tokens or self.context_tokens
        too_few = self.context_bytes > read * MOST_BYTES_PER_TOKEN
        return too_few and read < self.context_tokens / 2

    @property
    def seconds(self) -> float | None:
        """How long the step took, without the time in which it waited for a person."""
        if not self.finished_at:
            return None
        return (self.finished_at - self.started_at - self._waited(self.finished_at)).total_seconds()

    def _waited(self, until: datetime) -> timedelta:
        """How long it waited for a person, who may have been asked several things at once."""
        waited, since = timedelta(), self.started_at
        has_calls = self.message is not None and self.message.tool_calls
        for each in self.approval_list if has_calls else ():
            if each.kind == each.Kind.PERSON:
                begin, end = max(each.created_at, since), min(each.decided_at or until, until)
                waited += max(end - begin, timedelta())
                since = max(since, end)
        return waited


def checked_feedback(verdict: str | None, tags: Iterable[str] = ()) -> dict[str, Any]:
    """Feedback as a step keeps it; ValidationError where it is none."""
    if not verdict:
        if tags := list(tags):
            raise ValidationError(gettext("Feedback with tags is either 'positive' or 'negative'."))
        return {}
    if verdict not in VERDICTS:
        raise ValidationError(gettext("Feedback is either 'positive' or 'negative'."))
    kept = list(dict.fromkeys(storable(tag).strip() for tag in tags))
    if len(kept) > MOST_TAGS or any(not 0 < len(tag) <= LONGEST_TAG for tag in kept):
        words = gettext("At most %(most)s tags of 1 to %(longest)s characters describe feedback.")
        raise ValidationError(words % {"most": MOST_TAGS, "longest": LONGEST_TAG})
    return {"verdict": verdict, "tags": kept}
