"""What was said and done in a run: its messages, steps, edits and compactions, each read once."""

from __future__ import annotations

from datetime import datetime
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils.functional import cached_property

from .message import Message
from .prepared_sql import PreparedRow, read, values
from .step import Step

if TYPE_CHECKING:
    from django_stubs_ext.db.models.manager import RelatedManager

    from .block_edit import BlockEdit
    from .compaction import Compaction
    from .editing import Editor


class RunContents(PreparedRow):
    """The lists of a run in memory; the loop keeps them up to date (`agents/runs/work.py`)."""

    if TYPE_CHECKING:
        turn: int | None
        messages: RelatedManager[Message]
        steps: RelatedManager[Step]
        kind: str
        role: str
        reason: str
        compactions: RelatedManager[Compaction]

    class Meta:
        abstract = True

    @cached_property
    def message_list(self) -> list[Message]:
        """The run's messages in order."""
        return list(self.messages.all())

    @property
    def opening(self) -> list[Message]:
        """What was said before its first step, as the transcript shows it."""
        return [row for row in self.message_list if row.step_id is None and not row.internal]

    @cached_property
    def step_list(self) -> list[Step]:
        """The run's steps in order."""
        return list(self.steps.all())

    @cached_property
    def compaction_list(self) -> list[Compaction]:
        """The run's compactions in order."""
        return list(self.compactions.all())

    def parts(self) -> list[Step | Compaction]:
        """Steps and compactions as they followed on each other."""
        if not self.compaction_list:
            return list(self.step_list)
        parts: list[tuple[datetime, Step | Compaction]]
        parts = [(compaction.created_at, compaction) for compaction in self.compaction_list]
        parts += [(step.started_at, step) for step in self.step_list]
        return [part for _, part in sorted(parts, key=itemgetter(0))]

    def refresh_from_db(self, *args: Any, **kwargs: Any) -> None:
        super().refresh_from_db(*args, **kwargs)
        for kept in ("message_list", "step_list", "compaction_list"):
            self.__dict__.pop(kept, None)

    @cached_property
    def versions(self) -> list[int]:
        """The keys of the runs that stand at its place, the first first; [] where there is only
        this one."""
        if self.turn is None:
            return []
        rows = values(type(self), ("id",), "WHERE turn = %s ORDER BY id", self.turn)
        return [pk for (pk,) in rows]

    # -- read anew, for a script that waits for the run ----------------------------------------

    def stored_status(self) -> str | None:
        """Its status as it is now; None where the run was deleted."""
        rows = values(type(self), ("status",), "WHERE id = %s", self.pk)
        return rows[0][0] if rows else None

    def stored_steps(self) -> list[Step]:
        """Its steps as they are now."""
        return read(Step, "WHERE run_id = %s ORDER BY id", self.pk)

    def stored_messages(self, after: int = -1) -> list[Message]:
        """Its messages as they are now, those whose number is above `after`."""
        return read(Message, "WHERE run_id = %s AND number > %s ORDER BY number", self.pk, after)

    # -- what it did ---------------------------------------------------------------------------

    def edits(self) -> list[BlockEdit]:
        """What its tool calls wrote to blocks, in order."""
        return [edit for step in self.step_list for edit in step.edit_list]

    @transaction.atomic
    def undo_edits(self, *, by: Editor) -> None:
        """Take back all it wrote to memory, the newest first; MemoryRefusal where one cannot be."""
        edits = [e for step in self.steps.all() for e in step.block_edits.select_related("block")]
        for edit in sorted(edits, key=lambda edit: -edit.pk):
            edit.block.undo(edit, by=by)

    def called(self) -> list[str]:
        """The tools it has called with success, in order."""
        return [name for step in self.step_list for name in step.called()]

    def answered_steps(self) -> int:
        """How many steps the model answered; a call that failed is none."""
        return sum(step.status != "failed" for step in self.step_list)

    def failed_steps(self) -> int:
        """How many calls of the model failed."""
        return sum(step.status == "failed" for step in self.step_list)

    def is_unanswered(self) -> bool:
        """Whether a person's message came to its end without a word to them."""
        if self.kind != "message" or self.role != Message.Role.USER:
            return False
        if self.reason not in ("max_steps", "no_heartbeat", "cancelled"):
            return False
        if "send_message" in self.called():
            return False
        said = [step.message for step in self.step_list if step.message and step.message.content]
        if self.reason == "max_steps":  # what it says with a call leads up to an answer
            said = [message for message in said if not message.tool_calls]
        return not any(message.content.strip() for message in said)

    def tokens(self) -> int:
        """Tokens the endpoint reported for the run, both ways."""
        return sum((s.prompt_tokens or 0) + (s.completion_tokens or 0) for s in self.step_list)
