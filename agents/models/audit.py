"""Audit: who did what that concerns log-ins, rights, keys, exports and the admin, and from where.

An entry is written in the transaction of what it tells of, where there is one. It has names and
counts, never a secret, nor what people or agents say.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Self, cast

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop, pgettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

COMMAND_LINE = gettext_noop("command line")  # the name of whoever uses manage.py
NOBODY = gettext_noop("somebody unknown")
NAMES = ("username", "label", "name", "email")  # fields that may be shown of what was changed
# Of what has no name, or one that says too much.
OWNERS = ("endpoint", "user", "agent", "conversation", "run")
# The names of details, as they are shown.
DETAILS = {
    "what": pgettext_lazy("audit", "what"),
    "fields": pgettext_lazy("audit", "fields"),
    "second_factor": pgettext_lazy("audit", "second factor"),
    "from_address": pgettext_lazy("audit", "from address"),
    "added": pgettext_lazy("audit", "added"),
    "removed": pgettext_lazy("audit", "removed"),
    "made_anew": pgettext_lazy("audit", "made anew"),
    "confirmed": pgettext_lazy("audit", "confirmed"),
    "primary": pgettext_lazy("audit", "primary"),
    "connected": pgettext_lazy("audit", "connected"),
    "disconnected": pgettext_lazy("audit", "disconnected"),
    "rights": pgettext_lazy("audit", "rights"),
    "was": pgettext_lazy("audit", "was"),
    "is_active": pgettext_lazy("audit", "is active"),
    "is_staff": pgettext_lazy("audit", "is staff"),
    "is_superuser": pgettext_lazy("audit", "is superuser"),
    "group": pgettext_lazy("audit", "group"),
    "with": pgettext_lazy("audit", "with"),
    "given": pgettext_lazy("audit", "given"),
    "taken": pgettext_lazy("audit", "taken"),
    "scopes": pgettext_lazy("audit", "scopes"),
    "to": pgettext_lazy("audit", "to"),
    "agents": pgettext_lazy("audit", "agents"),
    "blocks": pgettext_lazy("audit", "blocks"),
    "tools": pgettext_lazy("audit", "tools"),
    "encrypted_anew": pgettext_lazy("audit", "encrypted anew"),
    "file": pgettext_lazy("audit", "file"),
    "with_key": pgettext_lazy("audit", "with key"),
    "made_at": pgettext_lazy("audit", "made at"),
    "role": pgettext_lazy("audit", "role"),
    "can_write": pgettext_lazy("audit", "can write"),
    "names": pgettext_lazy("audit", "names"),
    "conversation": pgettext_lazy("audit", "conversation"),
    "form": pgettext_lazy("audit", "form"),
}

_request: ContextVar[HttpRequest | None] = ContextVar("request", default=None)


@contextmanager
def asked_by(request: HttpRequest) -> Iterator[None]:
    """What is done within is done for whoever sends this request."""
    token = _request.set(request)
    try:
        yield
    finally:
        _request.reset(token)


class AuditQuerySet(models.QuerySet["AuditEntry"]):
    def concerning(self, user: User | AnonymousUser) -> Self:
        """What a person did, and what others did about their account and rights; newest first."""
        mine = models.Q(user=user.pk) | models.Q(person=user.pk)
        return self.filter(mine).order_by("-pk")


class AuditEntry(models.Model):
    """One thing that somebody did. Nothing changes an entry; old ones go (`runs/retention.py`)."""

    class Action(models.TextChoices):
        LOGGED_IN = "logged_in", _("logged in")
        LOGIN_FAILED = "login_failed", _("log-in failed")
        LOGGED_OUT = "logged_out", _("logged out")
        SESSION_ENDED = "session_ended", _("ended a log-in")
        PASSWORD_CHANGED = "password_changed", _("password changed")
        FACTOR_CHANGED = "factor_changed", _("second factor changed")
        EMAIL_CHANGED = "email_changed", _("email changed")
        ELSEWHERE_CHANGED = "elsewhere_changed", _("account elsewhere changed")
        ACCOUNT_MADE = "account_made", _("account made")
        ACCOUNT_RENAMED = "account_renamed", _("account renamed")
        ACCOUNT_DELETED = "account_deleted", _("account deleted")
        INVITED = "invited", _("invitation made")
        INVITATION_USED = "invitation_used", _("invitation used")
        INVITATION_REVOKED = "invitation_revoked", _("invitation revoked")
        SHARED = "shared", _("shared")
        SHARE_CHANGED = "share_changed", _("share changed")
        SHARE_ENDED = "share_ended", _("share ended")
        GROUP_JOINED = "group_joined", _("put into a group")
        GROUP_LEFT = "group_left", _("taken out of a group")
        RIGHTS_CHANGED = "rights_changed", _("rights changed")
        HANDED_OVER = "handed_over", _("everything handed over")
        TOKEN_MADE = "token_made", _("API token made")
        TOKEN_DELETED = "token_deleted", _("API token deleted")
        SECRETS_PUT = "secrets_put", _("secrets of an agent stored")
        SECRETS_DELETED = "secrets_deleted", _("secrets of an agent deleted")
        EXPORTED = "exported", _("agent exported")
        ACCOUNT_EXPORTED = "account_exported", _("agents of an account exported")
        BACKED_UP = "backed_up", _("backup made")
        RESTORED = "restored", _("backup restored")
        ENDPOINT_KEY_PUT = "endpoint_key_put", _("key of an endpoint stored")
        ENDPOINT_KEY_DELETED = "endpoint_key_deleted", _("key of an endpoint deleted")
        OWN_KEY_PUT = "own_key_put", _("own key for an endpoint stored")
        OWN_KEY_DELETED = "own_key_deleted", _("own key for an endpoint deleted")
        KEYS_ROTATED = "keys_rotated", _("secrets encrypted under a new key")
        RUN_STOPPED = "run_stopped", _("run stopped in the admin")
        RUN_RETRIED = "run_retried", _("run retried in the admin")
        ADDED = "added", _("added in the admin")
        CHANGED = "changed", _("changed in the admin")
        DELETED = "deleted", _("deleted in the admin")

    at = models.DateTimeField(default=timezone.now, db_index=True, editable=False)
    action = models.CharField(max_length=30, choices=Action, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        editable=False,
        related_name="+",
        help_text=_("Who did it."),
    )
    name = models.CharField(max_length=150, editable=False, help_text=_("Their name at the time."))
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        editable=False,
        related_name="+",
        help_text=_("Whose account or rights it concerns, where it does."),
    )
    kind = models.CharField(max_length=50, editable=False, help_text=_("Of what it was done to."))
    key = models.CharField(max_length=100, editable=False)
    subject = models.CharField(max_length=200, editable=False, help_text=_("Its name at the time."))
    address = models.GenericIPAddressField(null=True, editable=False)
    details = models.JSONField(default=dict, editable=False)

    objects = AuditQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        verbose_name = _("audit entry")
        verbose_name_plural = _("audit entries")

    def __str__(self) -> str:
        return f"{self.who}: {self.get_action_display()} {self.what}".rstrip()

    @classmethod
    def record(
        cls,
        action: AuditEntry.Action,
        subject: models.Model | None = None,
        *,
        by: User | None = None,
        person: User | None = None,
        **details: Any,
    ) -> AuditEntry:
        """Note what was done just now, to which row, and whose account it concerns.

        Whoever sends the request did it, from its address, unless somebody else is named.
        """
        request, user = _request.get(), by or cls.actor()
        kind, key, name = described(subject) if subject else ("", "", "")
        return cls.objects.create(
            action=action,
            user=user,
            name=user.get_username() if user else NOBODY if request else COMMAND_LINE,
            person=person,
            kind=kind,
            key=key,
            subject=name[:200],
            address=request.META.get("REMOTE_ADDR") or None if request else None,
            details={name: value for name, value in details.items() if value not in ("", None, [])},
        )

    @staticmethod
    def actor() -> User | None:
        """Whose request is answered: a script's owner, or who is logged in."""
        request = _request.get()
        user = getattr(request, "auth", None) or getattr(request, "user", None)
        return cast("User", user) if user is not None and user.is_authenticated else None

    @staticmethod
    def is_asked_by_nobody() -> bool:
        """Whether a request is answered, of somebody who is not logged in."""
        return bool(_request.get()) and AuditEntry.actor() is None

    @property
    def who(self) -> str:
        """Who did it, by their name at the time."""
        return gettext(self.name) if self.name in (NOBODY, COMMAND_LINE) else self.name

    @property
    def what(self) -> str:
        """What it was done to, in words."""
        kind = gettext(self.kind) if self.kind else ""
        return f"{kind} {self.subject or self.key}".strip()

    @property
    def more(self) -> str:
        """The details in words."""
        return "; ".join(
            f"{DETAILS.get(name, name.replace('_', ' '))}: {in_words(value)}"
            for name, value in self.details.items()
        )


def described(row: models.Model) -> tuple[str, str, str]:
    """A row's kind, its key, and a name without anything that was said or remembered."""
    meta = row._meta
    fields = {field.name for field in meta.concrete_fields}
    name = next((str(getattr(row, each)) for each in NAMES if each in fields), "")
    if not name and (owner := next((each for each in OWNERS if each in fields), "")):
        holder = getattr(row, owner)
        name = f"of {described(holder)[2] or holder.pk}" if holder else ""
    return meta.verbose_name_raw, str(row.pk), name


def in_words(value: Any) -> str:
    if isinstance(value, bool):
        return pgettext("audit", "yes") if value else pgettext("audit", "no")
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
