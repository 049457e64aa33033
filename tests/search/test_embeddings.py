"""Search by meaning: what is found, also where the endpoint fails."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from agents.llm import ModelError, default_endpoint
from agents.llm.embeddings import RefusedTexts, embed, embedding_model
from agents.memory.classes import ChatMemory
from agents.models import Agent, Message, MessageVector, Passage, PassageVector, ToolCall
from agents.search import embedder, exact, hybrid, pgvector, semantic
from agents.search.embedder import progress
from agents.search.hybrid import search
from agents.search.scope import Messages, Passages
from tests.support.fake_openai import FakeOpenAI, refuse_connection
from tests.support.openai_answers import Refusal
from tests.support.searching import BY, best_match, make_vectors
from tests.support.stored import of

pytestmark = pytest.mark.usefixtures("embedding")


# -- finding ---------------------------------------------------------------------------------------


def test_another_word_for_the_same_is_found(agent: Agent, notes: list[Passage]) -> None:
    assert best_match(agent, "puppy") is None
    assert make_vectors() == 3
    assert best_match(agent, "puppy") == "Bob owns a hound"
    assert best_match(agent, "vehicle") == "Her automobile is red"
    assert search(Passages(agent), "puppy", 10).semantic is True


def test_both_lists_are_fused_by_score(agent: Agent, notes: list[Passage]) -> None:
    Passage.insert(agent, "A dog is a dog", by=BY)
    make_vectors()
    rows = search(Passages(agent), "dog", 10).rows
    assert [row.text for row, _ in rows[:2]] == ["A dog is a dog", "Bob owns a hound"]
    assert rows[0][1] == pytest.approx(1)
    by_words, by_meaning = [(7, 9.0), (8, 3.0)], [(8, 0.9), (9, 0.8), (6, 0.7)]
    scores = hybrid.fused(by_words, by_meaning)
    assert scores == pytest.approx({7: 0.4, 8: 0.4 / 3 + 0.6, 9: 0.3, 6: 0})
    assert hybrid.fused([], [(5, 0.2)]) == {5: 0.6}
    assert hybrid.fused([(5, 2.0)], []) == {5: 0.4}


def test_a_poor_match_of_words_does_not_outweigh_a_good_one_of_meaning(agent: Agent) -> None:
    """By ranks the first of either list would count the same, whatever it scored."""
    by_words = [(key, 2.0 - key / 100) for key in range(10)]
    by_meaning = [(50, 0.9), *((key, 0.1) for key in range(9, -1, -1))]
    scores = hybrid.fused(by_words, by_meaning)
    assert max(scores, key=lambda key: scores[key]) == 50


def test_what_was_said_is_found_by_its_meaning(agent: Agent) -> None:
    told = {"id": "1", "name": "send_message", "arguments": '{"message": "A fine automobile"}'}
    lines: list[dict[str, Any]] = [
        {"role": "user", "content": "I met my physician"},
        {"role": "assistant", "content": "", "tool_calls": [told]},
        {"role": "assistant", "content": "", "tool_calls": []},
        {"role": "tool", "content": "doctor doctor doctor"},
        {"role": "user", "content": "physician", "status": "broken"},
    ]
    for number, line in enumerate(lines):
        Message.objects.create(**of(agent), number=number, **line)
    make_vectors()
    assert MessageVector.objects.count() == 3
    assert make_vectors() == 0
    (row, _), *_ = search(Messages(agent), "doctor", 10).rows
    assert row.content == "I met my physician"
    (row, _), *_ = search(Messages(agent), "car", 10).rows
    assert Messages.text(row) == "A fine automobile"


@pytest.mark.parametrize("few", [0, 10_000_000])
def test_only_what_is_asked_for_is_found(
    agent: Agent, notes: list[Passage], bob: User, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(pgvector, "FEW", few)
    monkeypatch.setattr(exact, "FEW_BYTES", few)
    other = Agent.create(bob, "Other", ChatMemory())
    Passage.insert(other, "puppy puppy", ["pets"], by=BY)
    Passage.insert(agent, "A puppy, tagged", ["pets"], by=BY)
    make_vectors()
    assert best_match(agent, "hound") == "Bob owns a hound"
    assert best_match(agent, "hound", tags=("pets",)) == "A puppy, tagged"
    assert len(search(Passages(agent, tags=("pets",)), "hound", 10).rows) == 1
    assert best_match(other, "hound") == "puppy puppy"
    assert len(search(Passages(other), "hound", 10).rows) == 1


def test_an_edited_or_deleted_row_is_not_found_by_what_it_said(
    agent: Agent, notes: list[Passage]
) -> None:
    make_vectors()
    assert best_match(agent, "puppy") == "Bob owns a hound"
    notes[0].edit(text="Bob sees his physician", by=BY)
    Passage.objects.filter(pk=notes[1].pk).update(text="A glad day")
    assert PassageVector.objects.count() == 1
    assert make_vectors() == 2
    assert best_match(agent, "doctor") == "Bob sees his physician"
    assert best_match(agent, "happy") == "A glad day"
    notes[0].remove()
    assert "physician" not in str(search(Passages(agent), "doctor", 10).rows)
    assert notes[2].edit(tags=["red"], by=BY)
    assert make_vectors() == 0


# -- failing ---------------------------------------------------------------------------------------


def test_where_the_endpoint_fails_search_is_by_words(
    agent: Agent, notes: list[Passage], embedding: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_vectors()
    embedding.embedding_refusal = Refusal("Out of order", status=500)
    for _ in range(3):
        found = search(Passages(agent), "hound", 10)
        assert [row.text for row, _ in found.rows] == ["Bob owns a hound"]
        assert found.semantic is False
    assert len(embedding.embedded) == 2, "After a failure it is not asked again for a while"
    embedding.embedding_refusal = None
    monkeypatch.setattr(semantic, "PAUSE_SECONDS", 0)
    semantic.forget()
    assert search(Passages(agent), "hound", 10).semantic is True


def test_where_nothing_listens_search_is_by_words(
    agent: Agent, notes: list[Passage], settings: Settings
) -> None:
    settings.OPENAI_BASE_URL = refuse_connection()
    assert search(Passages(agent), "hound", 10).semantic is False
    with pytest.raises(ModelError, match="Nothing answers"):
        make_vectors()
    assert Passage.objects.count() == 3


def test_without_a_model_nothing_is_asked(
    agent: Agent, notes: list[Passage], embedding: FakeOpenAI, settings: Settings
) -> None:
    settings.EMBEDDING_MODEL = ""
    assert make_vectors() == 0
    assert progress() is None
    assert search(Passages(agent), "hound", 10).semantic is None
    settings.EMBEDDING_MODEL = "fake-embedding"
    settings.OPENAI_BASE_URL = ""
    assert embedding_model() is None, "The demo model has no embeddings"
    assert embedding.embedded == []


def test_a_text_that_the_model_refuses_does_not_hold_up_the_others(
    agent: Agent, notes: list[Passage], embedding: FakeOpenAI
) -> None:
    embedding.refused_in_embedding = "tax"
    assert make_vectors() == 3
    assert best_match(agent, "puppy") == "Bob owns a hound"
    assert progress() == (3, 3, "fake-embedding")
    asked = len(embedding.embedded)
    assert make_vectors() == 0
    assert len(embedding.embedded) == asked


def test_an_endpoint_that_refuses_everything_marks_nothing(
    agent: Agent, notes: list[Passage], embedding: FakeOpenAI
) -> None:
    embedding.embedding_refusal = Refusal("Not an embedding model")
    with pytest.raises(RefusedTexts):
        make_vectors()
    embedding.embedding_refusal = None
    assert make_vectors() == 3


def test_pauses_grow_while_the_endpoint_fails() -> None:
    waiting = embedder.Backoff(clock=lambda: 100.0)
    pauses = []
    for _ in range(12):
        waiting.until = 0.0
        waiting.after(ModelError("Down"))
        pauses.append(round(waiting.until - 100.0))
    assert pauses[:4] == [4, 8, 16, 32]
    assert pauses[-2:] == [300, 300]


def test_a_query_is_embedded_once_and_ahead_of_its_transaction(
    agent: Agent, notes: list[Passage], embedding: FakeOpenAI
) -> None:
    make_vectors()
    before = len(embedding.embedded)
    arguments = json.dumps({"query": " puppy "})
    hybrid.get_ready(ToolCall("1", "archival_memory_search", arguments), agent.owner_id)
    assert embedding.embedded[before:] == [["puppy"]]
    assert best_match(agent, "puppy") == "Bob owns a hound"
    for call in ("no JSON", "[]", "{}", '{"query": 1}', '{"query": "  "}'):
        hybrid.get_ready(ToolCall("1", "archival_memory_search", call), agent.owner_id)
    hybrid.get_ready(ToolCall("1", "core_memory_append", arguments), agent.owner_id)
    assert len(embedding.embedded) == before + 1


# -- the endpoint ----------------------------------------------------------------------------------


def test_an_endpoint_can_be_named(settings: Settings, embedding: FakeOpenAI) -> None:
    settings.ENDPOINTS = {"lab": embedding.base_url}
    settings.EMBEDDING_MODEL = "lab/fake-embedding"
    where = embedding_model()
    assert where is not None
    assert (where[0].name, where[1]) == ("lab", "fake-embedding")
    settings.EMBEDDING_MODEL = "BAAI/bge-m3"
    assert embedding_model() == (default_endpoint(), "BAAI/bge-m3")


def test_vectors_come_in_the_order_of_the_texts_and_have_length_1(alice: User) -> None:
    made = embed(["dog", "tax", "hound"], 5, alice.pk)
    assert made.shape == (3, 64)
    assert np.linalg.norm(made, axis=1) == pytest.approx(1, abs=1e-5)
    assert made[0] @ made[2] > 0.99
    assert made[0] @ made[1] < 0.5
