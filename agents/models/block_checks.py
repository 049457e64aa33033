"""What a block can be: its value within the limit, its label free, JSON where it is a list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.core.exceptions import ValidationError

from agents.text import json_blocks

from .editing import MemoryRefusal, as_sentence
from .message import NO_TEXT
from .role import owners_edited_for, shared_blocks

if TYPE_CHECKING:
    from .block import Block


def check_value(block: Block, value: str) -> None:
    """MemoryRefusal where the block cannot get this value."""
    if len(value) > block.limit:
        raise MemoryRefusal(over_limit(block, value))
    if bad := NO_TEXT.search(value):
        raise MemoryRefusal(f"A block cannot hold the character {bad[0]!a}; leave it out.")
    if reason := json_blocks.problem(block.kind, block.schema, value):
        raise MemoryRefusal(
            f"Block '{block.label}' holds a JSON {block.kind} and was left as it is: {reason}."
            " Write its whole new value instead."
        )


def clean_block(block: Block) -> None:
    """ValidationError, field by field, where the block cannot be as it is.

    A text has no schema, and an empty value becomes an empty list or object.
    """
    if len(block.value) > block.limit:
        raise ValidationError({"value": as_sentence(over_limit(block, block.value))})
    if bad := NO_TEXT.search(block.value):
        raise ValidationError({"value": f"A block cannot hold the character {bad[0]!a}."})
    if block.kind == block.Kind.TEXT:
        block.schema = None
    elif block.schema is not None and (bad_schema := json_blocks.schema_problem(block.schema)):
        raise ValidationError({"schema": bad_schema})
    block.value = block.value or json_blocks.empty(block.kind)
    if reason := json_blocks.problem(block.kind, block.schema, block.value):
        raise ValidationError({"value": as_sentence(f"the value cannot stay: {reason}")})
    held = () if block._state.adding else block.attachment_set.exclude(label=block.label)
    for attachment in held:
        if attachment.agent.attachments.filter(label=block.label).exists():
            raise ValidationError(
                {"label": f"'{attachment.agent}' already has a block '{block.label}'."}
            )


def over_limit(block: Block, value: str) -> str:
    over = len(value) - block.limit
    return (
        f"block '{block.label}' would be {len(value):,} of {block.limit:,} characters;"
        f" shorten it by {over:,} or move something to another block"
    )


def check_person(block: Block, user_id: int | None, *, settings: bool) -> None:
    """MemoryRefusal where a person, or who acts for them, may not write a block, or not change its
    settings; None is nobody's doing in particular, such as the admin's."""
    if user_id in (None, block.owner_id):
        return
    owner = block.owner.get_username()
    if settings and not may_be_configured_by(block, user_id):
        raise MemoryRefusal(f"Only {owner} can change the settings of block '{block.label}'.")
    if not settings and not may_be_written_by(block, user_id):
        raise MemoryRefusal(
            f"Block '{block.label}' is {owner}'s and was shared to be read only; ask them to change"
            " it, or write to another block."
        )


def may_be_configured_by(block: Block, user_id: int) -> bool:
    """Whether a person may change a block's settings: its owner, or who may edit an agent of its
    owner's that holds it."""
    return block.owner_id == user_id or block.owner_id in owners_edited_for(block.pk, user_id)


def may_be_written_by(block: Block, user_id: int) -> bool:
    """Whether a person, and their agents, may write to a block: its owner, somebody it is shared
    with to write, or who may edit an agent of such a person that holds it."""
    if block.owner_id == user_id or block.pk in shared_blocks(user_id, to_write=True):
        return True
    return any(
        owner == block.owner_id or block.pk in shared_blocks(owner, to_write=True)
        for owner in owners_edited_for(block.pk, user_id)
    )
