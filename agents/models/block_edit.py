"""BlockEdit: one row of a block's ledger."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from uuid import UUID

from django.conf import settings
from django.db import models
from merge3 import Merge3

from agents.diff import Piece, words_changed

from .block import Block
from .editing import MemoryRefusal

MOST_LINES_COMPARED = 1_000_000  # lines before by lines after
MOST_COMPARED = 1_000_000  # characters before by characters after
ALIKE = 0.4  # of the shorter text, or of the longer if it has more lines


class BlockEdit(models.Model):
    """A write to a block: the value before and after, who wrote, and in which step."""

    # its two indexes below begin with the block: it needs none of its own
    block = models.ForeignKey(Block, models.CASCADE, related_name="edits", db_index=False)
    version = models.PositiveIntegerField()
    before = models.TextField(blank=True)
    after = models.TextField(blank=True)
    undoes = models.ForeignKey("self", models.SET_NULL, null=True, blank=True)
    restores = models.PositiveIntegerField(
        null=True, blank=True, help_text="The version whose value this edit brought back."
    )
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
        indexes = [
            models.Index(fields=["block", "id"], name="edits_of_block"),
            models.Index(
                fields=["block", "id", "undoes"],
                condition=models.Q(undoes__isnull=False),
                name="undos_of_block",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.block.label} version {self.version}"

    def pieces(self) -> list[Piece]:
        """What changed, word by word."""
        return words_changed(self.before, self.after)

    def hunks(self) -> list[list[Piece]]:
        """The lines that changed, each stretch of them word by word."""
        old, new = terminated(self.before), terminated(self.after)
        return [
            rewritten("".join(old[a:b]).removesuffix("\n"), "".join(new[c:d]).removesuffix("\n"))
            for a, b, c, d in lines_differing(old, new)
        ]

    def taken_back(self, value: str) -> str:
        """`value` without this edit's change; MemoryRefusal if the same lines changed again.

        An edit that is taken back already stays so; undo the undo to have it again.
        """
        if value == self.after:
            return self.before
        if self.pk in taken_back_by(undos_of([self.block_id])):
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


def rewritten(before: str, after: str) -> list[Piece]:
    """What became of some lines: word by word, or whole where they have too little in common."""
    if not before or not after:
        return words_changed(before, after)
    if len(before) * len(after) <= MOST_COMPARED:
        pieces = words_changed(before, after)
        kept = sum(len(piece.text.strip()) for piece in pieces if piece.kind == "same")
        as_many = before.count("\n") == after.count("\n")
        if kept > ALIKE * (min if as_many else max)(len(before), len(after)):
            return pieces
    return [Piece("removed", before), Piece("same", "\n"), Piece("added", after)]


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


def lines_differing(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int, int, int]]:
    """The stretches `old[a:b]` that became `new[c:d]`, in order; all other lines are the same."""
    least = min(len(old), len(new))
    head = next((i for i in range(least) if old[i] != new[i]), least)
    least -= head
    tail = next((i for i in range(least) if old[-1 - i] != new[-1 - i]), least)
    old, new = old[head : len(old) - tail], new[head : len(new) - tail]
    if not old and not new:
        return []
    if not old or not new or len(old) * len(new) > MOST_LINES_COMPARED:
        return [(head, head + len(old), head, head + len(new))]
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [(head + a, head + b, head + c, head + d) for tag, a, b, c, d in codes if tag != "equal"]


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
