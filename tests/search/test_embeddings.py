"""Search by meaning: vectors made in the background, whatever the endpoint does meanwhile."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.db import connection
from pytest_django import Settings

from agents.llm import ModelError, endpoints
from agents.llm.embeddings import RefusedTexts, embed, embedding_model
from agents.memory.classes import ChatMemory
from agents.models import (
    Agent,
    Editor,
    EmbeddingModel,
    Message,
    MessageVector,
    Passage,
    PassageVector,
    ToolCall,
)
from agents.search import embedder, exact, hybrid, pgvector, semantic
from agents.search.embedder import Embedder, progress
from agents.search.hybrid import search
from agents.search.scope import Messages, Passages
from tests.support.fake_openai import FakeOpenAI, refuse_connection
from tests.support.openai_answers import Refusal

BY = Editor(Editor.API, "script")


@pytest.fixture(autouse=True)
def embedding(settings: Settings, model: FakeOpenAI) -> FakeOpenAI:
    """The endpoint, which makes embeddings too; nothing is remembered of earlier tests."""
    settings.EMBEDDING_MODEL = "fake-embedding"
    semantic.forget()
    exact.forget()
    return model


@pytest.fixture
def passages(agent: Agent) -> list[Passage]:
    said = ("Bob owns a hound", "The tax is due in May", "Her automobile is red")
    return [Passage.insert(agent, text, by=BY) for text in said]


def first(agent: Agent, query: str, **scope: Any) -> str | None:
    rows = search(Passages(agent, **scope), query, 10).rows
    return rows[0][0].text if rows else None


def make_all() -> int:
    return Embedder().round()


# -- finding ---------------------------------------------------------------------------------------


def test_another_word_for_the_same_is_found(agent: Agent, passages: list[Passage]) -> None:
    assert first(agent, "puppy") is None
    assert make_all() == 3
    assert first(agent, "puppy") == "Bob owns a hound"
    assert first(agent, "vehicle") == "Her automobile is red"
    assert search(Passages(agent), "puppy", 10).semantic is True


def test_both_lists_are_fused_by_score(agent: Agent, passages: list[Passage]) -> None:
    Passage.insert(agent, "A dog is a dog", by=BY)
    make_all()
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
        Message.objects.create(agent=agent, number=number, **line)
    make_all()
    assert MessageVector.objects.count() == 3
    assert make_all() == 0
    (row, _), *_ = search(Messages(agent), "doctor", 10).rows
    assert row.content == "I met my physician"
    (row, _), *_ = search(Messages(agent), "car", 10).rows
    assert Messages.text(row) == "A fine automobile"


@pytest.mark.parametrize("few", [0, 10_000_000])
def test_only_what_is_asked_for_is_found(
    agent: Agent, passages: list[Passage], bob: User, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(pgvector, "FEW", few)
    monkeypatch.setattr(exact, "FEW_BYTES", few)
    other = Agent.create(bob, "Other", ChatMemory())
    Passage.insert(other, "puppy puppy", ["pets"], by=BY)
    Passage.insert(agent, "A puppy, tagged", ["pets"], by=BY)
    make_all()
    assert first(agent, "hound") == "Bob owns a hound"
    assert first(agent, "hound", tags=("pets",)) == "A puppy, tagged"
    assert len(search(Passages(agent, tags=("pets",)), "hound", 10).rows) == 1
    assert first(other, "hound") == "puppy puppy"
    assert len(search(Passages(other), "hound", 10).rows) == 1


def test_an_edited_or_deleted_row_is_not_found_by_what_it_said(
    agent: Agent, passages: list[Passage]
) -> None:
    make_all()
    assert first(agent, "puppy") == "Bob owns a hound"
    passages[0].edit(text="Bob sees his physician", by=BY)
    Passage.objects.filter(pk=passages[1].pk).update(text="A glad day")
    assert PassageVector.objects.count() == 1
    assert make_all() == 2
    assert first(agent, "doctor") == "Bob sees his physician"
    assert first(agent, "happy") == "A glad day"
    passages[0].remove()
    assert "physician" not in str(search(Passages(agent), "doctor", 10).rows)
    assert passages[2].edit(tags=["red"], by=BY)
    assert make_all() == 0


# -- failing ---------------------------------------------------------------------------------------


def test_where_the_endpoint_fails_search_is_by_words(
    agent: Agent, passages: list[Passage], embedding: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_all()
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
    agent: Agent, passages: list[Passage], settings: Settings
) -> None:
    settings.OPENAI_BASE_URL = refuse_connection()
    assert search(Passages(agent), "hound", 10).semantic is False
    with pytest.raises(ModelError, match="Nothing answers"):
        make_all()
    assert Passage.objects.count() == 3


def test_without_a_model_nothing_is_asked(
    agent: Agent, passages: list[Passage], embedding: FakeOpenAI, settings: Settings
) -> None:
    settings.EMBEDDING_MODEL = ""
    assert make_all() == 0
    assert progress() is None
    assert search(Passages(agent), "hound", 10).semantic is None
    settings.EMBEDDING_MODEL = "fake-embedding"
    settings.OPENAI_BASE_URL = ""
    assert embedding_model() is None, "The demo model has no embeddings"
    assert embedding.embedded == []


def test_a_text_that_the_model_refuses_does_not_hold_up_the_others(
    agent: Agent, passages: list[Passage], embedding: FakeOpenAI
) -> None:
    embedding.refused_in_embedding = "tax"
    assert make_all() == 3
    assert first(agent, "puppy") == "Bob owns a hound"
    assert progress() == (3, 3, "fake-embedding")
    asked = len(embedding.embedded)
    assert make_all() == 0
    assert len(embedding.embedded) == asked


def test_an_endpoint_that_refuses_everything_marks_nothing(
    agent: Agent, passages: list[Passage], embedding: FakeOpenAI
) -> None:
    embedding.embedding_refusal = Refusal("Not an embedding model")
    with pytest.raises(RefusedTexts):
        make_all()
    embedding.embedding_refusal = None
    assert make_all() == 3


def test_pauses_grow_while_the_endpoint_fails() -> None:
    waiting = embedder.Backoff(clock=lambda: 100.0)
    pauses = []
    for _ in range(12):
        waiting.until = 0.0
        waiting.after(ModelError("Down"))
        pauses.append(round(waiting.until - 100.0))
    assert pauses[:4] == [4, 8, 16, 32]
    assert pauses[-2:] == [300, 300]


# -- the background --------------------------------------------------------------------------------


def test_what_was_interrupted_goes_on(
    agent: Agent, embedding: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedder, "BATCH", 4)
    for n in range(10):
        Passage.insert(agent, f"note {n}", by=BY)
    asked = iter(range(100))

    def failing(texts: list[str], seconds: float) -> Any:
        if next(asked) == 1:
            raise ModelError("It broke off.", retry=True)
        return embed(texts, seconds)

    monkeypatch.setattr(embedder, "embed", failing)
    with pytest.raises(ModelError):
        make_all()
    assert progress() == (4, 10, "fake-embedding")
    assert make_all() == 6
    assert progress(agent) == (10, 10, "fake-embedding")
    texts = [text for texts in embedding.embedded for text in texts]
    assert sorted(texts) == sorted(f"note {n}" for n in range(10)), "Each is embedded once"


@pytest.mark.django_db(transaction=True)
def test_another_model_embeds_all_anew_while_search_goes_on(
    agent: Agent, passages: list[Passage], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_all()
    settings.EMBEDDING_MODEL = "other-embedding"
    assert progress() == (0, 3, "other-embedding")
    assert first(agent, "hound") == "Bob owns a hound"
    monkeypatch.setattr(embedder, "BATCH", 1)
    working = Embedder()
    done = iter(range(100))
    monkeypatch.setattr(
        working, "missing", lambda *a: Embedder.missing(working, *a) if next(done) < 1 else []
    )
    working.round()
    assert progress() == (1, 3, "other-embedding")
    assert first(agent, "vehicle") == "Her automobile is red", "The newest are embedded first"
    assert make_all() == 2
    assert first(agent, "puppy") == "Bob owns a hound"
    assert progress() == (3, 3, "other-embedding")
    assert [model.dimensions for model in EmbeddingModel.objects.order_by("pk")] == [64, 48]


def test_a_text_that_changed_meanwhile_is_embedded_again(
    agent: Agent, passages: list[Passage], monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(texts: list[str], seconds: float) -> Any:
        Passage.objects.filter(pk=passages[0].pk).update(text="Bob sees his physician")
        monkeypatch.setattr(embedder, "embed", embed)
        return embed(texts, seconds)

    monkeypatch.setattr(embedder, "embed", slow)
    assert make_all() == 3
    assert progress() == (2, 3, "fake-embedding")
    assert make_all() == 1
    assert first(agent, "doctor") == "Bob sees his physician"
    assert progress() == (3, 3, "fake-embedding")


def test_a_later_round_looks_at_recent_rows_only(
    agent: Agent, passages: list[Passage], monkeypatch: pytest.MonkeyPatch
) -> None:
    working = Embedder()
    assert working.round() == 3
    monkeypatch.setattr(embedder, "RECENT", 1)
    PassageVector.objects.filter(of=passages[0]).delete()
    Passage.insert(agent, "A new puppy", by=BY)
    assert working.round() == 1
    monkeypatch.setattr(embedder, "SWEEP_SECONDS", 0)
    assert working.round() == 1


@pytest.mark.slow
def test_long_texts_are_sent_in_part_and_in_parts(agent: Agent, embedding: FakeOpenAI) -> None:
    for n in range(20):
        Passage.insert(agent, f"{n} " + "long " * 10_000, by=BY)
    assert make_all() == 20
    assert all(sum(map(len, texts)) <= 100_000 for texts in embedding.embedded)
    assert {len(text) for texts in embedding.embedded for text in texts} == {8_000}


def test_a_query_is_embedded_once_and_ahead_of_its_transaction(
    agent: Agent, passages: list[Passage], embedding: FakeOpenAI
) -> None:
    make_all()
    before = len(embedding.embedded)
    arguments = json.dumps({"query": " puppy "})
    hybrid.get_ready(ToolCall("1", "archival_memory_search", arguments))
    assert embedding.embedded[before:] == [["puppy"]]
    assert first(agent, "puppy") == "Bob owns a hound"
    for call in ("no JSON", "[]", "{}", '{"query": 1}', '{"query": "  "}'):
        hybrid.get_ready(ToolCall("1", "archival_memory_search", call))
    hybrid.get_ready(ToolCall("1", "core_memory_append", arguments))
    assert len(embedding.embedded) == before + 1


@pytest.mark.hosted_only
@pytest.mark.django_db(transaction=True)
def test_a_worker_takes_its_turn(agent: Agent, passages: list[Passage]) -> None:
    embedder.take_turn()
    assert progress() == (3, 3, "fake-embedding")


# -- the endpoint ----------------------------------------------------------------------------------


def test_an_endpoint_can_be_named(settings: Settings, embedding: FakeOpenAI) -> None:
    settings.ENDPOINTS = {"lab": embedding.base_url}
    settings.EMBEDDING_MODEL = "lab/fake-embedding"
    where = embedding_model()
    assert where is not None
    assert (where[0].name, where[1]) == ("lab", "fake-embedding")
    settings.EMBEDDING_MODEL = "BAAI/bge-m3"
    assert embedding_model() == (endpoints.default_endpoint(), "BAAI/bge-m3")


def test_vectors_come_in_the_order_of_the_texts_and_have_length_1() -> None:
    made = embed(["dog", "tax", "hound"], 5)
    assert made.shape == (3, 64)
    assert np.linalg.norm(made, axis=1) == pytest.approx(1, abs=1e-5)
    assert made[0] @ made[2] > 0.99
    assert made[0] @ made[1] < 0.5


# -- how the nearest are found ---------------------------------------------------------------------


@pytest.mark.slow
def test_signs_find_what_an_exact_comparison_finds() -> None:
    made = np.random.default_rng(7)
    dimensions, count = 512, 20_000
    middles = made.standard_normal((200, dimensions), dtype=np.float32)
    vectors = middles[made.integers(0, 200, count)]
    vectors = vectors + made.standard_normal((count, dimensions), dtype=np.float32) + 0.5
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    kept = exact.AgentVectors(dimensions)
    for start in range(0, count, 2_000):
        kept.add(np.arange(start, start + 2_000), vectors[start : start + 2_000])
    assert kept.vectors is None, "So many are kept as signs"
    assert kept.bytes < count * dimensions
    agreed = []
    for asked in vectors[::2_000]:
        best = set(np.argsort(-(vectors @ asked))[:10].tolist())
        agreed.append(len(best & {key for key, _ in kept.candidates(asked, 10, None)}) / 10)
    assert np.mean(agreed) > 0.97


def test_memory_for_vectors_is_bounded(agent: Agent, bob: User, monkeypatch: Any) -> None:
    if connection.vendor == "postgresql":
        monkeypatch.setattr(pgvector, "is_there", lambda cursor=None: False)
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE agents_passagevector DROP COLUMN vector")
            cursor.execute("ALTER TABLE agents_passagevector ADD COLUMN vector bytea")
    monkeypatch.setattr(exact, "_kept", exact.cache_of(1))
    other = Agent.create(bob, "Other", ChatMemory())
    Passage.insert(agent, "A hound", by=BY)
    Passage.insert(other, "A puppy", by=BY)
    make_all()
    for of, text in ((agent, "A hound"), (other, "A puppy"), (agent, "A hound")):
        assert first(of, "dog") == text
        assert len(exact._kept) == 1


@pytest.mark.hosted_only
def test_postgres_keeps_vectors_as_pgvector_has_them(agent: Agent, passages: list[Passage]) -> None:
    assert pgvector.is_there()
    make_all()
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexdef FROM pg_indexes WHERE indexname LIKE '%_hnsw_%'")
        made = [definition for (definition,) in cursor.fetchall()]
    assert len(made) == 2
    assert all("hnsw" in each and "halfvec(64)" in each for each in made)
