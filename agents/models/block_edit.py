"""BlockEdit: one row of a block's ledger."""

from __future__ import annotations

from difflib import SequenceMatcher

from django.conf import settings
from django.db import models
from merge3 import Merge3

from agents.diff import Piece, words_changed

from .block import Block, MemoryRefusal


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
        """`value` without this edit's change; MemoryRefusal if the same lines changed again.

        An edit that is taken back already stays so; undo the undo to have it again.
        """
        if value == self.after:
            return self.before
        undo = BlockEdit.objects.filter(undoes=self).first()
        if undo and not BlockEdit.objects.filter(undoes=undo).exists():
            return value
        after, now, before = (terminated(text) for text in (self.after, value, self.before))
        standing: dict[int, int] = {}  # where the lines of `after` stand now
        for a, b, size in SequenceMatcher(None, after, now, autojunk=False).get_matching_blocks():
            standing |= zip(range(a, a + size), range(b, b + size), strict=True)
        changes = SequenceMatcher(None, after, before, autojunk=False).get_opcodes()
        for tag, start, end, old_start, old_end in reversed(changes):
            if tag != "equal":
                now[self._place(standing, start, end)] = before[old_start:old_end]
        return "".join(now).removesuffix("\n")

    def _place(self, standing: dict[int, int], start: int, end: int) -> slice:
        """Where lines `start` to `end` of `after` stand now, all of them and side by side."""
        if start < end:
            places = [standing.get(line, -1) for line in range(start, end)]
            first = places[0]
            if first >= 0 and places == [*range(first, first + len(places))]:
                return slice(first, first + len(places))
        elif start - 1 in standing:  # nothing stands there: below the line before
            return slice(standing[start - 1] + 1, standing[start - 1] + 1)
        elif start in standing or not self.after:
            return slice(standing.get(start, 0), standing.get(start, 0))
        raise MemoryRefusal(
            f"Version {self.version} of block '{self.block.label}' cannot be undone by itself:"
            " the same lines were changed again since. Undo the later edits first,"
            " or edit the block."
        )


def terminated(text: str) -> list[str]:
    """A text's lines, each with its end, also the last one; no line where there is no text."""
    return [f"{line}\n" for line in text.split("\n")] if text else []


def merged(base: str, mine: str, theirs: str) -> tuple[str, bool]:
    """Merge two changes of `base` by lines; True if some lines hold both, to choose from."""
    lines: list[str] = []
    conflict = False
    for group in Merge3(terminated(base), terminated(mine), terminated(theirs)).merge_groups():
        if group[0] == "conflict":
            conflict = True
            lines += [*group[2], *(line for line in group[3] if line not in group[2])]
        else:
            lines += group[1]
    return "".join(lines).removesuffix("\n"), conflict
