"""Versions: what was said from one message on, put away when that message is said again.

The conversation itself goes on with the newest version. Each of the others is a conversation of its
own that no list shows and no search looks into, `version_of` this one; its runs, messages and
compactions come back as they were when a person changes to it. Runs that stand at the same place
have the same `turn`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.db.models import Min
from django.utils.translation import gettext, gettext_noop, ngettext

from .block import Block
from .block_edit import BlockEdit, taken_back_by, undos_of
from .compaction import Compaction
from .editing import Editor, MemoryRefusal
from .event import Event
from .message import Message
from .queue import Queue
from .run import Run

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from .conversation import Conversation

MOST_VERSIONS = 50  # of one message
BUSY = gettext_noop(
    "The agent is still at work here; stop it, or wait until it has answered, then try again."
)


class ConversationManager(models.Manager["Conversation"]):
    """All but the versions that were put away, which are reached through their conversation."""

    def get_queryset(self) -> Any:
        return super().get_queryset().filter(version_of=None)


class Versioned(Queue):
    """What a conversation is to those who say something again. `every` has the versions too."""

    version_of = models.ForeignKey("self", models.CASCADE, null=True, editable=False)
    with_memory = models.BooleanField(
        default=False, editable=False, help_text="Of a version: memory goes and comes with it."
    )
    taken_back = models.JSONField(
        default=list, editable=False, help_text="Then the edits that took back what it wrote."
    )

    every: Any = models.Manager()

    class Meta:
        abstract = True

    @property
    def put_away(self) -> models.QuerySet[Conversation]:
        """Its versions, but for the one that is shown."""
        versions: models.QuerySet[Conversation] = type(self).every.filter(version_of=self.pk)
        return versions

    @property
    def shown(self) -> Conversation:
        """The conversation itself, of a version that was put away."""
        return cast("Conversation", self.version_of or self)

    @transaction.atomic
    def say_again(
        self, run: Run, text: str, key: str, author: User, *, with_memory: bool = False
    ) -> Run:
        """Put away what was said from a run on, and say its message again, as it was or in other
        words; `with_memory` takes back what the agent wrote to its blocks since then.

        The same `key` again gives the same run. Raises as `Queue.start` does, and ValidationError
        while a run goes on or waits, and where the run has no message of a person.
        """
        self._lock(_edits(self._runs_from(run)) if with_memory else [])
        if same := Run.objects.filter(agent=self.agent, key=key).first():
            return same
        run = self._run_to_leave(run)
        if run.kind != Run.Kind.MESSAGE or run.role != Message.Role.USER:
            raise ValidationError(gettext("Only what a person said can be said again."))
        run.turn = run.turn or run.pk
        if Run.objects.filter(turn=run.turn).count() >= MOST_VERSIONS:
            raise ValidationError(
                ngettext(
                    "This message has %(most)s version, and that is the most; change to it, or"
                    " begin another conversation.",
                    "This message has %(most)s versions, and that is the most; change to one of"
                    " them, or begin another conversation.",
                    MOST_VERSIONS,
                )
                % {"most": MOST_VERSIONS}
            )
        run.update("turn")
        self._put_away(run, author, with_memory=with_memory)
        images = [image["sha256"] for image in run.images]
        return self.start(text, key, images=images, author=author, turn=run.turn)

    @transaction.atomic
    def show_version(self, run: Run, author: User) -> None:
        """Go on from the version that has a run, with the memory that was put away with it.

        ValidationError while a run goes on or waits, and where it is not the next one to go to.
        """
        version = self.put_away.filter(runs=run.pk).first()
        if version is None:
            raise ValidationError(gettext("This version is shown already; reload the page."))
        first = Run.objects.filter(conversation=version.pk).order_by("pk")[:1]
        shown = Run.objects.filter(conversation=self.pk, turn__in=first.values("turn")).first()
        if shown is None:
            raise ValidationError(
                gettext(
                    "This version followed on another version of an earlier message. Go to that"
                    " one first."
                )
            )
        undone = BlockEdit.objects.filter(pk__in=version.taken_back)
        self._lock([*undone, *_edits(self._runs_from(shown))] if version.with_memory else [])
        self._run_to_leave(shown)
        keys = list(Run.objects.filter(conversation=version.pk).values_list("pk", flat=True))
        edits = version.taken_back
        context_from, version.context_from = version.context_from, self.context_from
        self._put_away(shown, author, with_memory=version.with_memory, redraw=False)
        _move(version, self._conversation, keys)
        self.context_from = context_from
        self.update("context_from")
        _take_back(edits, Editor.person(author))
        version.delete()
        self._redraw(max(keys))

    def blocks_since(self, run: Run) -> list[str]:
        """The labels of the blocks that hold what the agent wrote from a run on."""
        return sorted({edit.block.label for edit in _edits(self._runs_from(run))})

    def _lock(self, edits: Sequence[BlockEdit]) -> None:
        """Hold the agent's row until commit, and before it the blocks of these edits."""
        blocks = Block.objects.filter(pk__in=[edit.block_id for edit in edits])
        blocks.lock_with_holders(self.agent)
        self.agent = self.agent.locked()

    def _run_to_leave(self, run: Run) -> Run:
        """The run as it is now, from which on all is put away."""
        found = Run.objects.filter(conversation=self.pk, pk=run.pk).first()
        if found is None:
            words = gettext("This message is no longer in the conversation; reload the page.")
            raise ValidationError(words)
        if self.has_unfinished_runs():
            raise ValidationError(gettext(BUSY))
        found.agent, found.conversation = self.agent, self._conversation
        return found

    def _runs_from(self, run: Run) -> list[int]:
        later = Run.objects.filter(conversation=self.pk, pk__gte=run.pk)
        return list(later.order_by("pk").values_list("pk", flat=True))

    def _put_away(self, run: Run, author: User, *, with_memory: bool, redraw: bool = True) -> None:
        """Move all from a run on to a version; with the agent's row held."""
        keys = self._runs_from(run)
        edits = [edit.pk for edit in _edits(keys)] if with_memory else []
        version = type(self._conversation)(
            agent=self.agent,
            version_of=self._conversation,
            context_from=self.context_from,
            with_memory=with_memory,
            taken_back=_take_back(edits, Editor.person(author)),
        )
        version.insert()
        first = Compaction.objects.filter(run__in=keys).aggregate(first=Min("first"))["first"]
        if first is not None:
            self.context_from = first
            self.update("context_from")
        _move(self._conversation, version, keys)
        self._conversation.count_rewriting()
        if redraw:
            self._redraw(max(self._runs_before(run), default=0))

    def _runs_before(self, run: Run) -> list[int]:
        before = Run.objects.filter(conversation=self.pk, pk__lt=run.pk).order_by("-pk")
        return list(before.values_list("pk", flat=True)[:1])

    def _redraw(self, until: int) -> None:
        """Have pages draw the runs up to this one anew."""
        self.record(Event(kind=Event.Kind.VERSION_CHANGED, data={"until": until}))


def _move(source: Conversation, target: Conversation, runs: list[int]) -> None:
    """Move runs with all that belongs to them from a conversation to another one."""
    Run.objects.filter(pk__in=runs).update(conversation=target)
    Message.objects.filter(conversation=source.pk, run__in=runs).update(conversation=target)
    Compaction.objects.filter(run__in=runs).update(conversation=target)


def _edits(runs: list[int]) -> list[BlockEdit]:
    """What runs wrote to blocks and nobody has taken back, the newest first."""
    edits = BlockEdit.objects.filter(step__run__in=runs).select_related("block").order_by("-pk")
    gone = taken_back_by(undos_of({edit.block_id for edit in edits}))
    return [edit for edit in edits if edit.pk not in gone]


def _take_back(edits: list[int], by: Editor) -> list[int]:
    """Undo edits in this order; the keys of what did it, the newest first. An edit whose lines were
    changed again since stays."""
    done = []
    rows = BlockEdit.objects.select_related("block").in_bulk(edits)
    for edit in (rows[pk] for pk in edits if pk in rows):
        try:
            with transaction.atomic():
                undo = edit.block.undo(edit, by=by)
        except MemoryRefusal:
            continue
        if undo is not None:
            done.append(undo.pk)
    return done[::-1]
