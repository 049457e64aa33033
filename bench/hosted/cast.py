"""The people of a hosted benchmark: each is logged in and has some agents.

`python -m bench.hosted.cast PEOPLE AGENTS MESSAGES` prints, as JSON, a cookie of each and one of
their agents.
"""

from __future__ import annotations

import json
import sys
from uuid import uuid4


def main(people: int, agents: int, messages: int) -> None:
    import django
    from django.core.management import call_command
    from django.db import connection

    django.setup()
    if connection.vendor == "sqlite":
        call_command("migrate", verbosity=0, interactive=False)
    made = [make_person(agents, messages) for _ in range(people)]
    print(json.dumps([{"agent": agent, "cookie": cookie} for agent, cookie in made]))


def make_person(agents: int, messages: int) -> tuple[str, str]:
    """Somebody new: the last of their agents, and the cookie of their log-in."""
    from django.conf import settings
    from django.contrib.auth.models import User
    from django.test import Client

    from bench.cast import make_agent

    person = User.objects.create(username=f"person-{uuid4().hex[:12]}", password="!")
    for number in range(agents):
        agent = make_agent(f"Agent {number}", messages, person=person)
    browser = Client()
    browser.force_login(person, "django.contrib.auth.backends.ModelBackend")
    session = browser.cookies[settings.SESSION_COOKIE_NAME].value
    return str(agent.pk), f"{settings.SESSION_COOKIE_NAME}={session}"


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
