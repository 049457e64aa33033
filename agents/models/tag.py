"""AgentTag: a word by which scripts find agents again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

from django.db import models, transaction

from .agent import Agent
from .prepared_sql import keys, values


class AgentTag(models.Model):
    """A tag of an agent; a table of its own, so that many agents are searched as fast as few."""

    agent = models.ForeignKey(Agent, models.CASCADE, related_name="tagged", db_index=False)
    tag = models.CharField(max_length=100)

    class Meta:
        ordering = ["tag"]
        constraints = [
            models.UniqueConstraint(fields=["agent", "tag"], name="agent_is_tagged_once"),
        ]
        indexes = [models.Index(fields=["tag", "agent"], name="agents_of_tag")]

    def __str__(self) -> str:
        return self.tag

    @classmethod
    def of(cls, agents: Sequence[Agent]) -> dict[UUID, list[str]]:
        """The tags of agents, by the agent's key, A to Z."""
        among, pks = keys(agents)
        tags: dict[UUID, list[str]] = {agent.pk: [] for agent in agents}
        rows = values(cls, ("agent_id", "tag"), f"WHERE agent_id IN {among} ORDER BY tag", *pks)
        for pk, tag in rows:
            tags[pk].append(tag)
        return tags

    @classmethod
    @transaction.atomic
    def replace(cls, agent: Agent, tags: Iterable[str]) -> None:
        """Make these the agent's tags, in place of what it had."""
        new = set(tags)
        AgentTag.objects.filter(agent=agent).exclude(tag__in=new).delete()
        AgentTag.objects.bulk_create(
            [AgentTag(agent=agent, tag=tag) for tag in sorted(new)], ignore_conflicts=True
        )
