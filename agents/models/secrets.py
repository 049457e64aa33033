"""Secrets of an agent: variables of the environment that its custom tools read. They are stored
encrypted, and shown to nobody: only their names are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, cast

from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.utils.translation import gettext, ngettext

from agents.text.numbers import whole

from .audit import AuditEntry
from .encryption import SECRETS

if TYPE_CHECKING:
    from .agent import Agent

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
MOST, LONGEST = 50, 10_000  # secrets of an agent; characters of each
UNREADABLE = "cannot be read with the present key; enter it anew"  # to scripts and tools


class Secret(NamedTuple):
    """What may be shown of a secret. `is_readable`: it was stored under a key that is here."""

    name: str
    is_readable: bool


def problem(name: str, value: str) -> str:
    """Why a secret cannot be stored, in a sentence without its value; "" if it can."""
    if not NAME.fullmatch(name):
        words = gettext(
            "'%(name)s' is not a name of at most 100 letters, digits and '_' that begins with no"
            " digit."
        )
        return words % {"name": name[:100]}
    if len(value) > LONGEST:
        words = gettext("The secret %(name)s may have %(most)s characters at most.")
        return words % {"name": name, "most": whole(LONGEST)}
    try:
        value.encode()
    except UnicodeEncodeError:
        words = gettext("The secret %(name)s holds halves of characters, which cannot be stored.")
        return words % {"name": name}
    return ""


def encrypted(secrets: Mapping[str, str]) -> dict[str, str]:
    """Secrets as they are stored; ValidationError where a name or a value cannot be."""
    if len(secrets) > MOST:
        raise ValidationError({"secrets": too_many()})
    for name, value in secrets.items():
        if words := problem(name, value):
            raise ValidationError({"secrets": words})
    return {name: SECRETS.encrypt(value) for name, value in secrets.items()}


def too_many() -> str:
    """The sentence that says so."""
    words = ngettext(
        "An agent may have %(most)s secret at most.",
        "An agent may have %(most)s secrets at most.",
        MOST,
    )
    return words % {"most": MOST}


def decrypted(stored: Mapping[str, str]) -> dict[str, str | None]:
    """The secrets; None for those that were stored under a key that is not here."""
    return {name: SECRETS.decrypt(token) for name, token in stored.items()}


class WithSecrets(models.Model):
    """The secrets of an agent, and how they are changed one by one."""

    secrets = models.JSONField(
        default=dict, editable=False, help_text="Encrypted, by name; see secrets.py."
    )

    class Meta:
        abstract = True

    def shown_secrets(self) -> list[Secret]:
        """What may be shown of its secrets, by name."""
        found = decrypted(self.secrets)
        return [Secret(name, found[name] is not None) for name in sorted(found)]

    def audit_secrets(self, before: Mapping[str, str], after: Mapping[str, str]) -> None:
        """Note the names of the secrets that are stored and deleted."""
        put = [name for name, token in after.items() if before.get(name) != token]
        gone = [name for name in before if name not in after]
        if put:
            AuditEntry.record(AuditEntry.Action.SECRETS_PUT, self, names=sorted(put))
        if gone:
            AuditEntry.record(AuditEntry.Action.SECRETS_DELETED, self, names=sorted(gone))

    @transaction.atomic
    def put_secrets(self, secrets: Mapping[str, str]) -> None:
        """Add these, or replace those of the same names; ValidationError where one cannot be, or
        there are too many."""
        agent = cast("Agent", self).locked()
        kept = agent.secrets | encrypted(secrets)
        if len(kept) > MOST:
            raise ValidationError({"secrets": too_many()})
        agent.configure(secrets=kept)
        self.secrets = kept

    @transaction.atomic
    def delete_secret(self, name: str) -> None:
        """Delete the secret of that name, if there is one."""
        agent = cast("Agent", self).locked()
        kept = {each: token for each, token in agent.secrets.items() if each != name}
        if kept != agent.secrets:
            agent.configure(secrets=kept)
        self.secrets = kept
