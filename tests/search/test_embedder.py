"""The embedder: vectors made in the background, and how the nearest of them are found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.db import connection
from pytest_django import Settings

from agents.llm import ModelError
from agents.llm.embeddings import embed
from agents.memory.classes import ChatMemory
from agents.models import Agent, EmbeddingModel, Passage, PassageVector
from agents.search import embedder, exact, pgvector
from agents.search.embedder import Embedder, progress
from tests.support.fake_openai import FakeOpenAI
from tests.support.searching import BY, best_match, make_vectors

pytestmark = pytest.mark.usefixtures("embedding")


def test_what_was_interrupted_goes_on(
    agent: Agent, embedding: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedder, "BATCH", 4)
    for n in range(10):
        Passage.insert(agent, f"note {n}", by=BY)
    asked = iter(range(100))

    def failing(texts: list[str], seconds: float, payer_id: int) -> Any:
        if next(asked) == 1:
            raise ModelError("It broke off.", retry=True)
        return embed(texts, seconds, payer_id)

    monkeypatch.setattr(embedder, "embed", failing)
    with pytest.raises(ModelError):
        make_vectors()
    assert progress() == (4, 10, "fake-embedding")
    assert make_vectors() == 6
    assert progress(agent) == (10, 10, "fake-embedding")
    texts = [text for texts in embedding.embedded for text in texts]
    assert sorted(texts) == sorted(f"note {n}" for n in range(10)), "Each is embedded once"


@pytest.mark.django_db(transaction=True)
def test_another_model_embeds_all_anew_while_search_goes_on(
    agent: Agent, notes: list[Passage], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_vectors()
    settings.EMBEDDING_MODEL = "other-embedding"
    assert progress() == (0, 3, "other-embedding")
    assert best_match(agent, "hound") == "Bob owns a hound"
    monkeypatch.setattr(embedder, "BATCH", 1)
    working = Embedder()
    done = iter(range(100))
    monkeypatch.setattr(
        working, "missing", lambda *a: Embedder.missing(working, *a) if next(done) < 1 else []
    )
    working.round()
    assert progress() == (1, 3, "other-embedding")
    assert best_match(agent, "vehicle") == "Her automobile is red", "The newest are embedded first"
    assert make_vectors() == 2
    assert best_match(agent, "puppy") == "Bob owns a hound"
    assert progress() == (3, 3, "other-embedding")
    assert [model.dimensions for model in EmbeddingModel.objects.order_by("pk")] == [64, 48]


def test_a_text_that_changed_meanwhile_is_embedded_again(
    agent: Agent, notes: list[Passage], monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(texts: list[str], seconds: float, payer_id: int) -> Any:
        Passage.objects.filter(pk=notes[0].pk).update(text="Bob sees his physician")
        monkeypatch.setattr(embedder, "embed", embed)
        return embed(texts, seconds, payer_id)

    monkeypatch.setattr(embedder, "embed", slow)
    assert make_vectors() == 3
    assert progress() == (2, 3, "fake-embedding")
    assert make_vectors() == 1
    assert best_match(agent, "doctor") == "Bob sees his physician"
    assert progress() == (3, 3, "fake-embedding")


def test_a_later_round_looks_at_recent_rows_only(
    agent: Agent, notes: list[Passage], monkeypatch: pytest.MonkeyPatch
) -> None:
    working = Embedder()
    assert working.round() == 3
    monkeypatch.setattr(embedder, "RECENT", 1)
    PassageVector.objects.filter(of=notes[0]).delete()
    Passage.insert(agent, "A new puppy", by=BY)
    assert working.round() == 1
    monkeypatch.setattr(embedder, "SWEEP_SECONDS", 0)
    assert working.round() == 1


@pytest.mark.slow
def test_long_texts_are_sent_in_part_and_in_parts(agent: Agent, embedding: FakeOpenAI) -> None:
    for n in range(20):
        Passage.insert(agent, f"{n} " + "long " * 10_000, by=BY)
    assert make_vectors() == 20
    assert all(sum(map(len, texts)) <= 100_000 for texts in embedding.embedded)
    assert {len(text) for texts in embedding.embedded for text in texts} == {8_000}


@pytest.mark.hosted_only
@pytest.mark.django_db(transaction=True)
def test_a_worker_takes_its_turn(agent: Agent, notes: list[Passage]) -> None:
    embedder.take_turn()
    assert progress() == (3, 3, "fake-embedding")


# -- how the nearest are found -------------------------------------------------------------------


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
    make_vectors()
    for of, text in ((agent, "A hound"), (other, "A puppy"), (agent, "A hound")):
        assert best_match(of, "dog") == text
        assert len(exact._kept) == 1


@pytest.mark.hosted_only
def test_postgres_keeps_vectors_as_pgvector_has_them(agent: Agent, notes: list[Passage]) -> None:
    assert pgvector.is_there()
    make_vectors()
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexdef FROM pg_indexes WHERE indexname LIKE '%_hnsw_%'")
        made = [definition for (definition,) in cursor.fetchall()]
    assert len(made) == 2
    assert all("hnsw" in each and "halfvec(64)" in each for each in made)
