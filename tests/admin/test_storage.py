"""The page "Storage" of the admin."""

from __future__ import annotations

import re

from django.db import connection
from django.test import Client

from agents.models import Agent, Message
from agents.operations import storage
from tests.support.stored import of


def test_an_operator_sees_how_much_is_stored_and_how_long_it_is_kept(
    desk: Client, agent: Agent
) -> None:
    for number in range(3):
        Message.objects.create(**of(agent), number=number, role="user", content="Hello " * 1000)
    index = desk.get("/admin/").content.decode()
    assert 'href="/admin/storage/"' in index
    page = re.sub(r"\s+", " ", desk.get("/admin/storage/").content.decode())
    assert re.search(r"Messages</th> <td> 3 </td> <td>[\d.]+.[KM]B</td>", page)
    assert re.search(
        r"Events</th> <td> \d+ </td>.{,80}<td>\d+ \w{3} \d{4}, [\d:]+</td> <td> 7 days", page
    )
    assert re.search(r"Messages</th>.{,120}for ever", page)


def test_nobody_else_sees_it(web: Client) -> None:
    assert web.get("/admin/storage/").status_code == 302


def test_a_large_table_is_not_counted_on_postgres(agent: Agent) -> None:
    rows, estimated = storage.count("agents_agent")
    assert (rows, estimated) == (1, False)
    assert storage.database_size() > 10_000
    assert connection.vendor in ("sqlite", "postgresql")
