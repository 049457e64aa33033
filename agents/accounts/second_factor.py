"""Second factors: their secrets are stored encrypted."""

from __future__ import annotations

import base64
import secrets

from allauth.mfa.adapter import DefaultMFAAdapter

from agents.models.encryption import SECOND_FACTORS


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Secrets of authenticator apps and recovery codes, under a key made of SECRET_KEY."""

    def encrypt(self, text: str) -> str:
        return SECOND_FACTORS.encrypt(text)

    def decrypt(self, encrypted_text: str) -> str:
        """What was encrypted under a key that is gone is good for nothing: a secret that nobody
        knows stands in, so that no code is right. An administrator then deletes the authenticator.
        """
        text = SECOND_FACTORS.decrypt(encrypted_text)
        return base64.b32encode(secrets.token_bytes(20)).decode() if text is None else text
