"""Invitation: a link by which one person may make an account."""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import TYPE_CHECKING, Self

from django.conf import settings
from django.db import models, transaction
from django.utils import timezone
from django.utils.translation import gettext, pgettext
from django.utils.translation import gettext_lazy as _

from .audit import AuditEntry
from .token import digest

if TYPE_CHECKING:
    from django.contrib.auth.models import User

GOOD_FOR = timedelta(days=7)


def in_a_week() -> object:
    return timezone.now() + GOOD_FOR


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def open(self) -> Self:
        """Those that somebody may still come in by."""
        return self.filter(used_at=None, revoked_at=None, expires_at__gt=timezone.now())

    @transaction.atomic
    def revoke(self) -> list[Invitation]:
        """End those that are open; these."""
        ended = list(self.open().select_for_update(of=("self",)))
        keys = [invitation.pk for invitation in ended]
        self.model.objects.filter(pk__in=keys).update(revoked_at=timezone.now())
        for invitation in ended:
            AuditEntry.record(AuditEntry.Action.INVITATION_REVOKED, invitation)
        return ended


class Invitation(models.Model):
    """Made by an administrator, good for one account within a week. Only the SHA-256 of what the
    link has is kept: nobody can read the link from the database.
    """

    class Role(models.TextChoices):
        PERSON = "person", _("person")
        ADMINISTRATOR = "administrator", _("administrator")

    email = models.EmailField(
        blank=True, help_text=_("Whom it is for. Where mail is set up, the link is sent there.")
    )
    role = models.CharField(max_length=20, choices=Role.choices, default=Role.PERSON)
    sha256 = models.CharField(max_length=64, unique=True, editable=False)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        editable=False,
        related_name="invitations",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(default=in_a_week, editable=False)
    revoked_at = models.DateTimeField(null=True, editable=False)
    used_at = models.DateTimeField(null=True, editable=False)
    used_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, editable=False, related_name="+"
    )

    objects = InvitationQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        if not self.email:
            return gettext("Invitation for whoever has the link")
        return gettext("Invitation for %(email)s") % {"email": self.email}

    @transaction.atomic
    def issue(self, made_by: User) -> str:
        """Store a new one; its secret, which is returned only here."""
        secret = secrets.token_urlsafe(32)
        self.sha256, self.made_by = digest(secret), made_by
        self.save(force_insert=True)
        AuditEntry.record(AuditEntry.Action.INVITED, self, role=self.role)
        return secret

    @classmethod
    def find(cls, secret: str) -> Invitation | None:
        """The one of that secret, if it is open."""
        return cls.objects.open().filter(sha256=digest(secret)).first()

    @property
    def makes_administrator(self) -> bool:
        return self.role == self.Role.ADMINISTRATOR

    def is_open(self) -> bool:
        return Invitation.objects.open().filter(pk=self.pk).exists()

    def accept(self, account: User) -> bool:
        """Note who came in by it; False if it is not open any more."""
        open_ones = Invitation.objects.open().filter(pk=self.pk)
        if not open_ones.update(used_at=timezone.now(), used_by=account):
            return False
        AuditEntry.record(AuditEntry.Action.INVITATION_USED, self, by=account, role=self.role)
        return True

    @property
    def state(self) -> str:
        """In words."""
        if self.used_at:
            if self.used_by is None:
                return gettext("used by somebody who is gone")
            return gettext("used by %(person)s") % {"person": self.used_by}
        if self.revoked_at:
            return pgettext("invitation", "revoked")
        if self.expires_at > timezone.now():
            return pgettext("invitation", "open")
        return pgettext("invitation", "expired")
