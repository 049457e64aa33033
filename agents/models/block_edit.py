"""BlockEdit: one row of a block's ledger."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from django.conf import settings
from django.db import connection, models
from django.db.models.functions import Coalesce
from django.utils.functional import cached_property
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from agents.text.diff import Piece, hunks_changed, words_changed
from agents.text.merge import without

from .editing import MemoryRefusal
from .prepared_sql import key

if TYPE_CHECKING:
    from .block import Block


class LedgerManager(models.Manager["BlockEdit"]):
    """Edits with the value before each, read along with it."""

    def get_queryset(self) -> models.QuerySet[BlockEdit]:
        before = BlockEdit.plain.filter(
            block=models.OuterRef("block"), version=models.OuterRef("version") - 1
        )
        value = Coalesce("first_value", models.Subquery(before.values("after")[:1]))
        return super().get_queryset().annotate(previous_value=value)


class BlockEdit(models.Model):
    """A write to a block: the value it left, who wrote, and in which step.

    Each value is stored once: what was there before is what the edit before it left.
    """

    # its two indexes below begin with the block: it needs none of its own
    block = models.ForeignKey("Block", models.CASCADE, related_name="edits", db_index=False)
    version = models.PositiveIntegerField()
    first_value = models.TextField(  # noqa: DJ001  (None: no first value; "": an empty one)
        null=True, blank=True, help_text=_("The value before, if no earlier edit holds it.")
    )
    after = models.TextField(blank=True)
    undoes = models.ForeignKey("self", models.SET_NULL, null=True, blank=True)
    restores = models.PositiveIntegerField(
        null=True, blank=True, help_text=_("The version whose value this edit brought back.")
    )
    editor_kind = models.CharField(max_length=10)
    editor_name = models.CharField(max_length=150)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    step = models.ForeignKey(
        "Step", models.SET_NULL, null=True, blank=True, related_name="block_edits"
    )
    tool_call_id = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = LedgerManager()
    plain: models.Manager[BlockEdit] = models.Manager()  # without the values before

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(fields=["block", "version"], name="edit_version_is_unique"),
        ]
        indexes = [
            models.Index(fields=["block", "id"], name="edits_of_block"),
            models.Index(
                fields=["block", "id", "undoes"],
                condition=models.Q(undoes__isnull=False),
                name="undos_of_block",
            ),
        ]

    def __str__(self) -> str:
        words = gettext("%(label)s version %(version)s")
        return words % {"label": self.block.label, "version": self.version}

    @cached_property
    def before(self) -> str:
        """The value before."""
        if self.first_value is not None:
            return self.first_value
        if (value := getattr(self, "previous_value", None)) is not None:
            return str(value)
        edits = BlockEdit.plain.filter(block=self.block_id, version=self.version - 1)
        return edits.values_list("after", flat=True).first() or ""

    def pieces(self) -> list[Piece]:
        """What changed, word by word."""
        return words_changed(self.before, self.after)

    def hunks(self) -> list[list[Piece]]:
        """The lines that changed, each stretch of them word by word."""
        return hunks_changed(self.before, self.after)

    def taken_back(self, value: str) -> str:
        """`value` without this edit's change; MemoryRefusal if the same lines changed again.

        An edit that is taken back already stays so; undo the undo to have it again.
        """
        if value == self.after:
            return self.before
        if self.pk in taken_back_by(undos_of([self.block_id])):
            return value
        left = without(self.before, self.after, value)
        if left is None:
            raise MemoryRefusal(
                gettext(
                    "Version %(version)s of block '%(label)s' cannot be undone by itself: the same"
                    " lines were changed again since. Undo the later edits first, or edit the"
                    " block."
                )
                % {"version": self.version, "label": self.block.label}
            )
        return left


def edit_ids(
    blocks: Sequence[Block], comparison: str, bound: int, order: str, limit: int
) -> list[int]:
    """Ids of some blocks' edits whose id compares so with the bound, in `order` ("ASC", "DESC").

    Each block's own share first, or the database looks through the edits of all agents.
    """
    if not blocks:
        return []
    share = (
        f"SELECT id FROM (SELECT id FROM agents_blockedit WHERE block_id = %s"
        f" AND id {comparison} %s ORDER BY id {order} LIMIT {limit}) share"
    )
    shares = " UNION ALL ".join([share] * len(blocks))
    with connection.cursor() as cursor:
        parameters = [value for block in blocks for value in (key(block), bound)]
        cursor.execute(f"{shares} ORDER BY 1 {order} LIMIT {limit}", parameters)
        return [pk for (pk,) in cursor.fetchall()]


def undos_of(blocks: Iterable[UUID]) -> dict[int, int]:
    """Every undo in some blocks' ledgers, newest first, with the edit it takes back."""
    undos = BlockEdit.objects.filter(block__in=blocks, undoes__isnull=False)
    found: dict[int, int] = dict(undos.order_by("-pk").values_list("pk", "undoes_id"))
    return found


def taken_back_by(undos: dict[int, int]) -> dict[int, int]:
    """The edits that are taken back now, each with the undo that does it.

    An undo that was itself taken back counts for nothing, so the newest have their say first.
    """
    taken_back: dict[int, int] = {}
    for undo, edit in undos.items():
        if undo not in taken_back:
            taken_back.setdefault(edit, undo)
    return taken_back
