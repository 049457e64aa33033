"""`manage.py export_agent`: write an agent to an agent file."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from agents.agent_file import file_name, written
from agents.models import Agent
from agents.models.event import snapshot


class Command(BaseCommand):
    help = "Write an agent to an agent file (.af)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("agent", help="The agent's id, as its address has it.")
        parser.add_argument(
            "file", nargs="?", help="Where to write it; - for the output. Default: its name, here."
        )

    def handle(self, *args: Any, agent: str, file: str | None, **options: Any) -> None:
        with snapshot():
            found = find(agent)
            if file == "-":
                sys.stdout.writelines(written(found))
                return
            path = Path(file or file_name(found))
            try:
                with path.open("w", encoding="utf-8") as opened:
                    opened.writelines(written(found))
            except OSError as error:
                raise CommandError(f"{path} cannot be written: {error.strerror}.") from None
        self.stdout.write(f"{found.name} was written to {path}.")


def find(key: str) -> Agent:
    """The agent of that id; CommandError if there is none."""
    try:
        return Agent.objects.get(pk=UUID(key), deleted_at=None)
    except (ValueError, Agent.DoesNotExist):
        raise CommandError(f"There is no agent with the id '{key}'.") from None
