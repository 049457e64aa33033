"""The index of search: kept by triggers, whoever writes and however."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.db.models.signals import post_migrate, pre_migrate

from agents.models import Agent, Message, Passage, prepared_sql, searchable
from agents.models.message import storable
from agents.models.searchable import make_all_terms, passage_owner
from agents.search import index
from agents.search.hybrid import search
from agents.search.scope import Messages
from tests.support.searching import BY, HOSTILE, TEXTS, found
from tests.support.stored import of

ADDED = """
    INSERT INTO agents_passage (agent_id, text, tags, editor_kind, editor_name, created_at,
        updated_at, recalled_count)
    VALUES (?, ?, '[]', 'api', 'sqlite3', '2026-01-01 00:00:00', '2026-01-01 00:00:00', 0)"""


def test_writes_in_bulk_are_indexed(agent: Agent, passages: dict[str, Passage]) -> None:
    Passage.objects.filter(pk=passages["rex"].pk).update(text="The parrot is called Polly.")
    assert found(agent, "rex") == []
    assert found(agent, "polly") == ["The parrot is called Polly."]
    Passage.objects.filter(pk=passages["rex"].pk).delete()
    assert found(agent, "polly") == []
    own: dict[str, Any] = {"agent": agent, "editor_kind": "api", "editor_name": "script"}
    Passage.objects.bulk_create([Passage(text="A canary sings", tags=["birds"], **own)])
    assert found(agent, "canary", tags=("birds",)) == ["A canary sings"]
    Passage.objects.filter(text="A canary sings").update(tags=["pets"])
    assert found(agent, "canary", tags=("birds",)) == []
    assert found(agent, "", tags=("pets",)) == ["A canary sings"]


def test_a_message_is_found_when_it_is_complete(agent: Agent) -> None:
    draft = Message.objects.create(**of(agent), number=1, role="assistant", status="draft")
    Message.objects.filter(pk=draft.pk).update(content="Unfinished marmalade")

    def seen() -> int:
        return len(search(Messages(agent), "marmalade", 10).rows)

    assert seen() == 0
    Message.objects.filter(pk=draft.pk).update(status="complete", content="Marmalade is ready")
    assert seen() == 1
    Message.objects.filter(pk=draft.pk).update(status="broken")
    assert seen() == 0
    Message.objects.filter(pk=draft.pk).update(status="stopped")
    assert seen() == 1
    Message.objects.all().delete()
    assert seen() == 0


def test_what_was_said_by_send_message_is_indexed(agent: Agent) -> None:
    for number, arguments in enumerate(['{"message": "I like marmalade"}', "{no JSON marmalade"]):
        call = {"id": "1", "name": "send_message", "arguments": arguments}
        Message.objects.create(
            **of(agent), number=number, role="assistant", content="", tool_calls=[call]
        )
    rows = search(Messages(agent), "marmalade", 10).rows
    assert [Messages.text(row) for row, _ in rows] == ["I like marmalade"]


def test_texts_of_any_size_and_kind_are_stored(agent: Agent) -> None:
    many = " ".join(f"{n:x}w{n * 7919 % 100_003}" for n in range(10_000))[:100_000]
    hanzi = "".join(chr(0x4E00 + n * 7 % 20_000) + chr(0x20000 + n % 40_000) for n in range(50_000))
    for text in ("a" * 100_000, many, hanzi, "\x01\x02\t\n\x7f\x85\u2028\ufeff x"):
        Passage.insert(agent, text, by=BY)
    assert found(agent, hanzi[1000:1002])
    assert found(agent, many.split()[-2])


@pytest.mark.sqlite_only
def test_triggers_that_went_with_a_table_come_back(agent: Agent) -> None:
    Passage.insert(agent, "Before", by=BY)
    gone = Passage.insert(agent, "Gone", by=BY)
    sender = apps.get_app_config("agents")
    pre_migrate.send(sender, app_config=sender, using="default", plan=["one"])
    gone.remove()
    Passage.insert(agent, "Meanwhile", by=BY)
    assert found(agent, "meanwhile") == []
    post_migrate.send(sender, app_config=sender, using="default")
    Passage.insert(agent, "Behind", by=BY)
    for text in ("Before", "Meanwhile", "Behind"):
        assert found(agent, text) == [text]
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {index.fts('agents_passage')}")
        assert cursor.fetchone() == (3,)


def test_rows_from_before_the_index_are_indexed(agent: Agent) -> None:
    Passage.insert(agent, "Marmalade", tags=["food"], by=BY)
    Message.objects.create(**of(agent), number=1, role="user", content="More marmalade")
    connection.check_constraints()
    index.uninstall(connection)
    index.install(connection)
    assert found(agent, "marmalade", tags=("food",)) == ["Marmalade"]
    assert len(search(Messages(agent), "marmalade", 10).rows) == 1


@pytest.mark.hosted_only
@pytest.mark.parametrize("text", [*TEXTS.values(), *(q for q in HOSTILE if "\0" not in q)])
def test_postgres_holds_the_same_terms(agent: Agent, text: str) -> None:
    passage = Passage(agent=agent, text=storable(text), editor_kind="api", tags=["a 'tag'"])
    passage.save()
    with connection.cursor() as cursor:
        cursor.execute("SELECT tsvector_to_array(search) FROM agents_passage")
        held = set(cursor.fetchone()[0])
    assert held == set(passage.search_terms().split()) - {passage_owner(agent.pk.hex)}


@pytest.mark.sqlite_only
def test_any_client_of_the_database_may_write(agent: Agent) -> None:
    """A plain connection to SQLite, without a function of ours, stands for the `sqlite3` shell."""
    kept = Passage.insert(agent, "Plain marmalade", by=BY)
    gone = Passage.insert(agent, "Gone marmalade", by=BY)
    name = index.fts("agents_passage")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT sql FROM sqlite_master WHERE tbl_name IN ('agents_passage', %s,"
            " 'agents_passagevector') AND sql IS NOT NULL ORDER BY type = 'trigger', rowid",
            [name],
        )
        schema = [sql for (sql,) in cursor.fetchall()]
        cursor.execute("SELECT * FROM agents_passage")
        rows = cursor.fetchall()
    with sqlite3.connect(":memory:") as other:
        for sql in schema:
            other.execute(sql)
        places = ", ".join("?" * len(rows[0]))
        other.executemany(f"INSERT INTO agents_passage VALUES ({places})", rows)
        other.execute(ADDED, [agent.pk.hex, "Added marmalade"])
        other.execute("UPDATE agents_passage SET text = 'Plain honey' WHERE id = ?", [kept.pk])
        other.execute("DELETE FROM agents_passage WHERE id = ?", [gone.pk])
        held = other.execute(f"SELECT count(*) FROM {name} WHERE {name} MATCH 'marmalade'")
        assert held.fetchone() == (0,)
        without = other.execute("SELECT text FROM agents_passage WHERE search IS NULL ORDER BY id")
        assert without.fetchall() == [("Plain honey",), ("Added marmalade",)]
        other.execute(f"INSERT INTO {name}({name}) VALUES ('integrity-check')")


def test_what_another_client_wrote_is_found_before_long(agent: Agent) -> None:
    kept = Passage.insert(agent, "Plain marmalade", ["a"], by=BY)
    with connection.cursor() as cursor:
        key = agent._meta.pk.get_db_prep_value(agent.pk, connection)
        cursor.execute(ADDED.replace("?", "%s"), [key, "Added jams"])
        cursor.execute("UPDATE agents_passage SET text = 'Honeys' WHERE id = %s", [kept.pk])
    assert found(agent, "marmalade") == []
    assert make_all_terms() == 2
    assert found(agent, "jam") == ["Added jams"]
    assert found(agent, "honey", tags=("a",)) == ["Honeys"]
    assert make_all_terms() == 0


def test_a_row_that_another_client_garbled_holds_up_no_other(agent: Agent) -> None:
    with connection.cursor() as cursor:
        key = agent._meta.pk.get_db_prep_value(agent.pk, connection)
        cursor.execute(ADDED.replace("'[]'", "'7'").replace("?", "%s"), [key, "Broken jam"])
        cursor.execute(ADDED.replace("?", "%s"), [key, "Good jam"])
    assert make_all_terms() == 2
    assert found(agent, "jam") == ["Good jam"]
    assert make_all_terms() == 0


def test_a_change_that_leaves_the_terms_as_they_are_needs_no_second_look(agent: Agent) -> None:
    passage = Passage.insert(agent, "Marmalade.", by=BY)
    passage.edit(text="Marmalade!", by=BY)
    passage.text = "MARMALADE"
    passage.save(update_fields=["text"])
    call = {"id": "1", "name": "x", "arguments": "{}"}
    draft = Message.objects.create(**of(agent), number=1, role="assistant", status="draft")
    draft.status, draft.tool_calls = "complete", [call]
    draft.update("content", "tool_calls", "status")
    assert make_all_terms() == 0
    assert found(agent, "marmalade") == ["MARMALADE"]


def test_terms_are_not_read_with_their_row(agent: Agent) -> None:
    Passage.insert(agent, "Marmalade", by=BY)
    Message.objects.create(**of(agent), number=1, role="user", content="Marmalade")
    rows = [Passage.objects.get(), agent.messages.get(), *prepared_sql.read(Message, "")]
    assert [row.get_deferred_fields() for row in rows] == [{"search"}] * 3


def test_an_index_made_by_other_rules_is_made_anew(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    Passage.insert(agent, "Marmalade", by=BY)
    Message.objects.create(**of(agent), number=1, role="user", content="More marmalade")
    connection.check_constraints()
    monkeypatch.setattr(index, "VERSION", "of_before")
    monkeypatch.setattr(searchable, "terms", lambda text: [word[::-1] for word in text.split()])
    index.install(connection)
    assert found(agent, "marmalade") == []
    monkeypatch.undo()
    connection.check_constraints()
    index.install(connection)
    assert found(agent, "marmalade") == ["Marmalade"]
    assert len(search(Messages(agent), "marmalade", 10).rows) == 1
    Passage.insert(agent, "Jam", by=BY)
    assert found(agent, "jam") == ["Jam"]
