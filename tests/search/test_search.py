"""Search by words: every script, every query, only the agent's own rows, whoever wrote them."""

from __future__ import annotations

import sqlite3
import time
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import connection
from django.db.models.signals import post_migrate, pre_migrate
from django.utils import timezone

from agents.memory.classes import ChatMemory
from agents.models import Agent, Editor, Message, Passage, prepared_sql, searchable
from agents.models.message import storable
from agents.models.searchable import make_all_terms, passage_owner
from agents.search import index, lexical, postings, words
from agents.search.hybrid import search
from agents.search.scope import Messages, Passages

BY = Editor(Editor.API, "script")
TEXTS = {
    "rex": "The dog is called Rex.",
    "cats": "I have three cats, and the house is big.",
    "tokyo": "東京都に住んでいます。",
    "gou": "我的狗叫雷克斯",
    "buero": "Ärger im Büro wegen der Größe",
    "mail": "Write to user@example.com or C++ (see https://example.org/x_y-z)!",
    "moscow": "Мы живём в МОСКВЕ",
    "hindi": "हिन्दी में लिखा",
    "thai": "ผมชอบกินข้าวผัด",
    "korean": "서울에서 만났어요",
    "greek": "ΟΔΟΣ ΑΘΗΝΑΣ",
    "party": "Party 🎂🎉 tonight",
    "wide": "ＦＵＬＬ ｗｉｄｔｈ",
    "boxes": "Two boxes of berries",
}
ADDED = """
    INSERT INTO agents_passage (agent_id, text, tags, editor_kind, editor_name, created_at,
        updated_at, recalled_count)
    VALUES (?, ?, '[]', 'api', 'sqlite3', '2026-01-01 00:00:00', '2026-01-01 00:00:00', 0)"""
HOSTILE = [
    '"', "*", "AND", "OR NOT NEAR(", "'", "(", ")", ":", "-", "^", "terms:x", "a:*", "\\", "%", "_",
    "'; DROP TABLE agents_passage; --", '"unclosed', "rex AND", "NOT rex", "rex*", "re*x",
    "\0", "\ud800", "\udfff\0", "\ue000", "!!!", "&|!<->", "a & b", "'rex':*", "{}", "[]", "$$",
    "rex " * 25_000, "東" * 100_000, "x" * 100_000, "🎂" * 1_000, "´`¨^~", "\u0301\u0301", "\u200d",
]  # fmt: skip


@pytest.fixture
def passages(agent: Agent) -> dict[str, Passage]:
    return {name: Passage.insert(agent, text, by=BY) for name, text in TEXTS.items()}


def found(agent: Agent, query: str, **scope: Any) -> list[str]:
    return [row.text for row, _ in search(Passages(agent, **scope), query, 10).rows]


# -- what is found ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("What is the name of my dog?", "rex"),
        ("dogs", "rex"),
        ("REX", "rex"),
        ("calling", "rex"),
        ("cat", "cats"),
        ("東京", "tokyo"),
        ("住ん", "tokyo"),
        ("京都に住", "tokyo"),
        ("京", "tokyo"),
        ("狗叫什么名字", "gou"),
        ("arger", "buero"),
        ("buro", "buero"),
        ("GROSSE", "buero"),
        ("example", "mail"),
        ("user@example.com", "mail"),
        ("x_y", "mail"),
        ("москве", "moscow"),
        ("живем", "moscow"),
        ("हिन्दी", "hindi"),
        ("ข้าวผัด", "thai"),
        ("서울", "korean"),
        ("οδός", "greek"),
        ("🎂", "party"),
        ("full width", "wide"),
        ("box", "boxes"),
        ("berry", "boxes"),
    ],
)
def test_a_query_finds(agent: Agent, passages: dict[str, Passage], query: str, name: str) -> None:
    assert found(agent, query)[:1] == [TEXTS[name]]


def test_a_query_without_any_word_in_common_finds_nothing(
    agent: Agent, passages: dict[str, Passage]
) -> None:
    assert found(agent, "quantum chromodynamics") == []


@pytest.mark.parametrize("query", HOSTILE)
def test_a_query_full_of_operators_searches(
    agent: Agent, passages: dict[str, Passage], query: str
) -> None:
    for scope in (Passages(agent), Messages(agent)):
        search(scope, query, 10)


def test_the_operators_are_no_operators(agent: Agent, passages: dict[str, Passage]) -> None:
    for query in ("NOT rex", "rex AND", '"rex', "rex*", "(rex", "text:rex", "rex\0\ud800"):
        assert found(agent, query)[0] == TEXTS["rex"]


def test_a_long_query_takes_no_longer_than_a_moment(
    agent: Agent, passages: dict[str, Passage]
) -> None:
    query = " ".join(f"word{n}" for n in range(14_000)) + " rex"
    began = time.monotonic()
    search(Passages(agent), query, 10)
    assert time.monotonic() - began < 2


def test_rare_words_count_for_more_than_common_ones(agent: Agent) -> None:
    for n in range(30):
        Passage.insert(agent, f"The house and the garden, number {n}", by=BY)
    Passage.insert(agent, "Marmalade", by=BY)
    for n in range(30):
        Passage.insert(agent, f"The house and the yard, number {n}", by=BY)
    assert found(agent, "the house and the marmalade")[0] == "Marmalade"


