"""`manage.py prepare`: bring the database up to date, once, before web and workers start."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from ..prepared import prepare


class Command(BaseCommand):
    help = "Migrate the database and gather the static files; run it once for each version."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        prepare()
        self.stdout.write("The database is prepared for this version of memoryweb.")
