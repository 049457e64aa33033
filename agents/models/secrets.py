"""Secrets of an agent: variables of the environment that its custom tools read. They are stored
encrypted, and shown to nobody: only their names are."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from functools import cache

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.core.exceptions import ValidationError

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
MOST, LONGEST = 50, 10_000  # secrets of an agent; characters of each


@cache
def _cipher(key: str) -> Fernet:
    derived = HKDF(hashes.SHA256(), length=32, salt=None, info=b"memoryweb secrets of agents")
    return Fernet(base64.urlsafe_b64encode(derived.derive(key.encode())))


def encrypted(secrets: Mapping[str, str]) -> dict[str, str]:
    """Secrets as they are stored; ValidationError where a name or a value cannot be."""
    if len(secrets) > MOST:
        raise ValidationError({"secrets": f"An agent may have {MOST} secrets at most."})
    for name, value in secrets.items():
        if not NAME.fullmatch(name):
            words = "is not a name of letters, digits and '_' that begins with no digit."
            raise ValidationError({"secrets": f"'{name[:100]}' {words}"})
        if len(value) > LONGEST:
            words = f"The secret {name} may have {LONGEST:,} characters at most."
            raise ValidationError({"secrets": words})
    cipher = _cipher(settings.SECRET_KEY)
    return {name: cipher.encrypt(value.encode()).decode() for name, value in secrets.items()}


def decrypted(stored: Mapping[str, str]) -> dict[str, str]:
    """The secrets; without those that were stored under another SECRET_KEY."""
    cipher, found = _cipher(settings.SECRET_KEY), {}
    for name, token in stored.items():
        try:
            found[name] = cipher.decrypt(token.encode()).decode()
        except InvalidToken:
            continue
    return found
