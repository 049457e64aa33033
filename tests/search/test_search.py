"""Search by words: every script, every query, only the agent's own rows, whoever wrote them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from agents.memory.classes import ChatMemory
from agents.models import Agent, Message, Passage
from agents.models.searchable import passage_owner
from agents.search import lexical, postings, words
from agents.search.hybrid import search
from agents.search.scope import Messages, Passages
from tests.support.searching import BY, HOSTILE, TEXTS, found
from tests.support.stored import of
from tests.support.work import calls_of

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


def test_a_long_query_is_cut_to_its_longest_words(
    agent: Agent, passages: dict[str, Passage]
) -> None:
    query = " ".join(f"word{n}" for n in range(14_000)) + " rex"
    calls_of(search, Passages(agent), query, 10, most=300_000)


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
    postings.common_terms.cache_clear()
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


# -- what was said around a hit --------------------------------------------------------------------


def talk(agent: Agent, *lines: str, minutes: int = 1) -> None:
    """Lines of a person and the agent in turn, so many minutes apart."""
    for number, line in enumerate(lines, agent.record(messages=len(lines)) - len(lines) + 1):
        role = ("user", "assistant")[number % 2]
        message = Message.objects.create(**of(agent), number=number, role=role, content=line)
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
        Message.objects.create(**of(agent), number=agent.record(messages=1), role=role, **extra)
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
