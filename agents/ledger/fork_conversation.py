"""Fork of a conversation: another one of the same agent, with the messages in its context."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import uuid4

from django.db import transaction
from django.db.models import Q

from agents.models import Approval, Compaction, Conversation, Message, Run, Step
from agents.models.conversation import LONGEST_TITLE
from agents.models.stored_bytes import check_storage

from .fork import copies

SENT = (Message.Status.COMPLETE, Message.Status.STOPPED)


@transaction.atomic
def fork(
    conversation: Conversation, until: Message | None = None, *, hidden: bool = False
) -> Conversation:
    """A conversation that begins with what is in the context of another, up to the message `until`.

    What goes on in the other one at this moment is not in it. Its steps show no requests, as none
    was sent for them. LimitReached where the agent has as many conversations as it may have, or its
    owner no room.
    """
    check_storage(conversation.agent.owner_id)
    conversation.agent = conversation.agent.locked()
    title = f"Fork of {conversation.title}"[:LONGEST_TITLE] if conversation.title else ""
    names = ("description", "model", "model_settings", "context_window")
    kept = {name: getattr(conversation, name) for name in names}
    new = Conversation.create(conversation.agent, title=title, hidden=hidden, **kept)
    rows = conversation.messages.filter(
        number__gte=conversation.context_from, internal=False, left_out=None, status__in=SENT
    ).exclude(run__status__in=Run.ACTIVE)
    if until is not None:  # a call goes with its return
        same_step = Q(step=until.step_id) if until.step_id else Q()
        rows = rows.filter(Q(number__lte=until.number) | same_step)
    runs = copied_runs(new, rows.values_list("run", flat=True))
    steps = copied_steps(runs, rows.values_list("step", flat=True))
    first = new.agent.record(messages=rows.count()) - rows.count() + 1
    numbers = iter(range(first, first + rows.count()))

    def change(row: Message) -> None:
        row.conversation, row.number, row.absences = new, next(numbers), []
        row.run = runs.get(row.run_id) if row.run_id else None
        row.step = steps.get(row.step_id) if row.step_id else None

    copies(rows.order_by("number"), change)
    if summary := Compaction.newest(conversation):
        copied_summary(summary, new, first, runs)
    return new


def copied_runs(new: Conversation, keys: Iterable[int | None]) -> dict[int, Run]:
    """These runs, each over, by the old one's key."""
    runs = Run.objects.filter(pk__in=[key for key in keys if key]).order_by("pk")

    def change(row: Run) -> None:
        row.conversation, row.key, row.turn = new, f"fork-{uuid4().hex}", None
        row.client_tools, row.skills = [], ""

    return copies(runs, change)


def copied_steps(runs: dict[int, Run], keys: Iterable[int | None]) -> dict[int, Step]:
    """These steps without their requests, with what people said of their calls."""
    steps = Step.objects.filter(pk__in=[key for key in keys if key]).order_by("pk")

    def change(row: Step) -> None:
        row.run, row.request, row.request_sha256 = runs[row.run_id], {}, ""

    made = copies(steps, change)

    def of_step(row: Approval) -> None:
        row.step = made[row.step_id]

    decided = Approval.objects.filter(step__in=list(made)).exclude(status=Approval.Status.PENDING)
    copies(decided.order_by("pk"), of_step)
    return made


def copied_summary(
    summary: Compaction, new: Conversation, first: int, runs: dict[int, Run]
) -> None:
    """The summary of what left the other's context before."""
    if not runs:
        return
    new.context_from = first
    new.update("context_from")
    copies(
        Compaction.objects.filter(pk=summary.pk),
        conversation=new,
        run=min(runs.values(), key=lambda run: run.pk),
        first=0,
        last=0,
    )
