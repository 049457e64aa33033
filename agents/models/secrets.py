"""Secrets of an agent: variables of the environment that its custom tools read. They are stored
encrypted, and shown to nobody: only their names are."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, cast

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models, transaction

if TYPE_CHECKING:
    from .agent import Agent

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
MOST, LONGEST = 50, 10_000  # secrets of an agent; characters of each
UNREADABLE = "cannot be read with the present key; enter it anew"


class Secret(NamedTuple):
    """What may be shown of a secret. `is_readable`: it was stored under the present SECRET_KEY."""

    name: str
    is_readable: bool


@cache
def _cipher(key: str) -> Fernet:
    derived = HKDF(hashes.SHA256(), length=32, salt=None, info=b"memoryweb secrets of agents")
    return Fernet(base64.urlsafe_b64encode(derived.derive(key.encode())))


def problem(name: str, value: str) -> str:
    """Why a secret cannot be stored, in a sentence without its value; "" if it can."""
    if not NAME.fullmatch(name):
        return (
            f"'{name[:100]}' is not a name of at most 100 letters, digits and '_' that begins with"
            " no digit."
        )
    if len(value) > LONGEST:
        return f"The secret {name} may have {LONGEST:,} characters at most."
    try:
        value.encode()
    except UnicodeEncodeError:
        return f"The secret {name} holds halves of characters, which cannot be stored."
    return ""


def encrypted(secrets: Mapping[str, str]) -> dict[str, str]:
    """Secrets as they are stored; ValidationError where a name or a value cannot be."""
    if len(secrets) > MOST:
        raise ValidationError({"secrets": f"An agent may have {MOST} secrets at most."})
    for name, value in secrets.items():
        if words := problem(name, value):
            raise ValidationError({"secrets": words})
    cipher = _cipher(settings.SECRET_KEY)
    return {name: cipher.encrypt(value.encode()).decode() for name, value in secrets.items()}


def unreadable(stored: Mapping[str, str], key: str) -> list[str]:
    """The names of secrets that were stored under another key than this."""
    cipher, names = _cipher(key), []
    for name, token in stored.items():
        try:
            cipher.decrypt(token.encode())
        except InvalidToken:
            names.append(name)
    return names


def decrypted(stored: Mapping[str, str]) -> dict[str, str | None]:
    """The secrets; None for those that were stored under another SECRET_KEY."""
    return {name: _read(token) for name, token in stored.items()}


def _read(token: str) -> str | None:
    try:
        return _cipher(settings.SECRET_KEY).decrypt(token.encode()).decode()
    except InvalidToken:
        return None


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

    @transaction.atomic
    def put_secrets(self, secrets: Mapping[str, str]) -> None:
        """Add these, or replace those of the same names; ValidationError where one cannot be, or
        there are too many."""
        agent = cast("Agent", self).locked()
        kept = agent.secrets | encrypted(secrets)
        if len(kept) > MOST:
            raise ValidationError({"secrets": f"An agent may have {MOST} secrets at most."})
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
