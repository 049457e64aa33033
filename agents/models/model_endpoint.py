"""Model endpoint: a server of models that administrators define, and who may use it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models, transaction
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from .audit import AuditEntry
from .encryption import ENDPOINT_KEYS, encrypted_key

if TYPE_CHECKING:
    from django.contrib.auth.models import User

KEY_PUT, KEY_DELETED = (
    AuditEntry.Action.ENDPOINT_KEY_PUT,
    AuditEntry.Action.ENDPOINT_KEY_DELETED,
)
NOTED_EVERY = timedelta(minutes=1)
LONGEST_WORDS = 1_000  # characters, of what was found
RESERVED = ("demo", "letta")  # the demo model's, and that of handles of Letta's examples

is_name = RegexValidator(
    r"\A[a-z0-9][a-z0-9_.-]*\Z",
    _("A name has small letters, digits, '-', '_' and '.', and begins with a letter or digit."),
)


class ModelEndpointQuerySet(models.QuerySet["ModelEndpoint"]):
    def usable_by(self, user: User | int) -> Self:
        """Those that a person may use."""
        chosen = models.Q(users=user) | models.Q(groups__user=user)
        return self.filter(models.Q(everyone=True) | chosen, enabled=True).distinct()

    def with_own_keys(self) -> Self:
        """Those that people may enter keys of their own for."""
        return self.exclude(own_keys=ModelEndpoint.OwnKeys.NO)

    def note_health(self, healthy: bool, words: str) -> int:
        """Keep how they are doing; how many of them were not noted within the last minute."""
        now = timezone.now()
        due = models.Q(checked_at=None) | models.Q(checked_at__lt=now - NOTED_EVERY)
        return self.filter(due).update(
            healthy=healthy, health=words[:LONGEST_WORDS], checked_at=now
        )


class ModelEndpoint(models.Model):
    """A server that speaks the OpenAI chat-completions wire. Agents name its models by its name."""

    class OwnKeys(models.TextChoices):
        NO = "no", _("Not allowed")
        ALLOWED = "allowed", _("Allowed: in place of the key above")
        REQUIRED = "required", _("Required: only who has one may use it")

    name = models.CharField(
        max_length=50,
        unique=True,
        validators=[is_name],
        help_text=_("Agents name its models by it: name/model."),
    )
    base_url = models.CharField(
        _("base URL"), max_length=500, help_text=_("Such as https://llm.example.org/v1.")
    )
    api_key = models.TextField(editable=False, blank=True)  # encrypted
    options = models.CharField(
        max_length=300,
        blank=True,
        help_text=_(
            "How it wants its requests, where that is not found out by itself, such as"
            " ids=nine&tool_choice=no. They are those after # in MEMORYWEB_ENDPOINTS"
            " (.env.example)."
        ),
    )
    enabled = models.BooleanField(
        default=True, help_text=_("Unselect this to take it from everybody at once.")
    )
    is_default = models.BooleanField(
        _("default"),
        default=False,
        help_text=_(
            "Answers for agents that name no endpoint, in place of that of the environment."
        ),
    )
    default_model = models.CharField(
        max_length=200,
        blank=True,
        help_text=_(
            "Answers for agents that name no model, if this is the default endpoint. Empty:"
            " the first one that it lists."
        ),
    )
    only_listed = models.BooleanField(
        _("only the models below"),
        default=False,
        help_text=_("Otherwise people may choose all that the endpoint lists."),
    )
    everyone = models.BooleanField(default=True, help_text=_("Everybody may use it."))
    users = models.ManyToManyField(
        settings.AUTH_USER_MODEL, blank=True, related_name="model_endpoints"
    )
    groups = models.ManyToManyField(Group, blank=True, related_name="model_endpoints")
    own_keys = models.CharField(
        _("keys of people's own"),
        max_length=10,
        choices=OwnKeys.choices,
        default=OwnKeys.NO,
        help_text=_("People enter theirs under Account. It is used for all calls of their agents."),
    )
    healthy = models.BooleanField(null=True, editable=False)
    health = models.TextField(blank=True, editable=False)  # in words
    checked_at = models.DateTimeField(null=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = ModelEndpointQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(
                fields=["is_default"],
                condition=models.Q(is_default=True),
                name="one_endpoint_is_the_default",
                violation_error_message=_(
                    "Another endpoint is the default one. Unselect it there first."
                ),
            ),
            models.CheckConstraint(
                condition=models.Q(is_default=False) | models.Q(enabled=True, everyone=True),
                name="default_endpoint_is_everyones",
                violation_error_message=_(
                    "The default endpoint has to be enabled, and for everyone."
                ),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @transaction.atomic
    def save(self, *args: Any, **kwargs: Any) -> None:
        """Store it. No key goes along to another server: neither its own nor those of people."""
        stored = self._stored()
        if stored and origin(stored.base_url) != origin(self.base_url):
            if stored.api_key == self.api_key:
                self.api_key = ""
            self.personal_keys.all().delete()
        super().save(*args, **kwargs)
        if self.api_key != (stored.api_key if stored else ""):
            AuditEntry.record(KEY_PUT if self.api_key else KEY_DELETED, self)

    def clean(self) -> None:
        self.base_url = self.base_url.strip().rstrip("/")
        if self.name in names_taken():
            words = gettext(
                "'%(name)s' is the name of an endpoint of the environment, or reserved. Choose"
                " another one."
            )
            raise ValidationError({"name": words % {"name": self.name}})
        if words := address_problem(self.base_url):
            raise ValidationError({"base_url": words})
        if self.key_would_move():
            raise ValidationError(
                {
                    "base_url": gettext(
                        "This is another server, which must not get the key of the old one."
                        " Enter a key for it, or remove the key."
                    )
                }
            )

    def _stored(self) -> ModelEndpoint | None:
        return ModelEndpoint.objects.filter(pk=self.pk).first() if self.pk else None

    def key_would_move(self) -> bool:
        """Whether the key that is stored would be sent to another server than now."""
        stored = self._stored()
        if stored is None or not stored.api_key or stored.api_key != self.api_key:
            return False
        return origin(stored.base_url) != origin(self.base_url)

    def set_key(self, key: str) -> None:
        """Take in a key, "" for none; ValidationError where it cannot be one."""
        self.api_key = encrypted_key(key)

    def keep_health(self, healthy: bool, words: str) -> None:
        """Keep what a trial found."""
        self.healthy, self.health, self.checked_at = healthy, words[:LONGEST_WORDS], timezone.now()
        ModelEndpoint.objects.filter(pk=self.pk).update(
            healthy=healthy, health=self.health, checked_at=self.checked_at
        )

    def key(self) -> str | None:
        """The key, "" where there is none; None where it cannot be read."""
        return ENDPOINT_KEYS.decrypt(self.api_key) if self.api_key else ""


def names_taken() -> set[str]:
    """The names of endpoints that are not rows."""
    of_environment = bool(settings.OPENAI_BASE_URL or settings.OPENAI_API_KEY)
    return {*RESERVED, *settings.ENDPOINTS, *(["openai"] if of_environment else [])}


def address_problem(url: str) -> str:
    """Why an address cannot be that of an endpoint, in a sentence; "" if it can."""
    try:
        parts = urlsplit(url)
        port_is_one = parts.port is None or parts.port > 0
    except ValueError:
        return gettext("This is not an address.")
    if parts.scheme not in ("http", "https") or not parts.hostname or not port_is_one:
        return gettext("An address begins with http:// or https:// and names a host.")
    if parts.username or parts.password or parts.query:
        return gettext(
            "The address is shown in pages: no key or password may be in it. Use the field Key."
        )
    if parts.fragment or any(character.isspace() for character in url):
        return gettext("Leave out what follows #, and spaces. Options have a field of their own.")
    return ""


def origin(url: str) -> tuple[str, str, int | None]:
    """The server that an address leads to."""
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = None
    return parts.scheme, parts.hostname or "", port or {"http": 80, "https": 443}.get(parts.scheme)
