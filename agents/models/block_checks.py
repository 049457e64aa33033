"""What a block can be: its value within the limit, its label free, JSON where it is a list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.core.exceptions import ValidationError
from django.utils.translation import gettext

from agents.text import json_blocks
from agents.text.numbers import whole

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
        words = gettext("A block cannot hold the character %(character)s; leave it out.")
        raise MemoryRefusal(words % {"character": ascii(bad[0])})
    if reason := json_blocks.problem(block.kind, block.schema, value):
        raise MemoryRefusal(
            gettext(
                "Block '%(label)s' holds a JSON %(kind)s and was left as it is: %(reason)s."
                " Write its whole new value instead."
            )
            % {"label": block.label, "kind": block.kind, "reason": reason}
        )


def check_earlier(block: Block, version: int, value: str) -> None:
    """MemoryRefusal where the value of an earlier version is too long by now."""
    if len(value) > block.limit:
        words = gettext(
            "Version %(version)s of block '%(label)s' has %(count)s characters and the limit is now"
            " %(limit)s; raise the limit in the block's settings, or copy from it what you need."
        )
        counts = {"count": whole(len(value)), "limit": whole(block.limit)}
        raise MemoryRefusal(words % {"version": version, "label": block.label, **counts})


def check_agent_may_write(block: Block) -> None:
    """MemoryRefusal where only people may."""
    if block.read_only:
        words = gettext(
            "Block '%(label)s' is read-only; tell the person what should change, or write it to"
            " another block."
        )
        raise MemoryRefusal(words % {"label": block.label})


def clean_block(block: Block) -> None:
    """ValidationError, field by field, where the block cannot be as it is.

    A text has no schema, and an empty value becomes an empty list or object.
    """
    if len(block.value) > block.limit:
        raise ValidationError({"value": as_sentence(over_limit(block, block.value))})
    if bad := NO_TEXT.search(block.value):
        words = gettext("A block cannot hold the character %(character)s.")
        raise ValidationError({"value": words % {"character": ascii(bad[0])}})
    if block.kind == block.Kind.TEXT:
        block.schema = None
    elif block.schema is not None and (bad_schema := json_blocks.schema_problem(block.schema)):
        raise ValidationError({"schema": bad_schema})
    block.value = block.value or json_blocks.empty(block.kind)
    if reason := json_blocks.problem(block.kind, block.schema, block.value):
        words = gettext("the value cannot stay: %(reason)s") % {"reason": reason}
        raise ValidationError({"value": as_sentence(words)})
    held = () if block._state.adding else block.attachment_set.exclude(label=block.label)
    for attachment in held:
        if attachment.agent.attachments.filter(label=block.label).exists():
            words = gettext("'%(agent)s' already has a block '%(label)s'.")
            names = {"agent": attachment.agent, "label": block.label}
            raise ValidationError({"label": words % names})


def over_limit(block: Block, value: str) -> str:
    over = len(value) - block.limit
    words = gettext(
        "block '%(label)s' would be %(count)s of %(limit)s characters; shorten it by %(over)s or"
        " move something to another block"
    )
    counts = {"count": whole(len(value)), "limit": whole(block.limit), "over": whole(over)}
    return words % {"label": block.label, **counts}


def check_person(block: Block, user_id: int | None, *, settings: bool) -> None:
    """MemoryRefusal where a person, or who acts for them, may not write a block, or not change its
    settings; None is nobody's doing in particular, such as the admin's."""
    if user_id in (None, block.owner_id):
        return
    owner = block.owner.get_username()
    if settings and not may_be_configured_by(block, user_id):
        words = gettext("Only %(owner)s can change the settings of block '%(label)s'.")
        raise MemoryRefusal(words % {"owner": owner, "label": block.label})
    if not settings and not may_be_written_by(block, user_id):
        raise MemoryRefusal(
            gettext(
                "Block '%(label)s' is %(owner)s's and was shared to be read only; ask them to"
                " change it, or write to another block."
            )
            % {"label": block.label, "owner": owner}
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
