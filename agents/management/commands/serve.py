"""`manage.py serve`: serve until stopped.

On SQLite it migrates first and continues interrupted runs. On Postgres it waits until `manage.py
prepare` has migrated; the runs are the workers'.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from argparse import ArgumentParser
from contextlib import suppress
from ipaddress import ip_address
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from agents.accounts import owner
from agents.accounts.entry import HOURS, first_link
from agents.api import callbacks
from agents.attached_files import work as attached_files
from agents.imports import work as imports
from agents.llm import default_endpoint, default_model
from agents.llm.endpoints import ModelError
from agents.models import Agent
from agents.operations import connections
from agents.runs import engine, periodic
from agents.search import embedder
from agents.templatetags.fragments import compile_all
from memoryweb.static_files import gather
from memoryweb.variables import unknown_variables

from ..prepared import lock_data, wait_until_prepared
from ..tables import bring_up_to_date, checkpoint

MOST_AT_ONCE = 1024  # connections that wait to be accepted
DRAIN_SECONDS, DRAIN_SECONDS_ALONE = 8.0, 1.0  # that requests have to be answered at the end
HANDSHAKE_SECONDS = 60  # until then a page that opens its socket waits, when all come at once


class Command(BaseCommand):
    help = "Serve memoryweb on HOST:PORT (127.0.0.1:8283)."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default=settings.HOST)
        parser.add_argument("--port", type=int, default=settings.PORT)

    def handle(self, *args: Any, host: str, port: int, **options: Any) -> None:
        for words in unknown_variables():
            self.stderr.write(words)
        check_address(host)
        lock = None if settings.HOSTED else lock_data()
        if settings.HOSTED:
            connections.announce("web")
            wait_until_prepared()
        else:
            bring_up_to_date()
        gather()
        if not settings.ACCOUNTS:
            owner()
        Agent.objects.purge_expired()
        resumed = 0 if settings.HOSTED else engine.resume()
        if not settings.HOSTED:
            keep_to_one_core()
            periodic.start(callbacks.send_due, imports.work, attached_files.work)
            embedder.start()
        self.print_summary(host, port, resumed)
        serve(host, port)
        if not settings.HOSTED:
            checkpoint()
        del lock
        os._exit(0)  # waits for no model: a run cut off here goes on at the next start

    def print_summary(self, host: str, port: int, resumed: int) -> None:
        """Print the address, the place of the data, and the model."""
        name = f"[{host}]" if ":" in host else host
        place = "Postgres" if settings.HOSTED else settings.DATA
        self.stdout.write(f"memoryweb   http://{name}:{port}/")
        self.stdout.write(f"data        {place}")
        self.stdout.write(f"model       {model_in_words()}")
        if link := first_link(settings.SITE_URL or f"http://{name}:{port}"):
            self.stdout.write(f"people      nobody yet: make the administrator's account at {link}")
            self.stdout.write(
                f"            within {HOURS} hours, or by {settings.COMMAND} create_admin"
            )
        if settings.HOSTED and not settings.REDIS_URL:
            self.stdout.write("live        slow: set REDIS_URL, or pages update only every 15 s")
        if resumed:
            self.stdout.write(f"runs        {resumed} resumed after an interruption")
        self.stdout.flush()


def check_address(host: str) -> None:
    """CommandError if a server without accounts would be reachable from other machines."""
    if settings.ACCOUNTS or host == "localhost":
        return
    try:
        loopback = ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if not loopback:
        raise CommandError(
            f"Without accounts memoryweb serves this machine only, and {host} can be reached from"
            " others. Set MEMORYWEB_ACCOUNTS=1 so that people log in, or leave HOST unset."
        )


def keep_to_one_core() -> None:
    """Keep all threads on one core, where the system allows it.

    Only one thread at a time runs Python, and switching between cores costs a third of the
    throughput of eight agents (`make bench`).
    """
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        with suppress(OSError):
            os.sched_setaffinity(0, {cores[os.getpid() % len(cores)]})


def model_in_words() -> str:
    """Which model answers, and how to use another."""
    endpoint = default_endpoint()
    if endpoint.is_demo:
        return (
            "the built-in demo (rules, no language model); set OPENAI_API_KEY,"
            " or OPENAI_BASE_URL for a server of your own, to use a real one"
        )
    try:
        return f"{default_model(endpoint)} at {endpoint}"
    except ModelError as error:
        return f"none yet: {error}"


def return_memory() -> None:
    """Return the memory that only the start needed, above all for a first migration."""
    gc.collect()
    with suppress(AttributeError, OSError):  # a C library without it
        ctypes.CDLL(None).malloc_trim(0)


def serve(host: str, port: int) -> None:
    """Run Daphne, without the timeout that closes old sockets."""
    # Daphne takes 0.3 s to import, and only this command needs it.
    from daphne.endpoints import build_endpoint_description_strings  # noqa: PLC0415

    from memoryweb.asgi import application  # noqa: PLC0415
    from memoryweb.server import Server  # noqa: PLC0415

    (endpoint,) = build_endpoint_description_strings(host=host, port=port)
    server = Server(
        application=application,
        endpoints=[f"{endpoint}:backlog={MOST_AT_ONCE}"],
        websocket_timeout=-1,
        websocket_handshake_timeout=HANDSHAKE_SECONDS,
        websocket_connect_timeout=HANDSHAKE_SECONDS,
        application_close_timeout=2,
        drain_seconds=DRAIN_SECONDS if settings.HOSTED else DRAIN_SECONDS_ALONE,
        request_buffer_size=64 * 1024,
        server_name="memoryweb",
    )
    compile_all()
    return_memory()
    gc.freeze()  # loaded modules stay, so collections need not scan them
    server.run()
    if not server.listening_addresses:
        sys.exit(f"Cannot listen on {host}:{port}; is something else using it? Set PORT.")
