"""`manage.py create_admin`: make an account that may do everything."""

from __future__ import annotations

import getpass
import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.core.validators import validate_email

from agents.accounts import checked_name, make_administrator


class Command(BaseCommand):
    help = (
        "Make an administrator's account; the password is asked for, or read from the input. The"
        " first one takes over what the one owner had before there were accounts."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--email", default="")

    def handle(self, *args: Any, name: str, email: str, **options: Any) -> None:
        if not settings.ACCOUNTS:
            raise CommandError("There are no accounts here; set MEMORYWEB_ACCOUNTS=1 first.")
        try:
            account = User(username=checked_name(name), email=email)
            account.full_clean(exclude=["password"])
            if email:
                validate_email(email)
            password = asked_for()
            validate_password(password, account)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from None
        account.set_password(password)
        make_administrator(account)
        self.stdout.write(f"{account.username} is an administrator now, and can log in.")


def asked_for() -> str:
    """The password, typed twice at a terminal, else the first line of the input."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    password = getpass.getpass("Password: ")
    if password != getpass.getpass("Password (again): "):
        raise CommandError("The two passwords differ; no account was made.")
    return password
