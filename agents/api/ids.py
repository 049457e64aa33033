"""Ids as the wire has them: a noun, a dash, a UUID.

What has a UUID for a key keeps it. A row whose key is an integer gets a UUID made from it, from
which the key can be read again: `message-00000003-0000-4000-8000-000000000007` is part 3 of the
message 7. A built-in tool, which has no row, is known by a UUID made of its name.
"""

from __future__ import annotations

import re
from uuid import NAMESPACE_URL, UUID, uuid5

from .errors import not_found

MOST = 2**48 - 1  # the largest key there is room for
NUMBERED = re.compile(r"([0-9a-f]{8})-0000-4000-8000-([0-9a-f]{12})")


def named(noun: str, key: UUID) -> str:
    """`agent-…` of a UUID."""
    return f"{noun}-{key}"


def numbered(noun: str, key: int, part: int = 0) -> str:
    """`message-…` of an integer."""
    return f"{noun}-{part:08x}-0000-4000-8000-{key:012x}"


def uuid_of(noun: str, text: str) -> UUID:
    """The key of an `agent-…`, or of a bare UUID; 404 where it is none."""
    if key := known(noun, text):
        return key
    raise not_found(noun, text)


def known(noun: str, text: str) -> UUID | None:
    """The same; None where it is none."""
    try:
        return UUID(text.removeprefix(f"{noun}-"))
    except ValueError:
        return None


def key_of(noun: str, text: str) -> int:
    """The integer in a `run-…`; 404 where there is none."""
    return part_of(noun, text)[0]


def part_of(noun: str, text: str) -> tuple[int, int]:
    """The integer in a `message-…`, and which part of the row it names; 404 where it is none."""
    found = NUMBERED.fullmatch(text.removeprefix(f"{noun}-"))
    if not found:
        raise not_found(noun, text)
    return int(found[2], 16), int(found[1], 16)


def system_message(agent: UUID) -> str:
    """The id of an agent's system message, which has no row either."""
    return named("message", uuid5(agent, "system"))


def built_in(name: str) -> UUID:
    """The UUID that a tool without a row is known by."""
    return uuid5(NAMESPACE_URL, f"memoryweb:tool:{name}")
