"""The command line: `manage.py` where the code lies, `memoryweb` where the package is installed."""

from __future__ import annotations

import os
import sys
from importlib.metadata import version

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line
from django.db import Error


def manage() -> None:
    """Carry out a command; what is wrong is said in words."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryweb.settings")
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    except Error as error:
        from agents.models.database_errors import database_problem  # noqa: PLC0415

        if "--traceback" in sys.argv or not (words := database_problem(error)):
            raise
        sys.exit(words)


def memoryweb() -> None:
    """The same, but that without a command it serves, as `make run` does."""
    program, *words = sys.argv
    if words[:1] == ["--version"]:
        print(version("memoryweb"))
    elif words and (not words[0].startswith("-") or words[0] in ("-h", "--help")):
        manage()
    else:
        if os.environ.get("DATABASE_URL"):  # Postgres, where the server waits for this
            sys.argv = [program, "prepare"]
            manage()
        sys.argv = [program, "serve", *words]
        manage()
