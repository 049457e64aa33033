"""The newest runs of an agent are found by an index, however many it has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agents.models import Agent, Run

pytestmark = pytest.mark.sqlite_only


@pytest.mark.parametrize("read", [Run.last_end, Agent.last_run])
def test_the_newest_run_is_found_without_reading_or_sorting_the_others(
    agent: Agent, read: Callable[[Agent], Any]
) -> None:
    with CaptureQueriesContext(connection) as queries:
        read(agent)
    (query,) = queries.captured_queries
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {query['sql']}")
        plan = " ".join(str(row[3]) for row in cursor.fetchall())
    assert "SEARCH" in plan
    assert "SCAN" not in plan
    assert "TEMP B-TREE" not in plan
