"""Groups of people, which agents and blocks are shared with."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import Group, User

from agents.models.share import take_back_from


def groups_changed(
    instance: User | Group, action: str, pk_set: set[int] | None, **signal: Any
) -> None:
    """Take back from people who left a group what was shared with it, and show those who came what
    is."""
    if action == "pre_clear":
        instance.leaving = members(instance)  # type: ignore[union-attr]
    if action not in ("post_add", "post_remove", "post_clear"):
        return
    if isinstance(instance, User):
        people = [instance]
    elif action == "post_clear":
        people = instance.leaving  # type: ignore[attr-defined]
    else:
        people = list(User.objects.filter(pk__in=pk_set or []))
    for user in people:
        take_back_from(user)


def members(whose: User | Group) -> list[User]:
    """The people of a group; of a person, just them."""
    return [whose] if isinstance(whose, User) else list(User.objects.filter(groups=whose))


def group_ends(instance: Group, **signal: Any) -> None:
    """Let everybody leave a group that is deleted, and with it what was shared with it."""
    for shared_block in instance.blockshares.all():
        shared_block.stop()
    for shared_agent in instance.agentshares.all():
        shared_agent.stop()
