"""The panel's history of a block with thousands of edits is read by the page."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from agents.models import Agent, Block, BlockEdit, Editor
from tests.conftest import edit_of
from tests.support.ledger import lines_by_version, shown, written


@pytest.fixture
def long_ledger(human: Block) -> Block:
    """5,000 edits, every tenth of them undone."""
    rows = [
        BlockEdit(
            block=human,
            version=n,
            first_value=None if n > 1 else "Count: 0",
            after=f"Count: {n}",
            editor_kind="person",
            editor_name="alice",
        )
        for n in range(1, 5001)
    ]
    BlockEdit.objects.bulk_create(rows)
    undos = list(human.edits.filter(version__in=range(10, 5001, 10)).order_by("pk"))
    for undo, before in zip(undos, [None, *undos], strict=False):
        undo.undoes = before
    BlockEdit.objects.bulk_update(undos, ["undoes"])
    Block.objects.filter(pk=human.pk).update(value="Count: 5000", version=5000)
    human.refresh_from_db()
    return human


def test_a_page_of_a_long_ledger_takes_as_many_queries_as_one_of_a_short(
    agent: Agent, human: Block, by: Editor, web: Client, request: pytest.FixtureRequest
) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            shown(web, agent)
        return len(captured)

    written(human, 40, by)
    human.undo(edit_of(human.edits.first()), by=by)
    few = queries()
    human.edits.all().delete()
    request.getfixturevalue("long_ledger")
    assert queries() <= few


def test_the_history_is_read_by_its_indexes(
    agent: Agent, long_ledger: Block, web: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No scan of the ledger and no sorting of its texts."""
    with CaptureQueriesContext(connection) as captured:
        shown(web, agent)
        shown(web, agent, edit=edit_of(long_ledger.edits.get(version=10)).pk)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE agents_blockedit")
        for query in captured:
            if "agents_blockedit" not in query["sql"]:
                continue
            explain = "EXPLAIN QUERY PLAN" if connection.vendor == "sqlite" else "EXPLAIN"
            cursor.execute(f"{explain} {query['sql']}")
            plan = "\n".join(str(row) for row in cursor.fetchall())
            assert "SCAN agents_blockedit" not in plan, query["sql"]
            assert "Seq Scan on agents_blockedit" not in plan, query["sql"]


def test_blame_of_a_long_ledger_looks_at_as_much_as_it_must(long_ledger: Block) -> None:
    with CaptureQueriesContext(connection) as captured:
        assert lines_by_version(long_ledger) == [("Count: 5000", 5000)]
    assert len(captured) <= 2
