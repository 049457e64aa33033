"""Encryption at rest: the one place where secrets are encrypted, under keys made of SECRET_KEY.

What was encrypted under one of SECRET_KEY_FALLBACKS can still be read; `manage.py rotate_keys`
encrypts it anew, after which that key is needed no more.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from enum import Enum
from functools import cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext, ngettext

from agents.text.numbers import whole

LONGEST_KEY = 5_000  # characters of an endpoint's key


class Under(Enum):
    """Which key a token was made under."""

    PRESENT = "SECRET_KEY"
    OLDER = "one of SECRET_KEY_FALLBACKS"
    UNKNOWN = "a key that is not here"


@dataclass(frozen=True)
class Cipher:
    """Makes tokens of texts for one purpose, which has keys of its own."""

    purpose: str

    def encrypt(self, text: str) -> str:
        return self._fernets().encrypt(text.encode()).decode()

    def decrypt(self, token: str) -> str | None:
        """The text; None where the token was made under a key that is not here."""
        try:
            return self._fernets().decrypt(token.encode()).decode()
        except InvalidToken:
            return None

    def under(self, token: str, key: str = "") -> Under:
        """Which key a token was made under, if `key` is the present one."""
        for number, each in enumerate(keys(key)):
            try:
                _fernet(self.purpose, each).decrypt(token.encode())
            except InvalidToken:
                continue
            return Under.OLDER if number else Under.PRESENT
        return Under.UNKNOWN

    def rotate(self, token: str) -> str:
        """The same text under the present key; the same token where it is so already, or cannot be
        read."""
        if self.under(token) is not Under.OLDER:
            return token
        return self._fernets().rotate(token.encode()).decode()

    def _fernets(self) -> MultiFernet:
        return MultiFernet([_fernet(self.purpose, each) for each in keys()])


SECRETS = Cipher("memoryweb secrets of agents")
ENDPOINT_KEYS = Cipher("memoryweb keys of endpoints")
SECOND_FACTORS = Cipher("memoryweb second factors")


def encrypted_key(key: str) -> str:
    """An endpoint's key as it is stored, "" for none. ValidationError where it cannot be one, in a
    sentence without it."""
    key = key.strip()
    if len(key) > LONGEST_KEY:
        words = ngettext(
            "A key has at most %(most)s character.",
            "A key has at most %(most)s characters.",
            LONGEST_KEY,
        )
        raise ValidationError(words % {"most": whole(LONGEST_KEY)})
    if not all("!" <= character <= "~" for character in key):
        raise ValidationError(
            gettext("A key has only letters, digits and signs of ASCII, and no spaces within.")
        )
    return ENDPOINT_KEYS.encrypt(key) if key else ""


def keys(key: str = "") -> list[str]:
    """The present key, or another in its place, and those that were it before."""
    return [key or settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]


@cache
def _fernet(purpose: str, key: str) -> Fernet:
    derived = HKDF(hashes.SHA256(), length=32, salt=None, info=purpose.encode())
    return Fernet(base64.urlsafe_b64encode(derived.derive(key.encode())))
