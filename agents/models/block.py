"""Block: a labelled piece of core memory with a limit. All writes go through `Block._write`."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models, transaction
from django.db.models.functions import Length
from django.db.models.lookups import LessThanOrEqual

from .event import Event
from .message import NO_TEXT
from .statements import find, insert, key, read, update

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from .agent import Agent
    from .block_edit import BlockEdit
    from .step import Step

DEFAULT_LIMIT = 2000
LABEL = re.compile(r"\A[\w./-]+(?: [\w./-]+)*\Z")


class MemoryRefusal(Exception):
    """A change to memory that was not made, and why, in words for whoever asked for it."""


@dataclass(frozen=True)
class Editor:
    """Who writes to a block: the agent in one of its steps, a person, the admin, a script."""

    kind: str
    name: str
    user: User | None = None
    step: Step | None = None
    tool_call_id: str = ""

    AGENT = "agent"
    PERSON = "person"
    ADMIN = "admin"
    API = "api"
    IMPORT = "import"

    @classmethod
    def agent(cls, step: Step, tool_call_id: str) -> Editor:
        return cls(cls.AGENT, step.run.agent.name, step=step, tool_call_id=tool_call_id)

    @classmethod
    def person(cls, user: User, kind: str = PERSON) -> Editor:
        return cls(kind, user.get_username(), user=user)


class Block(models.Model):
    """Core memory that the model always sees: a label, a value, and how long the value may get.

    `limit` and lengths are in characters (Unicode code points). `version` counts the writes.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="blocks")
    label = models.CharField(
        max_length=50,
        validators=[
            RegexValidator(
                LABEL, "A label is made of letters, digits, '_', '-', '.', '/' and single spaces."
            )
        ],
    )
    description = models.CharField(max_length=500, blank=True)
    value = models.TextField(blank=True)
    limit = models.PositiveIntegerField(
        default=DEFAULT_LIMIT, validators=[MinValueValidator(1), MaxValueValidator(1_000_000)]
    )
    read_only = models.BooleanField(
        default=False, help_text="The agent may read the block, and only people may change it."
    )
    version = models.PositiveIntegerField(default=0, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    newest_edit: BlockEdit | None = None  # set where blocks are read to be shown

    class Meta:
        ordering = ["label"]
        constraints = [
            models.CheckConstraint(
                condition=LessThanOrEqual(Length("value"), models.F("limit")),
                name="value_within_limit",
            )
        ]

    def __str__(self) -> str:
        return self.label

    def clean(self) -> None:
        if len(self.value) > self.limit:
            raise ValidationError({"value": as_sentence(self._over_limit(self.value))})
        if bad := NO_TEXT.search(self.value):
            raise ValidationError({"value": f"A block cannot hold the character {bad[0]!a}."})
        for attachment in self.attachment_set.exclude(label=self.label):
            if attachment.agent.attachments.filter(label=self.label).exists():
                raise ValidationError(
                    {"label": f"'{attachment.agent}' already has a block '{self.label}'."}
                )

    # -- verbs -------------------------------------------------------------------------------

    def append(self, content: str, *, by: Editor) -> BlockEdit | None:
        """Add a line at the end."""
        return self._write(lambda value: f"{value}\n{content}" if value else content, by=by)

    def replace(self, old: str, new: str, *, by: Editor) -> BlockEdit | None:
        """Put `new` for every place where `old` stands; empty `new` takes it away."""

        def change(value: str) -> str:
            if not old:
                raise MemoryRefusal(
                    "The text to replace is empty; give the exact words to replace,"
                    " or append instead."
                )
            if old not in value:
                raise MemoryRefusal(
                    f"'{old}' does not occur in block '{self.label}'; its value is now:\n{value}"
                )
            return value.replace(old, new)

        return self._write(change, by=by)

    def set_value(self, value: str, *, by: Editor) -> BlockEdit | None:
        """Make `value` the whole value."""
        return self._write(lambda _: value, by=by)

    def undo(self, edit: BlockEdit, *, by: Editor) -> BlockEdit | None:
        """Take one edit back, as a new edit; what was changed elsewhere since then stays."""
        return self._write(edit.taken_back, by=by, undoes=edit)

    def restore(self, version: int, *, by: Editor) -> BlockEdit | None:
        """Make the value of an earlier version the current one, as a new edit."""

        def change(_: str) -> str:
            value = self.value_at(version)
            if len(value) > self.limit:
                raise MemoryRefusal(
                    f"Version {version} of block '{self.label}' has {len(value):,} characters and"
                    f" the limit is now {self.limit:,}; raise the limit in the block's settings,"
                    " or copy from it what you need."
                )
            return value

        return self._write(change, by=by, restores=version)

    def value_at(self, version: int) -> str:
        """The value as it was at a version; version 0 is what the block was made with."""
        if version == self.version:
            return self.value
        if edit := self.edits.filter(version=version).first():
            return edit.after
        if edit := self.edits.filter(version=version + 1).first():
            return edit.before
        raise MemoryRefusal(
            f"Block '{self.label}' has no version {version}; it is at version {self.version}."
        )

    @transaction.atomic
    def configure(self, **changes: Any) -> None:
        """Change label, description, limit or read-only; ValidationError where that cannot be."""
        self.lock()
        for field, value in changes.items():
            setattr(self, field, value)
        self.full_clean()
        self.save(update_fields=[*changes, "updated_at"])
        self.attachment_set.update(label=self.label)
        for agent in self.holders():
            agent.record(Event.of(Event.Kind.MEMORY_CHANGED))

    # -- the one write path --------------------------------------------------------------------

    @transaction.atomic
    def _write(
        self,
        change: Callable[[str], str],
        *,
        by: Editor,
        undoes: BlockEdit | None = None,
        restores: int | None = None,
    ) -> BlockEdit | None:
        """Write `change(value)`: limit, read-only, version, ledger and log in one transaction.

        Returns the ledger's new row, or None where the value stays what it is. Raises
        MemoryRefusal, and writes nothing, where the change cannot be made.
        """
        from .block_edit import BlockEdit

        self.lock()
        if self.read_only and by.kind == Editor.AGENT:
            raise MemoryRefusal(
                f"Block '{self.label}' is read-only; tell the person what should change,"
                " or write it to another block."
            )
        before, after = self.value, change(self.value)
        if after == before:
            return None
        if len(after) > self.limit:
            raise MemoryRefusal(self._over_limit(after))
        if bad := NO_TEXT.search(after):
            raise MemoryRefusal(f"A block cannot hold the character {bad[0]!a}; leave it out.")
        self.value, self.version = after, self.version + 1
        update(self, "value", "version", "updated_at")
        edit = BlockEdit(
            block=self,
            version=self.version,
            before=before,
            after=after,
            undoes=undoes,
            restores=restores,
            editor_kind=by.kind,
            editor_name=by.name,
            user=by.user,
            step=by.step,
            tool_call_id=by.tool_call_id,
        )
        insert(edit)
        if by.step:
            by.step.edits.append(edit)
        for agent in self.holders():
            agent.record(Event.of(Event.Kind.BLOCK_EDITED, block=self, edit=edit))
        return edit

    def holders(self) -> list[Agent]:
        """The agents that hold the block, in the order their rows are locked."""
        from .agent import Agent

        joined = "JOIN agents_attachment held ON held.agent_id = agents_agent.id"
        return read(Agent, f"{joined} WHERE held.block_id = %s ORDER BY held.agent_id", key(self))

    def lock(self) -> None:
        """Read the row anew and hold it until commit."""
        row = find(Block, self.pk, lock=True)
        if row is None:
            raise MemoryRefusal(f"The block '{self.label}' was deleted.")
        self.__dict__.update(row.__dict__)

    def _over_limit(self, value: str) -> str:
        over = len(value) - self.limit
        return (
            f"block '{self.label}' would be {len(value):,} of {self.limit:,} characters;"
            f" shorten it by {over:,} or move something to another block"
        )


def as_sentence(refusal: str) -> str:
    """What the model is told within a sentence, as one of its own for a person."""
    return f"{refusal[:1].upper()}{refusal[1:]}" + ("" if refusal.endswith(".") else ".")
