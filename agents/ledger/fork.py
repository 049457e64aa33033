"""Fork: a new agent with the memory and the messages an agent had right after one of its steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar
from uuid import UUID

from django.contrib.auth.models import User
from django.db import models, transaction

from agents.memory.sent_requests import with_other_blocks
from agents.models import (
    Agent,
    AgentTag,
    Approval,
    Block,
    BlockEdit,
    Compaction,
    Conversation,
    Event,
    Image,
    Message,
    Passage,
    RequestText,
    Run,
    Step,
)
from agents.models.limits import check_agents
from agents.models.message import left_out_when
from agents.models.stored_bytes import check_storage
from agents.text import json_blocks

from .time_travel import PastBlock, blocks_at, ended_at

BATCH = 1000  # rows written at once
Row = TypeVar("Row", bound=models.Model)


@transaction.atomic
def fork(step: Step, name: str, owner: User) -> Agent:
    """A new agent as `step` left it: blocks with their ledgers, passages, settings, and the
    conversation of the step as its first one.

    Its blocks are its own, also where those of the first agent are shared.
    """
    check_agents(owner)
    check_storage(owner.pk)
    first = step.run.agent
    agent = Agent(owner=owner, **{field: getattr(first, field) for field in Agent.SETTINGS})
    agent.name = name
    agent.secrets = first.secrets if first.owner_id == owner.pk else {}
    agent.save(force_insert=True)
    agent.audit_secrets({}, agent.secrets)
    conversation = copied_conversation(agent, step)
    AgentTag.replace(agent, first.tagged.values_list("tag", flat=True))
    agent.identities.set(first.identities.filter(owner=owner))
    past = blocks_at(step)
    blocks = {block.id: copied_block(agent, block) for block in past}
    runs = copied_runs(conversation, step)
    steps = copied_steps(step, runs, agent, blocks)
    copied_ledgers(past, blocks, steps)
    copied_messages(conversation, step, runs, steps)
    Image.copy(first, agent)
    copied_approvals(steps)
    copied_rest(conversation, step, runs)
    agent.record(Event.of(Event.Kind.AGENT_CHANGED))
    return agent


def copied_block(agent: Agent, past: PastBlock) -> Block:
    """A block as it was then; of what no ledger keeps, as it is now, if it is still there."""
    old = Block.objects.filter(pk=past.id).first()
    settings = {field: getattr(old, field) for field in Block.SETTINGS} if old else {}
    block = Block(owner=agent.owner, value=past.value, version=past.version, **settings)
    block.label, block.limit = past.label, max(past.limit, len(past.value))
    if json_blocks.problem(block.kind, block.schema, block.value):  # it became JSON later
        block.kind, block.schema = Block.Kind.TEXT, None
    block.save(force_insert=True)
    if old:
        block.identities.set(old.identities.filter(owner=agent.owner))
    agent.hold(block)
    return block


def copied_conversation(agent: Agent, step: Step) -> Conversation:
    """The step's conversation, as the first one of another agent."""
    old = step.run.conversation
    conversation = Conversation(
        pk=agent.pk,
        agent=agent,
        **{field: getattr(old, field) for field in Conversation.SETTINGS},
        last_message_at=step.run.started_at,
        context_from=step.request["messages"][0] if step.request else 0,
    )
    conversation.archived_at, conversation.hidden = None, False
    conversation.save(force_insert=True)
    return conversation


def copied_runs(conversation: Conversation, step: Step) -> dict[int, Run]:
    """The runs up to the step's, each over, by the old one's key."""
    old = Run.objects.filter(conversation=step.run.conversation_id, pk__lte=step.run_id)
    begun = old.exclude(status=Run.Status.QUEUED).order_by("pk")
    agent, alone = conversation.agent, {"callback_url": "", "callback_due_at": None, "turn": None}
    runs = copies(begun, agent=agent, conversation=conversation, **alone)
    last = runs[step.run_id]
    later = Step.objects.filter(run=step.run_id, pk__gt=step.pk).exists()
    if later or last.status in Run.ACTIVE:
        last.status, last.reason, last.error = Run.Status.DONE, Run.Reason.FORKED, ""
        last.activity, last.finished_at = "", ended_at(step)
        last.save()
    return runs


def copied_steps(
    step: Step, runs: dict[int, Run], agent: Agent, blocks: dict[str, Block]
) -> dict[int, Step]:
    """The steps up to this one, their requests naming the new blocks."""
    old = Step.objects.filter(run__in=list(runs), pk__lte=step.pk).order_by("pk")
    texts = copied_texts(old, step.run.agent, agent, blocks)

    def change(row: Step) -> None:
        row.run = runs[row.run_id]
        if row.request:
            named = {name: texts[pk] for name, pk in row.request["texts"].items() if pk in texts}
            row.request = row.request | {"texts": named}

    return copies(old, change)


