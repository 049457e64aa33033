"""How many bytes people's and agents' rows take, and the refusal where a quota allows no more."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import NamedTuple
from uuid import UUID

from django.contrib.auth.models import User
from django.core.cache import caches
from django.db import connection
from django.utils.translation import gettext

from agents.text.numbers import decimal, whole
from agents.text.stored import stored as _

from .editing import MemoryRefusal
from .limits import MEGABYTE, LimitReached
from .quota import Allowance, allowances_of

KNOWN_SECONDS = 300  # a person's size is added up at most so often
RETRY_SECONDS = 30  # and so often where it is too much: they may be deleting
WAIT_SECONDS = 3600  # that a script is told to wait: only deleting helps

# Tables with an agent, and their texts.
OF_AGENTS = {
    "agents_message": ("content", "reasoning", "tool_calls"),
    "agents_passage": ("text",),
    "agents_requesttext": ("text",),
}


class StorageFull(LimitReached, MemoryRefusal):
    """Something was not stored, as it is more than a quota allows."""


class Known(NamedTuple):
    """A person's size in bytes, and when it was added up (seconds)."""

    size: int
    at: float


def agent_sizes(owner_id: int | None = None) -> dict[UUID, int]:
    """The bytes of each agent's messages, images, passages and requests; of one person's agents,
    or of all. Looks through all of these rows."""
    sizes: dict[UUID, int] = {}
    parts = [(table, " + ".join(map(_bytes, fields))) for table, fields in OF_AGENTS.items()]
    for table, expression in [*parts, ("agents_image", "r.size")]:
        whose = "" if owner_id is None else " WHERE a.owner_id = %s"
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT r.agent_id, SUM({expression}) FROM {table} r"
                f" JOIN agents_agent a ON a.id = r.agent_id{whose} GROUP BY r.agent_id",
                [] if owner_id is None else [owner_id],
            )
            for agent_id, size in cursor.fetchall():
                key = UUID(str(agent_id))
                sizes[key] = sizes.get(key, 0) + int(size)
    return sizes


def stored_by(user_id: int) -> int:
    """The bytes of all that is a person's."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT COALESCE(SUM({_bytes('value')}), 0) FROM agents_block r WHERE owner_id = %s",
            [user_id],
        )
        blocks = int(cursor.fetchone()[0])
    return blocks + sum(agent_sizes(user_id).values())


def known_bytes(user_id: int, seconds: float = KNOWN_SECONDS) -> int:
    """The same, as it was up to so many seconds ago."""
    found: Known | None = caches["default"].get(_key(user_id))
    if found is None or time.time() - found.at > seconds:
        found = Known(stored_by(user_id), time.time())
        caches["default"].set(_key(user_id), found, KNOWN_SECONDS)
    return found.size


FULL = _(
    "Your agents take %(size)s MB; at most %(most)s MB may be stored. Delete agents, conversations"
    " or passages that are no longer needed, then try again."
)
FULL_OF_GROUP = _(
    "The agents of the group %(group)s take %(size)s MB; at most %(most)s MB may be stored. Delete"
    " agents, conversations or passages that are no longer needed, then try again."
)


def check_storage(owner_id: int, more: int = 1) -> None:
    """StorageFull where so many more bytes are too many for a person, or for a group of theirs.

    A fork, whose size nobody knows before, is refused where there is no room at all.
    """
    limited = [each for each in allowances_of(owner_id) if each.limits.storage is not None]
    for each in limited:
        people = members(each)
        most = (each.limits.storage or 0) * MEGABYTE
        if sum(map(known_bytes, people)) + more <= most:
            continue
        size = sum(known_bytes(person, RETRY_SECONDS) for person in people)
        if size + more > most:
            raise StorageFull(refusal(each, size), WAIT_SECONDS)
    if limited:
        count(owner_id, more)


def refusal(allowance: Allowance, size: int) -> str:
    """Why nothing more is stored, and what to do."""
    most = whole(allowance.limits.storage or 0)
    values = {"group": allowance.group, "size": decimal(size / MEGABYTE), "most": most}
    return gettext(FULL_OF_GROUP if allowance.group else FULL) % values


def members(allowance: Allowance) -> Collection[int]:
    """Whose bytes count together."""
    if allowance.group_id is None:
        return [allowance.user_id]
    return User.objects.filter(groups=allowance.group_id).values_list("pk", flat=True)


def count(user_id: int, more: int) -> None:
    """Add what is being stored to what is known."""
    if found := caches["default"].get(_key(user_id)):
        caches["default"].set(_key(user_id), found._replace(size=found.size + more), KNOWN_SECONDS)


def _key(user_id: int) -> str:
    return f"stored.{user_id}"


def _bytes(column: str) -> str:
    """SQL for the bytes of a column of the row `r`."""
    if connection.vendor == "postgresql":
        return f"octet_length(CAST(r.{column} AS text))"
    return f"length(CAST(r.{column} AS BLOB))"
