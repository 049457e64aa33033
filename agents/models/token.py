"""Token: what a script shows to be let in, made and revoked by a person."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta
from typing import TYPE_CHECKING, Self

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from .message import storable
from .prepared_sql import read

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

PREFIX = "mw_"
NOTED_EVERY = timedelta(minutes=1)
MOST_TOKENS = 100  # of one person
SCOPES = {
    "read": _("Read agents, memory, messages and runs"),
    "chat": _("Send messages, stop and approve"),
    "write": _("Create, change and delete agents, blocks and passages"),
    "tools": _("Write tools and run them"),
}


class TokenQuerySet(models.QuerySet["Token"]):
    def of(self, user: User | AnonymousUser) -> Self:
        """A person's tokens, the newest first."""
        return self.filter(owner_id=user.pk).order_by("-pk")


class Token(models.Model):
    """A personal access token. Only its SHA-256 is kept: nobody can read it from the database."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=100)
    sha256 = models.CharField(max_length=64, unique=True, editable=False)
    hint = models.CharField(max_length=20, editable=False, help_text="Its first characters.")
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    used_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = TokenQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.name

    @classmethod
    def make(cls, owner: User, name: str, scopes: list[str]) -> tuple[Token, str]:
        """A new token and its secret, which is returned only here. ValidationError by field."""
        secret = PREFIX + secrets.token_urlsafe(32)
        token = cls(owner=owner, name=storable(name).strip(), scopes=scopes)
        token.sha256, token.hint = digest(secret), secret[:8]
        token.full_clean()
        token.save(force_insert=True)
        return token, secret

    def clean(self) -> None:
        if not self.scopes or not set(self.scopes) <= SCOPES.keys():
            words = gettext("Choose at least one of %(scopes)s.") % {"scopes": ", ".join(SCOPES)}
            raise ValidationError({"scopes": words})
        self.scopes = [scope for scope in SCOPES if scope in self.scopes]
        if self._state.adding and Token.objects.of(self.owner).count() >= MOST_TOKENS:
            words = ngettext(
                "You have %(most)s token; revoke it first.",
                "You have %(most)s tokens; revoke one first.",
                MOST_TOKENS,
            )
            raise ValidationError(words % {"most": MOST_TOKENS})

    @classmethod
    def find(cls, secret: str) -> Token | None:
        """The token of that secret, if it was made here and not revoked."""
        found = read(cls, "WHERE sha256 = %s", digest(secret))
        return found[0] if found else None

    def is_due(self) -> bool:
        """Whether its use should be noted: the last one that was is a minute old."""
        return self.used_at is None or timezone.now() - self.used_at > NOTED_EVERY

    def note_use(self) -> None:
        """Keep that it was used just now."""
        Token.objects.filter(pk=self.pk).update(used_at=timezone.now())


def digest(secret: str) -> str:
    """SHA-256; a token is 256 random bits, so nothing slower is needed."""
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()
