"""`manage.py rotate_keys`: encrypt everything under the present secret key, not an older one."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand

from agents.models import AuditEntry
from agents.models.encryption import Under
from agents.operations.kept_secrets import KINDS, Kind, counted

SHOWN = 20


class Command(BaseCommand):
    help = "Encrypt anew, under MEMORYWEB_SECRET_KEY, what is under one of its fallbacks."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        rotated = 0
        for kind in KINDS:
            done, all_of_them = kind.rotate(), sum(kind.under().values())
            rotated += done
            if all_of_them:
                self.stdout.write(
                    f"{kind.many.capitalize()}: {done} of {all_of_them} encrypted anew."
                )
        AuditEntry.record(AuditEntry.Action.KEYS_ROTATED, encrypted_anew=rotated)
        for kind in KINDS:
            if lost := kind.lost():
                self.stdout.write(f"{lost_of(kind, lost)} cannot be read: the key is not here.")
        if counted(Under.UNKNOWN):
            self.stdout.write(
                "Enter these anew, or name their key in MEMORYWEB_SECRET_KEY_FALLBACKS and run this"
                " again."
            )
            sys.exit(1)
        words = "All is under the present key; MEMORYWEB_SECRET_KEY_FALLBACKS can go."
        self.stdout.write(words)


def lost_of(kind: Kind, keys: list[Any]) -> str:
    """The rows whose secrets cannot be read, in words."""
    shown = ", ".join(map(str, keys[:SHOWN]))
    more = f" and {len(keys) - SHOWN} more" if len(keys) > SHOWN else ""
    return f"{kind.many.capitalize()} in {kind.model._meta.label} {shown}{more}"
