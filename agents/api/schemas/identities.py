"""Identities, with what a script wants to remember of them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

from .fields import AgentId, BlockId, IdentityId, Ids, Json, State, Text

Required = Annotated[str, StringConstraints(min_length=1, max_length=200)]
IdentityType = Literal["org", "user", "other"]


class Property(BaseModel):
    """Something a script wants to remember of an identity."""

    key: Required
    value: bool | int | float | Text | Json
    type: Literal["string", "number", "boolean", "json"]


Properties = Annotated[list[Property], Field(max_length=200)]


class IdentityLinks(BaseModel):
    """Agents, blocks and properties; a change adds them to those that the identity has."""

    agent_ids: Ids | None = None
    block_ids: Ids | None = None
    properties: Properties | None = None


class IdentityChange(IdentityLinks):
    """What to change of an identity."""

    identifier_key: Required | None = None
    name: Required | None = None
    identity_type: IdentityType | None = None


class NewIdentity(IdentityLinks):
    """An identity to create, with a key that the script chooses."""

    identifier_key: Required
    name: Required
    identity_type: IdentityType


class IdentityState(State):
    """Someone a script knows of."""

    id: IdentityId
    identifier_key: str
    name: str
    identity_type: IdentityType
    project_id: str | None = None
    agent_ids: list[AgentId] = []
    block_ids: list[BlockId] = []
    properties: list[Json]
