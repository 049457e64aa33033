"""What is done in the admin goes to the audit as well: which row, which fields, by whom."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext, override

from agents.models import AuditEntry

Action = AuditEntry.Action


class Audited:
    """A page of the admin whose changes are audited, each once.

    Verbs and signals of the rows may do so already: of changes to the `audited_fields` (their
    labels), and, where it is `audited_itself`, of all but changes to other fields. What is kept,
    here and in Django's own log, is in English.
    """

    audited_fields: frozenset[str] = frozenset()
    audited_itself = False

    def log_addition(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        if not self.audited_itself:
            note(Action.ADDED, obj)
        with override("en"):
            return super().log_addition(request, obj, message)  # type: ignore[misc]

    def log_change(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        """A form's message has the fields; that of an action is a sentence."""
        if isinstance(message, str) and not self.audited_itself:
            note(Action.CHANGED, obj, what=message)
        elif fields := [name for name in fields_of(message) if name not in self.audited_fields]:
            note(Action.CHANGED, obj, fields=fields)
        with override("en"):
            return super().log_change(request, obj, message)  # type: ignore[misc]

    def log_deletions(self, request: HttpRequest, queryset: Iterable[Model]) -> Any:
        rows = list(queryset)
        for row in rows if not self.audited_itself else ():
            note(Action.DELETED, row)
        with override("en"):
            return super().log_deletions(request, rows)  # type: ignore[misc]

    def history_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Django's page of what was done to a row, with our own sentences in its language too."""
        page: HttpResponse = super().history_view(request, *args, **kwargs)  # type: ignore[misc]
        if isinstance(page, TemplateResponse) and page.context_data:
            for entry in page.context_data["action_list"]:
                if entry.change_message and not entry.change_message.startswith("["):
                    entry.change_message = gettext(entry.change_message)
        return page


def note(action: AuditEntry.Action, row: Model, **details: Any) -> None:
    person = row if isinstance(row, User) else getattr(row, "user", None)
    person = person if isinstance(person, User) else None
    AuditEntry.record(action, row, person=person, **details)


def fields_of(message: Any) -> list[str]:
    """The labels of the fields that a form changed, as Django's own log has them."""
    parts = message if isinstance(message, list) else []
    return [name for part in parts for what in part.values() for name in what.get("fields", [])]
