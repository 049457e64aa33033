"""BlockEdit: one row of a block's ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from merge3 import Merge3

from agents.diff import Piece, words_changed

from .block import Block, MemoryRefusal

if TYPE_CHECKING:
    from .agent import Agent


class BlockEdit(models.Model):
    """A write to a block: the value before and after, who wrote, and in which step."""

    block = models.ForeignKey(Block, models.CASCADE, related_name="edits")
    version = models.PositiveIntegerField()
    before = models.TextField(blank=True)
    after = models.TextField(blank=True)
    undoes = models.ForeignKey("self", models.SET_NULL, null=True, blank=True)
    editor_kind = models.CharField(max_length=10)
    editor_name = models.CharField(max_length=150)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    step = models.ForeignKey(
        "Step", models.SET_NULL, null=True, blank=True, related_name="block_edits"
    )
    tool_call_id = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(fields=["block", "version"], name="edit_version_is_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.block.label} version {self.version}"

    def pieces(self) -> list[Piece]:
        """What changed, word by word."""
        return words_changed(self.before, self.after)

    def taken_back(self, value: str) -> str:
        """`value` without this edit's change; MemoryRefusal if later edits touched the same lines."""
        if value == self.after:
            return self.before
        lines = [text.splitlines(keepends=True) for text in (self.after, value, self.before)]
        merge = Merge3(*lines)
        if any(group[0] == "conflict" for group in merge.merge_groups()):
            raise MemoryRefusal(
                f"Version {self.version} of block '{self.block.label}' cannot be undone by itself:"
                " the same lines were changed again since. Undo the later edits first,"
                " or edit the block."
            )
        return "".join(merge.merge_lines())


def merged(base: str, mine: str, theirs: str) -> tuple[str, bool]:
    """Merge two changes of `base`, by lines; True if some lines hold both versions to choose from."""
    texts = [[f"{line}\n" for line in text.split("\n")] for text in (base, mine, theirs)]
    lines: list[str] = []
    conflict = False
    for group in Merge3(*texts).merge_groups():
        if group[0] == "conflict":
            conflict = True
            lines += [*group[2], *(line for line in group[3] if line not in group[2])]
        else:
            lines += group[1]
    return "".join(lines).removesuffix("\n"), conflict