def test_rows_with_several_common_words_are_found_among_thousands(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postings, "MOST_READ", 20)
    monkeypatch.setattr(lexical, "MOST_READ", 20)
    monkeypatch.setattr(postings, "MOST_COUNTED", 100)
    monkeypatch.setattr(postings, "_known", {})
    own: dict[str, Any] = {"agent": agent, "editor_kind": "api", "editor_name": "script"}
    both = Passage.insert(agent, "red cherry", by=BY)
    Passage.objects.bulk_create(
        Passage(text=("red apple", "black cherry", "green pear")[n % 3], **own) for n in range(300)
    )
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE agents_passage")
        asked = [("red",), ("cherri", "cherry"), ("rex",)]
        assert set(postings.shares(Passages(agent), 100, asked)) == {*asked[:2]}
    assert found(agent, "red cherry")[0] == both.text
    assert set(found(agent, "cherry")) == {"black cherry"}
    assert found(agent, "pears") == ["green pear"] * 10


def test_only_the_agents_own_rows_are_found(
    agent: Agent, passages: dict[str, Passage], bob: User
) -> None:
    other = Agent.create(bob, "Other", ChatMemory())
    forged = f"{passage_owner(other.pk.hex)} {passage_owner(agent.pk.hex)} secret"
    Passage.insert(other, f"{forged} rex", by=BY)
    assert found(agent, "secret") == []
    assert found(agent, "rex") == [TEXTS["rex"]]
    assert found(agent, passage_owner(other.pk.hex)) == []
    assert len(found(other, "rex")) == 1


def test_an_empty_query_lists_the_newest(agent: Agent, passages: dict[str, Passage]) -> None:
    listed = search(Passages(agent), "  ", 3)
    assert [row.text for row, _ in listed.rows] == list(TEXTS.values())[:-4:-1]
    assert [score for _, score in listed.rows] == [None] * 3


# -- the index -------------------------------------------------------------------------------------


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
    draft = Message.objects.create(agent=agent, number=1, role="assistant", status="draft")
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
            agent=agent, number=number, role="assistant", content="", tool_calls=[call]
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
    Message.objects.create(agent=agent, number=1, role="user", content="More marmalade")
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
    draft = Message.objects.create(agent=agent, number=1, role="assistant", status="draft")
    draft.status, draft.tool_calls = "complete", [call]
    prepared_sql.update(draft, "content", "tool_calls", "status")
    assert make_all_terms() == 0
    assert found(agent, "marmalade") == ["MARMALADE"]


def test_terms_are_not_read_with_their_row(agent: Agent) -> None:
    Passage.insert(agent, "Marmalade", by=BY)
    Message.objects.create(agent=agent, number=1, role="user", content="Marmalade")
    rows = [Passage.objects.get(), agent.messages.get(), *prepared_sql.read(Message, "")]
    assert [row.get_deferred_fields() for row in rows] == [{"search"}] * 3


def test_an_index_made_by_other_rules_is_made_anew(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    Passage.insert(agent, "Marmalade", by=BY)
    Message.objects.create(agent=agent, number=1, role="user", content="More marmalade")
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


# -- what was said around a hit --------------------------------------------------------------------


def talk(agent: Agent, *lines: str, minutes: int = 1) -> None:
    """Lines of a person and the agent in turn, so many minutes apart."""
    for number, line in enumerate(lines, agent.record(messages=len(lines)) - len(lines) + 1):
        role = ("user", "assistant")[number % 2]
        message = Message.objects.create(agent=agent, number=number, role=role, content=line)
        then = timezone.now() + timedelta(minutes=number * minutes)
        Message.objects.filter(pk=message.pk).update(created_at=then)


def recalled(agent: Agent, query: str) -> list[str]:
    return [row.content for row, _ in search(Messages(agent), query, 10).rows]


def test_an_answer_without_a_word_of_the_question_is_found_beside_it(agent: Agent) -> None:
    talk(agent, *(f"Something else, {n}" for n in range(20)))
    talk(agent, "By the way, how many siblings have you got?", "Four", "I see.")
    talk(agent, *(f"Yet another thing, {n}" for n in range(20)))
    assert recalled(agent, "How many siblings were mentioned?")[:2] == [
        "By the way, how many siblings have you got?", "Four",
    ]  # fmt: skip
    assert recalled(agent, "siblings") == ["By the way, how many siblings have you got?"]


def test_what_was_said_hours_later_is_no_neighbour(agent: Agent) -> None:
    talk(agent, "How many siblings have you got?", "Four", minutes=61)
    assert recalled(agent, "Which siblings were mentioned?") == ["How many siblings have you got?"]


def test_neighbours_are_counted_past_tool_calls(agent: Agent) -> None:
    talk(agent, "Where do the siblings live now?")
    call = {"id": "1", "name": "x", "arguments": "{}"}
    for role, extra in (("assistant", {"tool_calls": [call]}), ("tool", {"content": "Nothing"})):
        Message.objects.create(agent=agent, number=agent.record(messages=1), role=role, **extra)
    talk(agent, "In Riga")
    assert recalled(agent, "What town do siblings live in?")[1:] == ["In Riga"]


def test_a_hit_among_hits_comes_before_one_by_itself(agent: Agent) -> None:
    talk(agent, "The garden has roses", "Nothing", "Nothing", "Nothing", "Nothing", "Nothing")
    talk(agent, "The garden has roses", "Roses in a garden need sun", "Then the garden it is")
    numbers = [row.number for row, _ in search(Messages(agent), "garden roses", 3).rows]
    assert numbers[0] == 8
    assert 7 in numbers


# -- showing a part --------------------------------------------------------------------------------


def test_a_long_text_is_cut_around_the_match() -> None:
    text = "x " * 5_000 + "the marmalade is here" + " y" * 5_000
    shown = words.excerpt(text, "where is the marmalade?", 400)
    assert "the marmalade is here" in shown
    assert len(shown) < 480
    assert shown.endswith("of 20,021]")
    assert words.excerpt("short", "x", 400) == "short"
    assert words.excerpt("long " * 100, "", 50).startswith("long long")
