"""What a person has is handed over to another one, before their account is disabled or deleted."""

from __future__ import annotations

from io import StringIO
from itertools import pairwise
from token import NAME
from tokenize import generate_tokens
from typing import NamedTuple

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from agents.live import publisher
from agents.models import Agent, AgentShare, AuditEntry, Block, BlockShare, Identity, Tool
from agents.tools import attaching


class HandedOver(NamedTuple):
    """How many of each; `agents` also counts deleted ones that can still be brought back."""

    agents: int
    blocks: int
    tools: int


@transaction.atomic
def hand_over(person: User, to: User) -> HandedOver:
    """Give all agents, blocks, tools and identities of a person to another one.

    What is named as something of the other person's gets another name. A block of a third person
    that the agents hold is shared with their new owner. ValidationError where that cannot be.
    """
    if to.pk == person.pk:
        raise ValidationError(_("Choose somebody else: these agents are theirs already."))
    if not to.is_active:
        words = _("%(person)s's account is disabled; choose another one.")
        raise ValidationError(words % {"person": to.get_username()})
    for each in sorted((person, to), key=lambda user: user.pk):
        attaching.lock_tools_of(each)
    rename_tools(person, to)
    rename_identities(person, to)
    blocks = Block.objects.filter(owner=person).order_by("pk")
    list(blocks.select_for_update().values_list("pk"))  # before the agents, as everybody does
    agents = Agent.objects.filter(owner=person).order_by("pk")
    keys = list(agents.select_for_update().values_list("pk", flat=True))
    counts = HandedOver(agents=len(keys), blocks=blocks.count(), tools=person.tools.count())
    pass_on_shares(person, to)
    for kind in (Agent, Block, Tool, Identity):
        kind._base_manager.filter(owner=person).update(owner=to)  # temporary chats as well
    done = AuditEntry.Action.HANDED_OVER
    AuditEntry.record(done, person, person=to, to=to.get_username(), **counts._asdict())
    for key in keys:  # pages that show one look whose it is
        transaction.on_commit(lambda key=key: publisher.publish_deleted(key), robust=True)  # type: ignore[misc]
    return counts


def rename_tools(person: User, to: User) -> None:
    """Give tools another name that the other person has a tool of."""
    taken = set(to.tools.values_list("name", flat=True))
    for tool in person.tools.filter(name__in=taken):
        used = taken | set(person.tools.values_list("name", flat=True))
        name = free_name(tool.name, used)
        source = renamed(tool.source, tool.name, name)
        attaching.rewrite(tool, tool.updated_at, name=name, source=source)


def renamed(source: str, old: str, new: str) -> str:
    """A source in which a function has another name, also where it is called."""
    lines = source.splitlines(keepends=True)
    tokens = list(generate_tokens(StringIO(source).readline))
    for before, token in reversed(list(pairwise(tokens))):
        if token.type == NAME and token.string == old and before.string != ".":
            row, column = token.start
            line = lines[row - 1]
            lines[row - 1] = line[:column] + new + line[column + len(old) :]
    return "".join(lines)


def free_name(name: str, used: set[str]) -> str:
    number = 2
    while f"{name[:60]}_{number}" in used:
        number += 1
    return f"{name[:60]}_{number}"


def rename_identities(person: User, to: User) -> None:
    """Give identities another key that the other person has an identity of."""
    taken = set(to.identities.values_list("identifier_key", flat=True))
    for identity in person.identities.filter(identifier_key__in=taken):
        used = taken | set(person.identities.values_list("identifier_key", flat=True))
        number = 2
        while (key := f"{identity.identifier_key[:190]}_{number}") in used:
            number += 1
        Identity.objects.filter(pk=identity.pk).update(identifier_key=key)


def pass_on_shares(person: User, to: User) -> None:
    """What was shared with a person is shared with the other one, unless it is theirs."""
    BlockShare.objects.filter(block__owner=person, user=to).delete()
    for share in BlockShare.objects.filter(user=person).exclude(block__owner=to):
        passed, _ = BlockShare.objects.get_or_create(
            block_id=share.block_id, user=to, defaults={"can_write": share.can_write}
        )
        if share.can_write and not passed.can_write:
            BlockShare.objects.filter(pk=passed.pk).update(can_write=True)
    BlockShare.objects.filter(user=person).delete()
    AgentShare.objects.filter(agent__owner=person, user=to).delete()
    for shared in AgentShare.objects.filter(user=person).exclude(agent__owner=to):
        given, _ = AgentShare.objects.get_or_create(
            agent_id=shared.agent_id, user=to, defaults={"role": shared.role}
        )
        if shared.role > given.role:
            AgentShare.objects.filter(pk=given.pk).update(role=shared.role)
    AgentShare.objects.filter(user=person).delete()
