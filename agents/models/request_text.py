"""Request text: a text that requests to the model were made of, kept once however often sent."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING
from uuid import UUID

from cachetools import LRUCache
from django.db import connection, models, transaction

from .prepared_sql import key

if TYPE_CHECKING:
    from .agent import Agent

REMEMBERED = 10_000  # texts that this process knows to be stored


class RequestText(models.Model):
    """A system prompt, a template, a summary, tool definitions: what requests repeat.

    A step names the texts of its request by their ids, so that what it adds to the database does
    not grow with them. `sha256` is hexadecimal, of the text in UTF-8.
    """

    agent = models.ForeignKey("Agent", models.CASCADE, related_name="request_texts", db_index=False)
    sha256 = models.CharField(max_length=64)
    text = models.TextField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["agent", "sha256"], name="request_text_is_kept_once"),
        ]

    def __str__(self) -> str:
        return self.sha256

    @classmethod
    def keep(cls, agent: Agent, texts: Iterable[str]) -> list[int]:
        """Store the texts that are not stored yet; the id of each, in order."""
        return [cls._keep(agent, text) for text in texts]

    @classmethod
    def _keep(cls, agent: Agent, text: str) -> int:
        sha256 = sha256_of(text)
        with _lock:
            if stored := _stored.get((agent.pk, sha256)):
                return stored
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO agents_requesttext (agent_id, sha256, text) VALUES (%s, %s, %s)"
                " ON CONFLICT (agent_id, sha256) DO UPDATE SET sha256 = excluded.sha256"
                " RETURNING id",
                (key(agent), sha256, text),
            )
            stored = int(cursor.fetchone()[0])
        transaction.on_commit(partial(_remember, (agent.pk, sha256), stored))
        return stored

    @classmethod
    def texts(cls, agent: Agent, ids: Sequence[int]) -> dict[int, str]:
        """The texts of these ids, of the agent's."""
        return dict(cls.objects.filter(agent=agent, pk__in=ids).values_list("pk", "text"))


def sha256_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


_stored: LRUCache[tuple[UUID, str], int] = LRUCache(REMEMBERED)
_lock = Lock()  # several runs read and write it at once


def _remember(name: tuple[UUID, str], stored: int) -> None:
    with _lock:
        _stored[name] = stored
