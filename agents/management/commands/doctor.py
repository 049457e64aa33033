"""`manage.py doctor`: look at everything that memoryweb needs, a line each."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from agents.operations.checks import ALL, carried_out
from agents.operations.checks.check import FAILED


class Command(BaseCommand):
    help = "Check proxy, database, Redis, workers, mail, models and more; fails where one does."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="A list of objects, for programs.")

    def handle(self, *args: Any, **options: Any) -> None:
        found = carried_out(ALL)
        if options["json"]:
            self.stdout.write(json.dumps([each._asdict() for each in found], indent=2))
        else:
            for each in found:
                advice = f" {each.advice}" if each.advice else ""
                end = "" if each.words.endswith(".") else "."
                self.stdout.write(f"{each.state:8} {each.name:13} {each.words}{end}{advice}")
        self.stdout.flush()
        if any(each.state == FAILED for each in found):
            sys.exit(1)