def copied_texts(
    steps: models.QuerySet[Step], first: Agent, agent: Agent, blocks: dict[str, Block]
) -> dict[int, int]:
    """The texts that the steps' requests were made of, by the old ones' ids."""
    named = [request["texts"] for request in steps.values_list("request", flat=True) if request]
    used = {pk for texts in named for pk in texts.values()}
    of_blocks = {texts.get("blocks") for texts in named}
    ids = {old: str(new.pk) for old, new in blocks.items()}
    texts = {
        pk: with_other_blocks(text, ids) if pk in of_blocks else text
        for pk, text in RequestText.texts(first, list(used)).items()
    }
    return dict(zip(texts, RequestText.keep(agent, texts.values()), strict=True))


def copied_ledgers(
    past: Sequence[PastBlock], blocks: dict[str, Block], steps: dict[int, Step]
) -> None:
    """The edits of each block up to the version it had."""
    for block in past:
        old = BlockEdit.objects.filter(block_id=block.id, version__lte=block.version)
        undone = dict(old.exclude(undoes=None).values_list("pk", "undoes_id"))

        def change(row: BlockEdit, block: Block = blocks[block.id]) -> None:
            row.block, row.undoes = block, None
            row.step = steps.get(row.step_id) if row.step_id else None

        made = copies(old.order_by("version"), change)
        undoing = [made[pk] for pk, other in undone.items() if other in made]
        for row, other in zip(undoing, filter(made.__contains__, undone.values()), strict=True):
            row.undoes = made[other]
        BlockEdit.objects.bulk_update(undoing, ["undoes"], batch_size=BATCH)


def copied_messages(
    conversation: Conversation, step: Step, runs: dict[int, Run], steps: dict[int, Step]
) -> None:
    """What was said in the copied runs and steps; a message sent later stays out."""
    said = models.Q(step__isnull=True) | models.Q(step__in=list(steps))
    ours = models.Q(run__isnull=True) | models.Q(run__in=list(runs))
    numbers = Message.objects.filter(step=step).aggregate(last=models.Max("number"))
    agent, said_in = conversation.agent, step.run.conversation_id
    old = Message.objects.filter(said, ours, conversation=said_in, number__lte=numbers["last"] or 0)

    def change(row: Message) -> None:
        row.agent, row.conversation = agent, conversation
        row.run = runs.get(row.run_id) if row.run_id else None
        row.step = steps.get(row.step_id) if row.step_id else None
        row.left_out = left_out_when(agent.message_count, row.left_out, row.absences)
        row.absences = [each for each in row.absences if each[1] <= agent.message_count]
        if row.status == Message.Status.DRAFT:
            row.content, row.reasoning = row.draft_text
            row.status = Message.Status.BROKEN

    agent.message_count = numbers["last"] or 0
    copies(old.order_by("number"), change)
    agent.save(update_fields=["message_count"])


def copied_approvals(steps: dict[int, Step]) -> None:
    """What people said of the copied steps' calls; nobody is asked a second time."""
    decided = Approval.objects.filter(step__in=list(steps)).exclude(status=Approval.Status.PENDING)

    def change(row: Approval) -> None:
        row.step = steps[row.step_id]

    copies(decided.order_by("pk"), change)


def copied_rest(conversation: Conversation, step: Step, runs: dict[int, Run]) -> None:
    """Compactions and passages there were by then."""
    agent, first, end = conversation.agent, step.run.agent, ended_at(step)
    compactions = Compaction.objects.filter(run__in=list(runs))
    compactions = compactions.filter(created_at__lte=step.started_at).order_by("pk")

    def of_run(row: Compaction) -> None:
        row.conversation, row.run = conversation, runs[row.run_id]

    copies(compactions, of_run)
    passages = Passage.objects.filter(agent=first, created_at__lte=end).order_by("pk")
    agent.passage_count = len(copies(passages, agent=agent, step=None))
    agent.save(update_fields=["passage_count"])


def copies(rows: models.QuerySet[Row], change: Any = None, **changes: Any) -> dict[Any, Row]:
    """Store copies of rows, with changes, in their order; by the old rows' keys."""
    kept = list(rows)
    keys: list[int | UUID] = [row.pk for row in kept]
    moments = {
        field.name: [getattr(row, field.name) for row in kept]
        for field in rows.model._meta.concrete_fields
        if getattr(field, "auto_now_add", False) or getattr(field, "auto_now", False)
    }
    for row in kept:
        row.pk = None
        row._state.adding = True
        for name, value in changes.items():
            setattr(row, name, value)
        if change:
            change(row)
    rows.model._default_manager.bulk_create(kept, batch_size=BATCH)
    restamp(rows.model, kept, moments)
    return dict(zip(keys, kept, strict=True))


def restamp(model: type[models.Model], rows: Iterable[Any], moments: dict[str, list[Any]]) -> None:
    """Give copies the times of what they copy, which storing set to now."""
    if not moments:
        return
    rows = list(rows)
    for name, times in moments.items():
        for row, moment in zip(rows, times, strict=True):
            setattr(row, name, moment)
    model._default_manager.bulk_update(rows, list(moments), batch_size=BATCH)
