"""Search by words: every script, every query, only the agent's own rows, whoever wrote them."""

from __future__ import annotations

import time
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import connection
from django.db.models.signals import post_migrate, pre_migrate

from agents.memory import ChatMemory
from agents.models import Agent, Editor, Message, Passage
from agents.models.message import storable
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
        assert set(postings.shares(Passages(agent), 100, ["red", "cherry", "rex"])) == {
            "red", "cherry",
        }  # fmt: skip
    assert found(agent, "red cherry")[0] == both.text
    assert set(found(agent, "cherry")) == {"black cherry"}
    assert found(agent, "pears") == ["green pear"] * 10


def test_only_the_agents_own_rows_are_found(
    agent: Agent, passages: dict[str, Passage], bob: User
) -> None:
    other = Agent.create(bob, "Other", ChatMemory())
    forged = f"{words.passage_owner(other.pk.hex)} {words.passage_owner(agent.pk.hex)} secret"
    Passage.insert(other, f"{forged} rex", by=BY)
    assert found(agent, "secret") == []
    assert found(agent, "rex") == [TEXTS["rex"]]
    assert found(agent, words.passage_owner(other.pk.hex)) == []
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
def test_postgres_makes_the_same_terms(db: None, text: str) -> None:
    text = storable(text)
    with connection.cursor() as cursor:
        cursor.execute("SELECT memoryweb_terms(%s)", [text])
        assert set(cursor.fetchone()[0]) == set(words.tokens(text))


def test_words_lose_the_s_of_a_plural() -> None:
    for plural, stem in (
        ("dogs", "dog"),
        ("boxes", "box"),
        ("berries", "berry"),
        ("classes", "class"),
        ("houses", "house"),
        ("bus", "bus"),
        ("glass", "glass"),
        ("is", "is"),
    ):
        assert words.stem(plural) == stem


# -- showing a part --------------------------------------------------------------------------------


def test_a_long_text_is_cut_around_the_match() -> None:
    text = "x " * 5_000 + "the marmalade is here" + " y" * 5_000
    shown = words.excerpt(text, "where is the marmalade?", 400)
    assert "the marmalade is here" in shown
    assert len(shown) < 480
    assert shown.endswith("of 20,021]")
    assert words.excerpt("short", "x", 400) == "short"
    assert words.excerpt("long " * 100, "", 50).startswith("long long")
