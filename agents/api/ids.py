"""Ids in the SDKs' form: a noun, a dash, a UUID.

A row with a UUID as its key keeps it. An integer key is written as a UUID from which it can be read
back: `message-00000003-0000-4000-8000-000000000007` is part 3 of message 7. A built-in tool has no
row; its UUID is made from its name.
"""

from __future__ import annotations

import re
from uuid import NAMESPACE_URL, UUID, uuid5

from .errors import not_found

MOST = 2**48 - 1  # the largest integer key that an id has room for
NUMBERED = re.compile(r"([0-9a-f]{8})-0000-4000-8000-([0-9a-f]{12})")


def named(noun: str, key: UUID) -> str:
    """`agent-…` of a UUID."""
    return f"{noun}-{key}"


def numbered(noun: str, key: int, part: int = 0) -> str:
    """`message-…` of an integer."""
    return f"{noun}-{part:08x}-0000-4000-8000-{key:012x}"


def uuid_of(noun: str, text: str) -> UUID:
    """The UUID in an `agent-…`, or a bare UUID; 404 for anything else."""
    if key := known(noun, text):
        return key
    raise not_found(noun, text)


def known(noun: str, text: str) -> UUID | None:
    """The same; None for anything else."""
    try:
        return UUID(text.removeprefix(f"{noun}-"))
    except ValueError:
        return None


def key_of(noun: str, text: str) -> int:
    """The integer in a `run-…`; 404 for anything else."""
    return part_of(noun, text)[0]


def part_of(noun: str, text: str) -> tuple[int, int]:
    """The integer in a `message-…`, and which part of the row it is; 404 for anything else."""
    match = NUMBERED.fullmatch(text.removeprefix(f"{noun}-"))
    if not match:
        raise not_found(noun, text)
    return int(match[2], 16), int(match[1], 16)


def system_message(agent: UUID) -> str:
    """The id of an agent's system message, which has no row."""
    return named("message", uuid5(agent, "system"))


def built_in(name: str) -> UUID:
    """The UUID of a built-in tool."""
    return uuid5(NAMESPACE_URL, f"memoryweb:tool:{name}")
