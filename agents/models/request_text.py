"""Part: a text that requests to the model were made of, kept once however often it was sent."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterable
from typing import TYPE_CHECKING
from uuid import UUID

from django.db import connection, models, transaction

from .prepared_sql import key

if TYPE_CHECKING:
    from .agent import Agent

REMEMBERED = 10_000  # parts this process knows to be stored


class Part(models.Model):
    """A system prompt, a compiled core memory, a summary, tool definitions: what requests repeat.

    A request names its parts by SHA-256 (hexadecimal, of the text in UTF-8), so what a step adds to
    the database does not grow with the history.
    """

    agent = models.ForeignKey("Agent", models.CASCADE, related_name="parts")
    sha256 = models.CharField(max_length=64)
    text = models.TextField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["agent", "sha256"], name="part_is_kept_once"),
        ]

    def __str__(self) -> str:
        return self.sha256

    @classmethod
    def keep(cls, agent: Agent, texts: Iterable[str]) -> list[str]:
        """Store what is not stored yet; the SHA-256 of each text, in order."""
        by_name = {sha256_of(text): text for text in texts}
        new = [name for name in by_name if (agent.pk, name) not in _stored]
        if new:
            with connection.cursor() as cursor:
                cursor.executemany(
                    "INSERT INTO agents_part (agent_id, sha256, text) VALUES (%s, %s, %s)"
                    " ON CONFLICT DO NOTHING",
                    [(key(agent), name, by_name[name]) for name in new],
                )
            transaction.on_commit(lambda: _remember(agent.pk, new))
        return list(by_name)

    @classmethod
    def texts(cls, agent: Agent, names: Iterable[str]) -> dict[str, str]:
        """The texts of these names."""
        return dict(cls.objects.filter(agent=agent, sha256__in=names).values_list("sha256", "text"))


def sha256_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


_stored: OrderedDict[tuple[UUID, str], None] = OrderedDict()


def _remember(agent_id: UUID, names: list[str]) -> None:
    for name in names:
        _stored[agent_id, name] = None
    while len(_stored) > REMEMBERED:
        _stored.popitem(last=False)
