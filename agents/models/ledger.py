"""Values of blocks at versions, read off their ledgers."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Q

from .block import Block
from .block_edit import BlockEdit


def values_of(versions: Iterable[tuple[str, int]]) -> dict[tuple[str, int], str]:
    """The values of blocks at versions, as `(id, version)` → value.

    A value is in the edit that left it, in the first edit after it where no ledger reaches back
    further, or still in the block.
    """
    versions = set(versions)
    blocks = {block for block, _ in versions}
    edits = Q(first_value__isnull=False, block_id__in=blocks)
    for block, version in versions:
        edits |= Q(block_id=block, version=version)
    values = {
        (str(pk), version): value
        for pk, version, value in Block.objects.filter(pk__in=blocks).values_list(
            "pk", "version", "value"
        )
    }
    for edit in BlockEdit.plain.filter(edits):
        values[str(edit.block_id), edit.version] = edit.after
        if edit.first_value is not None:
            values[str(edit.block_id), edit.version - 1] = edit.first_value
    return values
