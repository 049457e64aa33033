"""Embedding: a vector for each passage and message, and the model that made it.

Vectors are derived data: `agents.search.embedder` makes those that are missing or another model's.
"""

from __future__ import annotations

from django.db import models

from .agent import Agent
from .message import Message
from .passage import Passage


class EmbeddingModel(models.Model):
    """A model whose vectors are stored, with their length."""

    name = models.CharField(max_length=200)
    dimensions = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["name", "dimensions"], name="embedding_model_is_unique")
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.dimensions})"


class Vector(models.Model):
    """A row's vector, of length 1; none where the model refused its text, or it has none.

    Float32 in a BLOB; on Postgres with pgvector the column is a `halfvec`, which only
    `agents.search.pgvector` reads and writes. A changed vector is a new row, so keys tell what came
    since.
    """

    agent = models.ForeignKey(Agent, models.CASCADE, db_index=False, related_name="+")
    model = models.ForeignKey(EmbeddingModel, models.CASCADE, db_index=False, related_name="+")
    vector = models.BinaryField(null=True)

    class Meta:
        abstract = True
        indexes = [models.Index(fields=["agent", "model", "id"], name="%(class)s_of_agent")]


class PassageVector(Vector):
    """A passage's vector."""

    of = models.OneToOneField(Passage, models.CASCADE, related_name="embedded")

    def __str__(self) -> str:
        return f"Vector of passage {self.of_id}"


class MessageVector(Vector):
    """A message's vector."""

    of = models.OneToOneField(Message, models.CASCADE, related_name="embedded")

    def __str__(self) -> str:
        return f"Vector of message {self.of_id}"
