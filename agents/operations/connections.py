"""Connections to Postgres: each process says in its connections' name how many it may take.

    memoryweb web max=18 4711@host

So any of them can add up what all that live may take, and compare it with what Postgres gives.
"""

from __future__ import annotations

import os
import re
import socket
from typing import NamedTuple

from django.conf import settings
from django.db import connection

WORKERS_OWN = 5  # connections of a worker's queue: a pool of four, and one that listens
NAME = re.compile(r"memoryweb (\w+) max=(\d+) ")
LONGEST_NAME = 63  # characters, of Postgres
SPARE = 5  # that ought to be left: for `prepare`, `backup`, `doctor` and psql


class Process(NamedTuple):
    """One that lives: `web` or `worker`, and the connections it may take."""

    role: str
    most: int


class Connections(NamedTuple):
    """What is open, what the processes may take together, and how many Postgres gives to all."""

    open: int
    processes: list[Process]
    limit: int

    @property
    def most(self) -> int:
        return sum(process.most for process in self.processes)


def announce(role: str) -> None:
    """Name this process's connections; before it makes the first one."""
    if not settings.HOSTED:
        return
    options = connection.settings_dict["OPTIONS"]
    most = options["pool"]["max_size"] + (WORKERS_OWN if role == "worker" else 0)
    name = f"memoryweb {role} max={most} {os.getpid()}@{socket.gethostname()}"
    options["application_name"] = name[:LONGEST_NAME]


def look() -> Connections:
    """Ask Postgres."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
        )
        ((count,),) = cursor.fetchall()
        cursor.execute(
            "SELECT DISTINCT application_name, client_addr FROM pg_stat_activity"
            " WHERE datname = current_database()"
        )
        names = [NAME.match(name or "") for name, _ in cursor.fetchall()]
        cursor.execute(
            "SELECT sum(setting::int * CASE name WHEN 'max_connections' THEN 1 ELSE -1 END)"
            " FROM pg_settings WHERE name IN"
            " ('max_connections', 'superuser_reserved_connections', 'reserved_connections')"
        )
        ((limit,),) = cursor.fetchall()
    processes = [Process(name[1], int(name[2])) for name in names if name]
    return Connections(count, sorted(processes), int(limit))
