"""Values of blocks at versions, read off their ledgers."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Q

from .block import Block
from .block_edit import BlockEdit


def values_of(versions: Iterable[tuple[str, int]]) -> dict[tuple[str, int], str]:
    """The values of blocks at versions, as `(id, version)` → value.

    Version 0 is what a block began with: what its first edit found, or what it still holds.
    """
    versions = set(versions)
    values: dict[tuple[str, int], str] = {}
    first = [block for block, version in versions if version == 0]
    wanted = Q(pk__in=[])
    for block, version in versions:
        if version:
            wanted |= Q(block_id=block, version=version)
    for edit in BlockEdit.plain.filter(wanted):
        values[str(edit.block_id), edit.version] = edit.after
    for unwritten in Block.objects.filter(pk__in=first, version=0):
        values[str(unwritten.pk), 0] = unwritten.value
    for edit in BlockEdit.plain.filter(block_id__in=first, version=1):
        values[str(edit.block_id), 0] = edit.before
    return values
