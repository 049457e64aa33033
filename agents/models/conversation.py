"""Conversation: a history of an agent with a context window and a queue of its own.

Core and archival memory belong to the agent; what is said in one conversation is not in the context
of another. The first conversation of an agent has the agent's own key, so that whoever names only
the agent means that one.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self, cast

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models, transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from .event import Event, advance
from .image import Image
from .limits import check_conversations
from .message import Message, checked
from .model_settings import check_model_settings
from .prepared_sql import key, keys, read, read_together
from .role import Role, visible
from .run import Run
from .versions import ConversationManager, Versioned

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

    from .agent import Agent

TEMPORARY = gettext_noop("Temporary chat")  # the title of one, as it is stored
LONGEST_TITLE = 1000  # characters; a script may put a summary there


class ConversationQuerySet(models.QuerySet["Conversation"]):
    def visible_to(self, user: User | AnonymousUser, role: Role = Role.VIEWER) -> Self:
        """The conversations of the agents a person may see; see `AgentQuerySet.visible_to`."""
        return self.filter(visible(user, role))

    def listed(self) -> Self:
        """Those that lists show, the one that was last spoken in first."""
        return self.filter(archived_at=None, hidden=False).by_activity()

    def by_activity(self) -> Self:
        moment = models.functions.Coalesce("last_message_at", "created_at")
        return self.alias(moment=moment).order_by("-moment", "pk")

    def less_recent_than(self, other: Conversation) -> Self:
        """Those of `by_activity` that come after another one."""
        earlier, same = {"moment__lt": other.newest_moment}, {"moment": other.newest_moment}
        return self.filter(models.Q(**earlier) | models.Q(**same, pk__gt=other.pk))

    def with_activity(self) -> Self:
        """Each conversation with `busy`: whether one of its runs goes on."""
        running = Run.objects.filter(conversation=models.OuterRef("pk"), status__in=Run.ACTIVE)
        return self.annotate(busy=models.Exists(running))


class Conversation(Versioned):
    """One history of an agent. `model` and `context_window` stand in for the agent's where set."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    agent = models.ForeignKey("Agent", models.CASCADE, related_name="conversations")
    title = models.CharField(max_length=LONGEST_TITLE, blank=True)
    description = models.TextField(blank=True, max_length=10_000)
    model = models.CharField(
        max_length=200, blank=True, help_text=_("Answers here instead of the agent's model.")
    )
    context_window = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1000), MaxValueValidator(10_000_000)],
        help_text=_("Tokens, instead of the agent's context window."),
    )
    model_settings = models.JSONField(
        default=dict,
        blank=True,
        validators=[check_model_settings],
        help_text=_("How the model is asked here, instead of the agent's settings of these names."),
    )
    hidden = models.BooleanField(
        default=False, help_text=_("Not shown in lists, as a script chose.")
    )
    context_from = models.BigIntegerField(
        default=0, editable=False, help_text="Number of the oldest message in the context."
    )
    rewritten = models.PositiveIntegerField(
        default=0, editable=False, help_text="How often messages of the past were changed."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    last_message_at = models.DateTimeField(null=True, blank=True, editable=False)
    archived_at = models.DateTimeField(null=True, blank=True)

    objects = ConversationManager.from_queryset(ConversationQuerySet)()

    SETTINGS = (
        *("title", "description", "model", "model_settings", "context_window", "hidden"),
        "archived_at",
    )
    RECORDS = (
        *("id", "agent", "context_from", "rewritten", "created_at", "last_message_at"),
        *("version_of", "with_memory", "taken_back"),
    )

    class Meta:
        ordering = ["created_at"]

    def __str__(self) -> str:
        if self.title == TEMPORARY:
            return gettext(TEMPORARY)
        return self.title or gettext("New conversation")

    @classmethod
    @transaction.atomic
    def create(cls, agent: Agent, **given: Any) -> Conversation:
        """A new conversation of an agent; LimitReached where it has as many as it may."""
        check_conversations(agent)
        conversation = cls(agent=agent, **given)
        conversation.full_clean(exclude=["agent"])
        conversation.insert()
        conversation.record(Event.of(Event.Kind.CONVERSATION_CHANGED, conversation=conversation))
        return conversation

    @classmethod
    def first_of(cls, agent: Agent) -> Conversation:
        """The agent's first conversation; one that is not stored, if there is none yet."""
        return cls.of(agent, agent.pk) or cls(pk=agent.pk, agent=agent)

    @classmethod
    def firsts_of(cls, agents: Sequence[Agent]) -> dict[uuid.UUID, Conversation]:
        """The first conversations of several agents, by the agent's key."""
        among, pks = keys(agents)
        found = {each.pk: each for each in read(cls, f"WHERE id IN {among}", *pks)}
        firsts = {}
        for agent in agents:
            firsts[agent.pk] = found.get(agent.pk) or cls(pk=agent.pk)
            firsts[agent.pk].agent = agent
        return firsts

    @classmethod
    def of(cls, agent: Agent, pk: uuid.UUID) -> Conversation | None:
        """The conversation of that id, if it is the agent's and no version that was put away."""
        conversation = cls.find(pk)
        if conversation is None or conversation.agent_id != agent.pk or conversation.version_of_id:
            return None
        conversation.agent = agent
        return conversation

    @classmethod
    def find_with_agent(cls, pk: uuid.UUID) -> Conversation | None:
        """The conversation of that id, and its agent, by one statement."""
        agents = cast("type[models.Model]", cls._meta.get_field("agent").related_model)
        rows = read_together(
            (agents, cls),
            "agents_conversation JOIN agents_agent ON agents_agent.id = agent_id"
            " WHERE agents_conversation.id = %s",
            key(cls(pk=pk)),
        )
        if not rows:
            return None
        agent, conversation = rows
        conversation.agent = agent
        return cast("Conversation", conversation)

    def get_absolute_url(self) -> str:
        """The address of its page."""
        if self.is_first:
            return reverse("agent", args=[self.agent_id])
        return reverse("conversation", args=[self.agent_id, self.pk])

    @property
    def is_archived(self) -> bool:
        return self.archived_at is not None

    @property
    def newest_moment(self) -> datetime:
        """When something last happened here."""
        return self.last_message_at or self.created_at

    @property
    def is_first(self) -> bool:
        """Whether it is the one that is meant where only the agent is named."""
        return self.pk == self.agent_id

    # -- settings ----------------------------------------------------------------------------

    @transaction.atomic
    def configure(self, **changes: Any) -> None:
        """Change title, model and the like, and record it, if there are changes."""
        if not changes:
            return
        advance(self.agent, 0)  # holds the agent's row, as whoever writes a conversation does first
        for field, value in changes.items():
            setattr(self, field, value)
        self.clean_fields(exclude=["agent"])
        self.save(update_fields=list(changes))
        self.record(Event.of(Event.Kind.CONVERSATION_CHANGED, conversation=self))

    def archive(self) -> None:
        """Take it out of the lists; a message sent in it brings it back."""
        self.configure(archived_at=timezone.now())

    def unarchive(self) -> None:
        self.configure(archived_at=None)

    @transaction.atomic
    def remove(self) -> None:
        """Delete it for good, with all that was said in it; what it wrote to memory stays.

        ValidationError for the first conversation, and while a run goes on or waits.
        """
        agent = self.agent = self.agent.locked()
        if self.is_first:
            raise ValidationError(
                gettext("The first conversation of an agent cannot be deleted; reset it instead.")
            )
        if self.has_unfinished_runs():
            raise ValidationError(
                gettext("A run of this conversation goes on or waits; stop it first, then delete.")
            )
        gone = Event.of(Event.Kind.CONVERSATION_CHANGED, conversation=self)
        gone.conversation_id = self.pk
        self._delete_history()
        self.delete()
        agent.record(gone)

    # -- what is said ------------------------------------------------------------------------

    @transaction.atomic
    def post_first_messages(self, messages: Sequence[tuple[str, str]]) -> None:
        """Begin with these messages, each a role and a text, as a run that is over.

        ValidationError where one of them is empty or too long.
        """
        of = {"agent": self.agent, "conversation": self}
        rows = [Message(**of, role=role, content=checked(text)) for role, text in messages]
        now = timezone.now()
        run = Run(**of, key=f"given-{self.pk}", text=rows[-1].content, status=Run.Status.DONE)
        run.reason, run.started_at, run.finished_at = Run.Reason.GIVEN, now, now
        run.insert()
        last = self.record(Event.of(Event.Kind.RUN_CHANGED, run=run), messages=len(rows))
        for number, row in enumerate(rows, last - len(rows) + 1):
            row.run, row.number = run, number
            row.insert()

    @transaction.atomic
    def reset(self) -> bool:
        """Forget all that was said, for good; memory stays. False, and nothing is forgotten, while
        a run goes on or waits."""
        agent = self.agent = self.agent.locked()
        if self.has_unfinished_runs():
            return False
        self._delete_history()
        self.record(Event.of(Event.Kind.RESET))
        self.context_from = 0
        self.update("context_from")
        self.count_rewriting()
        if not agent.messages.exists():
            type(agent).every.filter(pk=agent.pk).update(message_count=0)
        return True

    def count_rewriting(self) -> None:
        """Note that messages of the past were changed, so that nobody goes on with what it read of
        them; with the agent's row held."""
        self.rewritten += 1
        self.update("rewritten")

    def _delete_history(self) -> None:
        """Delete the messages and runs; with the agent's row held. What they wrote to memory stays,
        and is no longer led back to its step."""
        self.put_away.delete()
        self.messages.all().delete()
        self.runs.all().delete()
        Image.delete_unnamed(self.agent)
        self.agent.record(Event.of(Event.Kind.MEMORY_CHANGED))
