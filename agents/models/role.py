"""Role: how much a person may do with an agent or a block, and which ones are shared with them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from django.conf import settings
from django.db import connection, models
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

GROUPS = "SELECT group_id FROM auth_user_groups WHERE user_id = %s"
WITH = f"(user_id = %s OR group_id IN ({GROUPS}))"
EDITABLE = (  # the owners of the agents that hold a block and are shared with somebody to edit
    "SELECT a.owner_id FROM agents_attachment h JOIN agents_agent a ON a.id = h.agent_id"
    " JOIN agents_agentshare s ON s.agent_id = a.id"
    f" WHERE h.block_id = %s AND a.deleted_at IS NULL AND s.role >= %s AND {WITH}"
)


class Role(models.IntegerChoices):
    """What somebody may do; each may also do what those above it may."""

    VIEWER = 1, _("may look")
    CHATTER = 2, _("may talk")
    EDITOR = 3, _("may edit")
    OWNER = 4, _("owns it")


SHARED_ROLES = [choice for choice in Role.choices if choice[0] != Role.OWNER]


def shared_agents(user: User | AnonymousUser, role: Role = Role.VIEWER) -> list[UUID]:
    """The keys of the agents that other people share with a person, in that role or a higher one;
    also of those that their owner has deleted."""
    if not settings.ACCOUNTS or user.pk is None or role == Role.OWNER:
        return []
    sql = f"SELECT agent_id FROM agents_agentshare WHERE role >= %s AND {WITH}"
    with connection.cursor() as cursor:
        cursor.execute(sql, [role, user.pk, user.pk])
        return [UUID(str(pk)) for (pk,) in cursor.fetchall()]


def visible(
    user: User | AnonymousUser, role: Role = Role.VIEWER, agent: str = "agent__"
) -> models.Q:
    """Which rows belong to agents of the person's own, or shared with them in that role, that are
    neither deleted nor temporary chats. `agent` is the way from the row to its agent, `""` for
    agents themselves."""
    own = models.Q(**{f"{agent}owner_id": user.pk})
    if shared := shared_agents(user, role):
        own |= models.Q(**{f"{agent}pk__in": shared})
    lasting = {f"{agent}deleted_at": None, f"{agent}temporary_for": None}
    return own & models.Q(**lasting)


def role_in(agent_id: UUID, user: User | AnonymousUser) -> Role | None:
    """The highest role in which an agent is shared with a person; None where it is not."""
    if not settings.ACCOUNTS or user.pk is None:
        return None
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT MAX(role) FROM agents_agentshare WHERE agent_id = %s AND {WITH}",
            [as_stored(agent_id), user.pk, user.pk],
        )
        (found,) = cursor.fetchone()
    return Role(found) if found else None


def shared_blocks(user_id: int, *, to_write: bool = False) -> list[UUID]:
    """The keys of the blocks that other people share with a person, or only those to write."""
    among = f"{WITH} AND can_write" if to_write else WITH
    sql = f"SELECT block_id FROM agents_blockshare WHERE {among}"
    with connection.cursor() as cursor:
        cursor.execute(sql, [user_id, user_id])
        return [UUID(str(pk)) for (pk,) in cursor.fetchall()]


def owners_edited_for(block_id: UUID, user_id: int) -> set[int]:
    """The owners of those agents that hold a block and that a person may edit."""
    with connection.cursor() as cursor:
        cursor.execute(EDITABLE, [as_stored(block_id), Role.EDITOR, user_id, user_id])
        return {owner for (owner,) in cursor.fetchall()}


def as_stored(pk: UUID) -> UUID | str:
    """A key as the database has it."""
    return pk if connection.features.has_native_uuid_field else pk.hex
