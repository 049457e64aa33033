"""`manage.py import_agent`: create agents from an agent file."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from agents import accounts
from agents.agent_file import LARGEST, AgentFileError, import_agent, read
from agents.models import LimitReached


class Command(BaseCommand):
    help = "Create agents from an agent file (.af), and say what could not be imported."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file")
        parser.add_argument(
            "--owner",
            default="",
            help="Who gets the agents, with accounts.",
        )
        parser.add_argument("--name", default="", help="A name that replaces the one in the file.")
        parser.add_argument("--without-messages", action="store_true")
        parser.add_argument(
            "--secret",
            action="append",
            default=[],
            metavar="NAME",
            help="A secret of the agents: its value is read from the environment variable NAME of"
            " this command, so that no list of processes shows it. May be given several times.",
        )

    def handle(
        self,
        *args: Any,
        file: str,
        owner: str,
        name: str,
        without_messages: bool,
        secret: list[str],
        **options: Any,
    ) -> None:
        try:
            with Path(file).open("rb") as opened:
                raw = opened.read(LARGEST + 1)
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror}.") from None
        try:
            imported = import_agent(
                find(owner),
                read(raw),
                name=name,
                with_messages=not without_messages,
                secrets={each: value_of(each) for each in secret},
            )
        except (AgentFileError, LimitReached) as error:
            raise CommandError(str(error)) from None
        for agent in imported.agents:
            self.stdout.write(f"{agent.name} was imported; its id is {agent.pk}.")
        for note in imported.notes:
            self.stdout.write(f"- {note}")


def value_of(name: str) -> str:
    """The value of a secret, from the environment."""
    if (value := os.environ.get(name)) is None:
        shown = name.partition("=")[0]  # what follows may be the value
        raise CommandError(
            f"The environment has no variable '{shown}'. Give --secret the name alone, and the"
            f" value in the environment: {shown}=…"
            f" {settings.COMMAND} import_agent … --secret {shown}"
        )
    return value


def find(name: str) -> User:
    """The person of that name; the owner on a server without accounts."""
    if not name and not settings.ACCOUNTS:
        return accounts.owner()
    try:
        return User.objects.get(username=name)
    except User.DoesNotExist:
        words = f"There is no person '{name}'." if name else "Name the person with --owner."
        raise CommandError(words) from None
