"""Block: a labelled piece of core memory with a limit. All writes go through `Block._write`."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models, transaction
from django.db.models.functions import Length
from django.db.models.lookups import LessThanOrEqual
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from .block_checks import (
    check_agent_may_write,
    check_earlier,
    check_person,
    check_value,
    clean_block,
)
from .block_edit import BlockEdit
from .block_queryset import BlockQuerySet
from .block_text import inserted, replaced, replaced_once
from .editing import ApprovalNeeded, Editor, MemoryRefusal, RowDeleted, VersionConflict
from .event import Event
from .prepared_sql import find, insert, key, read, update, values

if TYPE_CHECKING:
    from .agent import Agent
    from .sharing import Sharing

DEFAULT_LIMIT = 2000
LABEL = re.compile(r"\A[\w./-]+(?: [\w./-]+)*\Z")


class Block(models.Model):
    """Core memory that the model always sees: a label, a value, and how long the value may get.

    `limit` and lengths are in characters (Unicode code points). `version` counts the writes.
    """

    class Kind(models.TextChoices):
        TEXT = "text", _("text")
        LIST = "list", _("JSON list")
        OBJECT = "object", _("JSON object")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="blocks")
    label = models.CharField(
        max_length=50,
        validators=[
            RegexValidator(
                LABEL,
                _("A label is made of letters, digits, '_', '-', '.', '/' and single spaces."),
            )
        ],
    )
    description = models.CharField(max_length=500, blank=True)
    value = models.TextField(blank=True)
    limit = models.PositiveIntegerField(
        default=DEFAULT_LIMIT, validators=[MinValueValidator(1), MaxValueValidator(1_000_000)]
    )
    read_only = models.BooleanField(
        default=False, help_text=_("The agent may read the block, and only people may change it.")
    )
    ask_before_write = models.BooleanField(
        default=False, help_text=_("The agent's changes wait until a person approves them.")
    )
    kind = models.CharField(
        max_length=10,
        choices=Kind,
        default=Kind.TEXT,
        help_text=_("A list or object is JSON, and no change may break it."),
    )
    schema = models.JSONField(
        null=True, blank=True, help_text=_("A JSON Schema that a list or object must match.")
    )
    version = models.PositiveIntegerField(default=0, editable=False)
    name = models.CharField(max_length=200, blank=True, help_text=_("As a script named it."))
    tags = models.JSONField(default=list, blank=True)
    metadata = models.JSONField(default=dict, blank=True, help_text=_("A script's own notes."))
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = BlockQuerySet.as_manager()

    # Each field is a setting or a record. Forks, agent files, forms, the admin and the API go by
    # these lists.
    IN_FORMS = ("label", "description", "limit", "kind", "schema", "read_only", "ask_before_write")
    BY_SCRIPTS = ("name", "tags", "metadata")
    SETTINGS = (*IN_FORMS, *BY_SCRIPTS)
    RECORDS = ("id", "owner", "value", "version", "created_at", "updated_at")

    # set where blocks are read to be shown; see `agents/ledger/recent.py`
    newest_edit: BlockEdit | None = None
    marked_since = 0  # the version since which changes are marked
    marked_from: str | None = None  # its value
    to_undo: int | None = None
    to_redo: int | None = None
    pending: Sequence[Any] = ()  # see `agents/live/pending_changes.py`
    sharing: Sharing | None = None

    class Meta:
        ordering = ["label"]
        indexes = [models.Index(fields=["owner", "-created_at"], name="blocks_of_owner")]
        constraints = [
            models.CheckConstraint(
                condition=LessThanOrEqual(Length("value"), models.F("limit")),
                name="value_within_limit",
            )
        ]

    def __str__(self) -> str:
        return self.label

    def clean(self) -> None:
        clean_block(self)

    # -- verbs -------------------------------------------------------------------------------

    def append(self, content: str, *, by: Editor) -> BlockEdit | None:
        """Add a line at the end."""
        return self._write(lambda value: f"{value}\n{content}" if value else content, by=by)

    def insert(self, content: str, line: int = -1, *, by: Editor) -> BlockEdit | None:
        """Put `content` below line number `line`: 0 is above the first, -1 below the last."""
        return self._write(lambda value: inserted(self.label, value, content, line), by=by)

    def replace_once(self, old: str, new: str, *, by: Editor) -> BlockEdit | None:
        """Put `new` for the one place where `old` stands."""
        return self._write(lambda value: replaced_once(self.label, value, old, new), by=by)

    def replace(self, old: str, new: str, *, by: Editor) -> BlockEdit | None:
        """Put `new` for every place where `old` stands; empty `new` takes it away."""
        return self._write(lambda value: replaced(self.label, value, old, new), by=by)

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
            check_earlier(self, version, value)
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
            gettext("Block '%(label)s' has no version %(version)s; it is at version %(newest)s.")
            % {"label": self.label, "version": version, "newest": self.version}
        )

    def only_at(self, version: int, *, by: Editor) -> None:
        """Hold the row until commit, for a change that was made to this version and to no other.

        VersionConflict where somebody has written since; `self` is then what they wrote.
        """
        self.lock()
        self.check_allowed(by)
        if self.version != version:
            raise VersionConflict(
                gettext(
                    "Block '%(label)s' was changed meanwhile: it is at version %(newest)s, and the"
                    " change was made to version %(version)s."
                )
                % {"label": self.label, "version": version, "newest": self.version}
            )

    @transaction.atomic
    def configure(
        self, *, by: Editor | None = None, value: str | None = None, **settings: Any
    ) -> BlockEdit | None:
        """Change label, limit and other settings, and with them the value, where one is given.

        An empty value becomes an empty list or object with its kind; without `by` the value stays.
        ValidationError where the block cannot be so, MemoryRefusal where this editor may not.
        """
        self.lock()
        if by:
            self.check_allowed(by, settings=bool(settings))
            if not settings:
                return self.set_value(self.value if value is None else value, by=by)
        before = self.value
        for field, setting in settings.items():
            setattr(self, field, setting)
        self.value = before if value is None else value
        self.full_clean()
        changed = {*settings, "updated_at"} | ({"schema"} if "kind" in settings else set())
        if by and self.value != before:
            self.version += 1
            changed |= {"value", "version"}
        else:
            self.value = before
        self.save(update_fields=changed)
        self.attachment_set.update(label=self.label)
        self.redraw_holders()
        return self._log(before, by) if by and "value" in changed else None

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
        self.lock()
        self.check_allowed(by)
        before, after = self.value, change(self.value)
        if after == before:
            return None
        check_value(self, after)
        if by.kind == Editor.AGENT and self.ask_before_write and not by.approved:
            raise ApprovalNeeded
        self.value, self.version = after, self.version + 1
        update(self, "value", "version", "updated_at")
        return self._log(before, by, undoes, restores)

    def _log(
        self, before: str, by: Editor, undoes: BlockEdit | None = None, restores: int | None = None
    ) -> BlockEdit:
        """Enter a write in the ledger and in the log of every agent that holds the block."""
        edit = BlockEdit(
            block=self,
            version=self.version,
            first_value=None if self._was_written() else before,
            after=self.value,
            undoes=undoes,
            restores=restores,
            editor_kind=by.kind,
            editor_name=by.name,
            user=by.user,
            step=by.step,
            tool_call_id=by.tool_call_id,
        )
        edit.before = before
        insert(edit)
        for agent in self.holders():
            agent.record(Event.of(Event.Kind.BLOCK_EDITED, block=self, edit=edit))
        return edit

    def _was_written(self) -> bool:
        """Whether the ledger has the edit that left the value before this version."""
        last = self.version - 1
        where = "WHERE block_id = %s AND version = %s"
        return bool(last and values(BlockEdit, ("version",), where, key(self), last))

    def check_allowed(self, by: Editor, *, settings: bool = False) -> None:
        """MemoryRefusal where this editor may not write, or not change the settings."""
        if by.kind == Editor.AGENT:
            check_agent_may_write(self)
        check_person(self, by.owner_id, settings=settings)

    def redraw_holders(self) -> None:
        """Have every agent that holds the block draw its memory anew."""
        for agent in self.holders():
            agent.record(Event.of(Event.Kind.MEMORY_CHANGED))

    def holders(self) -> list[Agent]:
        """The agents that hold the block, in the order their rows are locked."""
        joined = "JOIN agents_attachment held ON held.agent_id = agents_agent.id"
        where = "WHERE held.block_id = %s ORDER BY held.agent_id"
        return read(self.agents.model, f"{joined} {where}", key(self))

    def lock(self) -> None:
        """Read the row anew and hold it until commit."""
        row = find(Block, self.pk, lock=True)
        if row is None:
            raise RowDeleted(gettext("The block '%(label)s' was deleted.") % {"label": self.label})
        self.__dict__.update(row.__dict__)
