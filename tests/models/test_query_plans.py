"""The newest runs of an agent are found by an index, however many it has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agents.models import Agent, Conversation

pytestmark = pytest.mark.sqlite_only


@pytest.mark.parametrize("read", [Conversation.last_end, Conversation.last_run])
def test_the_newest_run_is_found_without_reading_or_sorting_the_others(
    agent: Agent, read: Callable[[Conversation], Any]
) -> None:
    conversation = agent.first_conversation
    with CaptureQueriesContext(connection) as queries:
        read(conversation)
    (query,) = queries.captured_queries
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {query['sql']}")
        plan = " ".join(str(row[3]) for row in cursor.fetchall())
    assert "SEARCH" in plan
    assert "SCAN" not in plan
    assert "TEMP B-TREE" not in plan
