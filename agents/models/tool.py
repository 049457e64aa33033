"""Tool: a Python function that a user wrote for their agents. See `agents/tools/custom`."""

from __future__ import annotations

import textwrap
import uuid
from typing import TYPE_CHECKING, Any, Self

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models, transaction
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from .passage import too_many_tags
from .signals import tool_checked

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

LONGEST_NAME = 64
LONGEST_SOURCE = 100_000  # characters
LONGEST_RETURN = 50_000  # characters
MOST_TAGS = 50


class ToolQuerySet(models.QuerySet["Tool"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        """The tools a person may see: their own."""
        return self.filter(owner_id=user.pk)


class Tool(models.Model):
    """A function in Python. Name, description and schema are read off its source by `clean`; where
    a script sent description or schema, those go before what the source says.

    Where `seconds` or `megabytes` is empty, the tool may take as much as the operator allows.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="tools")
    name = models.CharField(
        max_length=LONGEST_NAME,
        blank=True,
        help_text=_("Empty: that of the last function."),
    )
    description = models.TextField(blank=True, editable=False)
    source = models.TextField(max_length=LONGEST_SOURCE)
    json_schema = models.JSONField(default=dict, blank=True, editable=False)
    tags = models.JSONField(default=list, blank=True)
    seconds = models.FloatField(null=True, blank=True, help_text=_("How long a call may take."))
    megabytes = models.PositiveIntegerField(
        null=True, blank=True, help_text=_("How much memory a call may take.")
    )
    return_char_limit = models.PositiveIntegerField(
        default=LONGEST_RETURN,
        validators=[MinValueValidator(1), MaxValueValidator(LONGEST_RETURN)],
        help_text=_("Characters of what it returns; the rest is cut off."),
    )
    default_requires_approval = models.BooleanField(
        default=False,
        help_text=_(
            "A person approves each call, whichever agent makes it, unless the agent's own"
            " rules say otherwise."
        ),
    )
    metadata = models.JSONField(default=dict, blank=True, help_text=_("A script's own notes."))
    given_description = models.TextField(
        blank=True, help_text=_("As a script sent it. Empty: as the docstring has it.")
    )
    given_schema = models.JSONField(
        default=dict,
        blank=True,
        help_text=_(
            "The JSON schema of the arguments, as a script sent it. Empty: as the source has it."
        ),
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = ToolQuerySet.as_manager()

    # What a tool is besides its source: forms, the API, the admin and agent files read this list.
    IN_FORMS = ("tags", "seconds", "megabytes", "return_char_limit", "default_requires_approval")
    BY_SCRIPTS = ("metadata", "given_description", "given_schema")
    SETTINGS = (*IN_FORMS, *BY_SCRIPTS)
    RECORDS = (
        *("id", "owner", "source", "name", "description", "json_schema"),
        *("created_at", "updated_at"),
    )

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "name"],
                name="tool_name_is_unique",
                violation_error_message=_("You already have a tool with this name."),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @classmethod
    @transaction.atomic
    def from_source(cls, owner: User, source: str, *, name: str = "", **settings: Any) -> Tool:
        """Make a tool of its source, or give the one of the same name a new source.

        `settings` are some of `SETTINGS`; what is None stays as it was. ValidationError, field by
        field, where it is no tool.
        """
        owner.__class__.objects.select_for_update().get(pk=owner.pk)  # one at a time
        given = {field: settings.get(field) or cls().__dict__[field] for field in cls.BY_SCRIPTS}
        tool = cls(owner=owner, name=name, source=source, **given)
        tool.read_source()
        tool = cls.objects.filter(owner=owner, name=tool.name).first() or tool
        tool.assign(source, **settings)
        tool.save()
        return tool

    def assign(self, source: str, **settings: Any) -> None:
        """Give it a source and settings, without storing it; what is None stays as it was."""
        self.source = source
        for field, value in settings.items():
            if value is not None:
                setattr(self, field, value)
        self.full_clean()

    def clean(self) -> None:
        errors: dict[str, str] = {}
        if not isinstance(self.tags, list) or not all(isinstance(t, str) for t in self.tags):
            errors["tags"] = gettext("Tags are a list of texts.")
        elif len(self.tags) > MOST_TAGS:
            errors["tags"] = too_many_tags(len(self.tags), MOST_TAGS)
        for field, most, unit in (
            ("seconds", settings.TOOL_SECONDS, "s"),
            ("megabytes", settings.TOOL_MEGABYTES, "MB"),
        ):
            value = getattr(self, field)
            if value is not None and not 0 < value <= most:
                words = gettext("Give more than 0 and at most %(most)s %(unit)s.")
                errors[field] = words % {"most": f"{most:g}", "unit": unit}
        if errors:
            raise ValidationError(errors)
        self.read_source()

    def read_source(self) -> None:
        """Take name, description and schema from the source; ValidationError where that fails."""
        self.source = textwrap.dedent(self.source.replace("\r\n", "\n").replace("\r", "\n"))
        tool_checked.send(Tool, tool=self)
