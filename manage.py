#!/usr/bin/env python
"""Django's command line for memoryweb."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryweb.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line
    from django.db import Error

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    except Error as error:
        from agents.models.database_errors import database_problem

        if "--traceback" in sys.argv or not (words := database_problem(error)):
            raise
        sys.exit(words)


if __name__ == "__main__":
    main()
