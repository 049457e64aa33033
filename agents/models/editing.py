"""Who writes to memory, and why a write may be refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from .step import Step


class MemoryRefusal(Exception):
    """A change to memory that was not made, and why, in words for whoever asked for it."""


class VersionConflict(MemoryRefusal):
    """A change to a version of a block that somebody has written past."""


class RowDeleted(MemoryRefusal):
    """A change to a block or passage that somebody has deleted."""


class ApprovalNeeded(Exception):
    """A change that waits until a person approves it."""


@dataclass(frozen=True)
class Editor:
    """Who writes to memory: the agent in one of its steps, a person, the admin, a script.

    `approved`: a person has approved what the agent is about to write.
    """

    kind: str
    name: str
    user: User | None = None
    step: Step | None = None
    tool_call_id: str = ""
    approved: bool = False

    AGENT = "agent"
    PERSON = "person"
    ADMIN = "admin"
    API = "api"
    IMPORT = "import"

    @classmethod
    def agent(cls, step: Step, tool_call_id: str, *, approved: bool = False) -> Editor:
        name = step.run.agent.name
        return cls(cls.AGENT, name, step=step, tool_call_id=tool_call_id, approved=approved)

    @classmethod
    def person(cls, user: User, kind: str = PERSON) -> Editor:
        return cls(kind, user.get_username(), user=user)

    @property
    def owner_id(self) -> int | None:
        """On whose behalf: the agent's owner, or the person; None for the admin and an import."""
        if self.step:
            return self.step.run.agent.owner_id
        return self.user.pk if self.user and self.kind in (self.PERSON, self.API) else None


def as_sentence(refusal: str) -> str:
    """What the model is told within a sentence, as one of its own for a person."""
    return f"{refusal[:1].upper()}{refusal[1:]}" + ("" if refusal.endswith(".") else ".")
