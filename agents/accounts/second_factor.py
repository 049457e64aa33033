"""Second factors: their secrets are stored encrypted."""

from __future__ import annotations

import base64
import secrets
from functools import cache

from allauth.mfa.adapter import DefaultMFAAdapter
from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Secrets of authenticator apps and recovery codes, under a key made of SECRET_KEY."""

    def encrypt(self, text: str) -> str:
        return _cipher(settings.SECRET_KEY).encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """What was encrypted under another SECRET_KEY is good for nothing: a secret that nobody
        knows stands in, so that no code is right. An administrator then deletes the authenticator.
        """
        try:
            return _cipher(settings.SECRET_KEY).decrypt(encrypted_text.encode()).decode()
        except InvalidToken:
            return base64.b32encode(secrets.token_bytes(20)).decode()


@cache
def _cipher(key: str) -> Fernet:
    derived = HKDF(hashes.SHA256(), length=32, salt=None, info=b"memoryweb second factors")
    return Fernet(base64.urlsafe_b64encode(derived.derive(key.encode())))
