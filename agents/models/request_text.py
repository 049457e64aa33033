"""Request text: a text that requests to the model were made of, kept once however often sent."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING
from uuid import UUID

from cachetools import TTLCache
from django.db import connection, models, transaction

from .prepared_sql import key

if TYPE_CHECKING:
    from .agent import Agent

REMEMBERED = 10_000  # texts that this process knows to be stored
BATCH = 500  # texts that are deleted at once
REMEMBERED_SECONDS = 3600.0  # shorter than a text that nobody uses is kept

NAMED = {
    "sqlite": "SELECT DISTINCT named.value FROM agents_step s JOIN agents_run r ON r.id = s.run_id,"
    " json_each(s.request, '$.texts') named WHERE r.agent_id = %s",
    "postgresql": "SELECT DISTINCT named.value FROM agents_step s JOIN agents_run r"
    " ON r.id = s.run_id, jsonb_each_text(s.request->'texts') named WHERE r.agent_id = %s",
}


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

    @classmethod
    @transaction.atomic
    def prune(cls, agent_id: UUID) -> int:
        """Delete a batch of the agent's texts that no step names; how many those were.

        No process remembers them, so a step that shall name one stores it anew: it waits for the
        lock taken here, or is waited for and then seen.
        """
        texts = cls.objects.filter(agent=agent_id).values_list("pk", flat=True)
        unused = sorted(set(texts) - named_texts(agent_id))[:BATCH]
        locked = set(texts.filter(pk__in=unused).select_for_update()) if unused else set()
        unnamed = locked - named_texts(agent_id) if locked else locked
        return cls.objects.filter(pk__in=unnamed).delete()[0]


def named_texts(agent_id: UUID) -> set[int]:
    """The texts that the requests of an agent's steps were made of."""
    agent = RequestText._meta.get_field("agent").get_db_prep_value(agent_id, connection)
    with connection.cursor() as cursor:
        cursor.execute(NAMED[connection.vendor], [agent])
        return {int(pk) for (pk,) in cursor.fetchall()}


def sha256_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


_stored: TTLCache[tuple[UUID, str], int] = TTLCache(REMEMBERED, REMEMBERED_SECONDS)
_lock = Lock()  # several runs read and write it at once


def _remember(name: tuple[UUID, str], stored: int) -> None:
    with _lock:
        _stored[name] = stored
