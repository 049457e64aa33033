"""Agent: who is talked to. It owns a log, messages, runs, and holds blocks of core memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models, transaction
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from .agent_access import AgentAccess
from .agent_options import AgentOptions
from .agent_queryset import AgentQuerySet
from .attachment import Attachment
from .block import Block
from .conversation import Conversation
from .editing import MemoryRefusal
from .event import Event, advance
from .limits import check_agents
from .prepared_sql import PreparedRow, insert, insert_all, key, read, values
from .run import Run
from .signals import agent_purged, events_recorded
from .step import MOST_BYTES_PER_TOKEN
from .temporary import LastingManager, Temporary

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from agents.memory.classes import Memory

HELD = "JOIN agents_attachment held ON held.block_id = agents_block.id WHERE held.agent_id = %s"


class Agent(AgentAccess, AgentOptions, Temporary, PreparedRow):
    """An agent: a system prompt, blocks of core memory, tools, and a model that answers."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="agents")
    name = models.CharField(max_length=100)
    system_prompt = models.TextField(blank=True, max_length=100_000)
    model = models.CharField(
        max_length=200,
        blank=True,
        help_text=_("A model's name, or endpoint/model. Empty means the default model."),
    )
    memory_class = models.CharField(max_length=100, default="ChatMemory")
    prompt_template = models.TextField(
        blank=True,
        help_text=_("Jinja2 template of core memory. Empty means the memory class's own."),
    )
    tools = models.JSONField(default=list, help_text=_("Names of the tools the agent may call."))
    tool_rules = models.JSONField(
        default=list, blank=True, help_text=_("When which tool may be called; see tools/rules.py.")
    )
    reflect_every = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(1000)],
        help_text=_(
            "The agent reviews its memory each time it has answered this many messages, for"
            " example 5. Empty: only when asked."
        ),
    )
    max_steps = models.PositiveIntegerField(
        default=50,
        validators=[MinValueValidator(1), MaxValueValidator(1000)],
        help_text=_("A run ends after this many model calls, even if the agent is not finished."),
    )
    context_window = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1000), MaxValueValidator(10_000_000)],
        help_text=_("Tokens the model can read at once. Empty: what is known of the model."),
    )
    bytes_per_token = models.FloatField(
        null=True, editable=False, help_text=_("As reported with the newest answer.")
    )
    description = models.TextField(blank=True, max_length=10_000)
    metadata = models.JSONField(default=dict, blank=True, help_text=_("A script's own notes."))
    agent_type = models.CharField(max_length=50, blank=True, help_text=_("As a script named it."))
    embedding = models.CharField(max_length=200, blank=True, help_text=_("As a script named it."))
    blocks = models.ManyToManyField(Block, through="Attachment", related_name="agents")
    last_seq = models.BigIntegerField(default=0, editable=False)
    pruned_seq = models.BigIntegerField(default=0, editable=False)  # the log begins after it
    message_count = models.BigIntegerField(default=0, editable=False)
    passage_count = models.BigIntegerField(default=0, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    deleted_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = LastingManager.from_queryset(AgentQuerySet)()

    # Each field is a setting or a record. Forks, agent files, forms, the admin and the API go by
    # these lists.
    IN_FORMS = (
        *("name", "model", "system_prompt", "tools", "tool_rules", "prompt_template"),
        *("reflect_every", "max_steps", "context_window", "message_buffer_autoclear"),
        *("model_settings", "timezone", "hidden"),
    )
    BY_SCRIPTS = ("description", "metadata", "agent_type", "embedding", "compaction_settings")
    SETTINGS = (*IN_FORMS, "memory_class", "bytes_per_token", *BY_SCRIPTS)
    RECORDS = (
        *("id", "owner", "last_seq", "pruned_seq", "message_count", "passage_count"),
        *("secrets", "created_at", "updated_at", "deleted_at", "is_shared"),
        *("temporary_of", "temporary_for", "seen_at"),
    )

    class Meta:
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["owner", "deleted_at", "-created_at"])]

    def __str__(self) -> str:
        return self.name

    @classmethod
    @transaction.atomic
    def create(cls, owner: User, name: str, memory: Memory, **settings: Any) -> Agent:
        """Make an agent with the blocks and tools of `memory`. LimitReached if the owner has as
        many as one may."""
        check_agents(owner)
        agent = cls(
            owner=owner,
            name=name,
            memory_class=type(memory).__name__,
            **{"tools": memory.tools()} | settings,
        )
        agent.insert()
        Conversation(pk=agent.pk, agent=agent).insert()
        for draft in memory.get_blocks():
            # what the database would refuse, `clean` has looked at
            draft.full_clean(exclude=["owner"], validate_unique=False, validate_constraints=False)
            draft.owner = owner
            insert(draft)
            agent.hold(draft)
        agent.audit_secrets({}, agent.secrets)
        agent.record(Event.of(Event.Kind.AGENT_CHANGED))
        return agent

    # -- the log -----------------------------------------------------------------------------

    def record(self, *events: Event, messages: int = 0, taken: int = 0) -> int:
        """Append to the agent's log; inside the transaction of the change they report.

        Takes the numbers of new messages at the same time, and returns the last of them. `taken`
        says how many numbers of the log `advance` took before in this transaction.
        """
        last, number = self.last_seq, self.message_count
        if messages or len(events) != taken or not taken:
            last, number = advance(self, len(events) - taken, messages)
        for seq, event in enumerate(events, last - len(events) + 1):
            event.agent, event.seq = self, seq
        if events:
            insert_all(events)
            transaction.on_commit(
                lambda: events_recorded.send(Agent, agent=self, events=events), robust=True
            )
        return number

    def calibrate_tokens(self, size: int, tokens: int | None) -> None:
        """Take in what a context of so many bytes came to in tokens, as the endpoint reported."""
        if not tokens or not size or size / tokens > MOST_BYTES_PER_TOKEN:
            return
        now = max(size / tokens, 0.5)
        if self.bytes_per_token is None or abs(now / self.bytes_per_token - 1) > 0.01:
            self.bytes_per_token = now
            self.update("bytes_per_token")

    def locked(self) -> Agent:
        """This agent's row, held until commit, as it is now."""
        found: Agent = Agent.every.select_for_update().get(pk=self.pk)
        return found

    # -- settings ----------------------------------------------------------------------------

    @transaction.atomic
    def configure(self, **changes: Any) -> None:
        """Change name, system prompt, model and the like, and record it, if there are changes."""
        if not changes:
            return
        if "secrets" in changes:
            self.audit_secrets(self.secrets, changes["secrets"])
        for field, value in changes.items():
            setattr(self, field, value)
        self.save(update_fields=[*changes, "updated_at"])
        self.record(Event.of(Event.Kind.AGENT_CHANGED), Event.of(Event.Kind.MEMORY_CHANGED))

    @transaction.atomic
    def trash(self) -> None:
        """Delete the agent so that it can be brought back for 30 days."""
        for run in self.runs.filter(status__in=Run.ACTIVE):
            run.stop()
        for chat in Agent.every.filter(temporary_of=self, deleted_at=None):
            chat.close_temporary()
        self.configure(deleted_at=timezone.now())
        self._redraw_sharers()

    @transaction.atomic
    def restore(self) -> None:
        """Bring a deleted agent back; it goes on with what waits. LimitReached as in `create`."""
        check_agents(self.owner)
        self.configure(deleted_at=None)
        self._redraw_sharers()
        self.schedules.all().skip_missed()
        startable = Run.objects.startable().conversations()
        for conversation in self.conversations.filter(pk__in=startable):
            conversation.begin_next()

    @transaction.atomic
    def purge(self) -> None:
        """Delete the agent for good, and those of its owner's blocks that nobody else has."""
        blocks = Block.objects.held_by(self).filter(owner=self.owner_id, shares=None)
        block_ids = blocks.lock_with_holders(self)
        pk = self.pk
        transaction.on_commit(lambda: agent_purged.send(Agent, agent_id=pk), robust=True)
        self._redraw_sharers()
        self.delete()
        for block_id in block_ids:
            Block.objects.filter(pk=block_id).delete_unheld()

    def _redraw_sharers(self) -> None:
        """After the commit, have other agents with its blocks show anew who shares them."""
        shared = Attachment.objects.filter(block__in=self.blocks.all()).values("agent")
        others = list(Agent.objects.filter(pk__in=shared).exclude(pk=self.pk))

        def redraw() -> None:
            for agent in others:
                with transaction.atomic():
                    agent.record(Event.of(Event.Kind.MEMORY_CHANGED))

        transaction.on_commit(redraw, robust=True)

    # -- core memory ---------------------------------------------------------------------------

    def core_memory(self) -> list[Block]:
        """The blocks in the order the model sees them."""
        return read(Block, f"{HELD} ORDER BY held.position, held.id", key(self))

    def held_block(self, pk: UUID) -> Block | None:
        """A block it holds; None where it does not hold it."""
        rows = read(Block, f"{HELD} AND agents_block.id = %s", key(self), key(Block(pk=pk)))
        return next(iter(rows), None)

    def block(self, label: str) -> Block | None:
        return next(iter(read(Block, f"{HELD} AND held.label = %s", key(self), label)), None)

    def block_to_write(self, label: str) -> Block | None:
        """The block of that label for one of its verbs, which reads it when it holds the row."""
        held = "WHERE agent_id = %s AND label = %s"
        rows = values(Attachment, ("block_id",), held, key(self), label)
        return Block(pk=rows[0][0], label=label) if rows else None

    @transaction.atomic
    def attach(self, block: Block) -> None:
        """Hold a block, unless it is held already. MemoryRefusal where it was deleted or the owner
        may no longer use it, ValidationError where the agent has another block of its label."""
        block.lock()
        Block.objects.filter(pk=block.pk).lock_with_holders(self)
        if self.attachments.filter(block=block).exists():
            return
        if not Block.objects.usable_by(self.owner).filter(pk=block.pk).exists():
            raise MemoryRefusal(
                gettext(
                    "The block '%(label)s' is not shared with the owner of this agent any more."
                )
                % {"label": block.label}
            )
        if self.attachments.filter(label=block.label).exists():
            words = gettext("This agent already has a block '%(label)s'.")
            raise ValidationError({"label": words % {"label": block.label}})
        self.hold(block)
        block.redraw_holders()

    @transaction.atomic
    def detach(self, block: Block) -> None:
        """Let go of a block, if the agent holds it; the block stays, with its ledger."""
        Block.objects.filter(pk=block.pk).lock_with_holders(self)
        if self.attachments.filter(block=block).delete()[0]:
            self.record(Event.of(Event.Kind.MEMORY_CHANGED))
            block.redraw_holders()

    @transaction.atomic
    def hold_only(self, blocks: Iterable[Block]) -> None:
        """Hold just these blocks: attach those that are missing, detach the others."""
        chosen, held = list(blocks), self.core_memory()
        Block.objects.filter(pk__in=[b.pk for b in [*chosen, *held]]).lock_with_holders(self)
        for block in held:
            if block not in chosen:
                self.detach(block)
        for block in chosen:
            self.attach(block)

    def hold(self, block: Block) -> None:
        newest = "WHERE agent_id = %s ORDER BY position DESC LIMIT 1"
        last = values(Attachment, ("position",), newest, key(self))
        place = last[0][0] + 1 if last else 0
        insert(Attachment(agent=self, block=block, label=block.label, position=place))

    # -- conversations -------------------------------------------------------------------------

    @property
    def first_conversation(self) -> Conversation:
        """The one that is meant where only the agent is named."""
        return Conversation.first_of(self)

    def send(self, *said: Any, **options: Any) -> Run:
        """Accept a message in the first conversation; see `Queue.send`."""
        return self.first_conversation.send(*said, **options)
