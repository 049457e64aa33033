"""`manage.py export_agent`: write an agent to an agent file."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from agents.agent_file import file_name, written
from agents.models import Agent, AuditEntry
from agents.models.event import snapshot


class Command(BaseCommand):
    help = "Write an agent to an agent file (.af)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("agent", help="The agent's id, as in its address.")
        parser.add_argument(
            "file",
            nargs="?",
            help="The new file; - for the output. Default: named after the agent.",
        )

    def handle(self, *args: Any, agent: str, file: str | None, **options: Any) -> None:
        with snapshot():
            row = find(agent)
            path = Path(file or file_name(row))
            try:
                with (
                    nullcontext(sys.stdout)
                    if file == "-"
                    else path.open("w", encoding="utf-8") as opened
                ):
                    opened.writelines(written(row))
            except OSError as error:
                raise CommandError(f"{path} cannot be written: {error.strerror}.") from None
        AuditEntry.record(AuditEntry.Action.EXPORTED, row)
        if file != "-":
            self.stdout.write(f"{row.name} was written to {path}.")


def find(key: str) -> Agent:
    """The agent of that id; CommandError if there is none."""
    try:
        return Agent.objects.get(pk=UUID(key), deleted_at=None)
    except (ValueError, Agent.DoesNotExist):
        raise CommandError(f"There is no agent with the id '{key}'.") from None
