"""How fast search is at 100,000 passages: one agent with all of them, and a hundred with 1,000; and
at 100,000 messages of one agent, where neighbours of what is found are looked at too.

`python -m bench.search` makes them in the database that the settings name, and prints its figures
as JSON; after `python -m tests.support.hosted_services --` it does on Postgres.
The embedding call is left out: vectors are made up, in clusters as texts' are.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any
from unittest import mock

if TYPE_CHECKING:
    import numpy as np

    from agents.models import Agent

ALL, MANY, EACH = 100_000, 100, 1_000  # passages of the one agent; agents, passages of each
DIMENSIONS = 1536
WORDS = 40  # of a passage
BATCH = 2_000
ASKED = ("what is the name of", "where did we see the", "tell me about")
COMMON_WORDS = "the of and to in is was it for on that with as his they be at one have this"
Figure = tuple[str, str, list[float], float | None]  # name, unit, samples, aim


class Language:
    """Made-up words, as frequent as words are: the n-th has a share of about 1/n."""

    def __init__(self, seed: int = 1) -> None:
        self.random = random.Random(seed)
        common = COMMON_WORDS.split()
        letters = "bcdfghklmnprstvz", "aeiou"
        made = ("".join(map(self.random.choice, letters * 3)) for _ in itertools.count())
        self.words = list(dict.fromkeys(itertools.chain(common, itertools.islice(made, 40_000))))
        self.shares = list(itertools.accumulate(1 / (n + 3) for n in range(len(self.words))))

    def text(self, words: int = WORDS) -> str:
        said = self.random.choices(self.words, cum_weights=self.shares, k=words)
        return " ".join(said).capitalize() + "."

    def word(self, first: int, last: int) -> str:
        """A word from the `first` to the `last` commonest."""
        return self.words[self.random.randrange(first, last)]


def figures(samples: int, vectors: bool) -> list[Figure]:
    """Everything that is measured, on a database of its own."""
    language = Language()
    one = make_agent("One of 100,000")
    write_passages(one, language, ALL)
    many = [make_agent(f"One of {MANY}") for _ in range(MANY)]
    for agent in many:
        write_passages(agent, language, EACH)
    write_messages(one, language, ALL)
    settle()
    questions = {
        "a rare word": lambda: language.word(5_000, 30_000),
        "a question": lambda: f"{language.random.choice(ASKED)} {language.word(100, 5_000)}?",
        "three common words": lambda: " ".join(language.word(20, 300) for _ in range(3)),
        "only the commonest": lambda: " ".join(language.word(0, 8) for _ in range(4)),
    }
    found: list[Figure] = [
        (f"search of {ALL:,}: {name}", "ms", searches(itertools.repeat(one), q, samples), 20)
        for name, q in questions.items()
    ]
    recalls = timed(lambda: recall(one, questions["a question"]()), samples)
    found.append((f"search of {ALL:,} messages: a question", "ms", recalls, 20))
    each = searches(itertools.cycle(many), questions["a question"], samples)
    found.append((f"search of one of {MANY} agents' {EACH:,}: a question", "ms", each, 20))
    found.append((f"insert at {ALL:,}", "ms", timed(lambda: insert(one, language), samples), 5))
    if vectors:
        found += semantic_figures(one, many[0], questions["a question"], samples)
    return found


def semantic_figures(
    one: Agent, small: Agent, question: Callable[[], str], samples: int
) -> list[Figure]:
    """Hybrid search, with a made-up vector for each passage and query."""
    import numpy as np
    from django.test import override_settings

    made = np.random.default_rng(1)
    middles = unit(made.standard_normal((500, DIMENSIONS), dtype=np.float32))

    def vectors(count: int) -> np.ndarray:
        noise = unit(made.standard_normal((count, DIMENSIONS), dtype=np.float32))
        return unit(middles[made.integers(0, len(middles), count)] + noise)

    def embedded(texts: list[str], seconds: float, payer_id: int) -> np.ndarray:
        return vectors(len(texts))

    served = override_settings(EMBEDDING_MODEL="bench", OPENAI_BASE_URL="http://127.0.0.1/v1")
    with served, mock.patch("agents.search.semantic.embed", embedded):
        for agent in (one, small):
            write_vectors(agent, vectors)
        settle()
        began = time.perf_counter()
        search(one, question())
        first = [(time.perf_counter() - began) * 1000]
        of_all = searches(itertools.repeat(one), question, samples)
        of_few = searches(itertools.repeat(small), question, samples)
    return [
        (f"hybrid search of {ALL:,}, the first in a process", "ms", first, None),
        (f"hybrid search of {ALL:,}", "ms", of_all, 50),
        (f"hybrid search of {EACH:,}", "ms", of_few, 50),
    ]


def unit(vectors: np.ndarray) -> np.ndarray:
    import numpy as np

    lengths: np.ndarray = np.linalg.norm(vectors, axis=1, keepdims=True)
    made: np.ndarray = vectors / lengths
    return made


def timed(do: Callable[[], object], samples: int) -> list[float]:
    """Milliseconds of each time, after a few that are not counted."""
    for _ in range(5):
        do()
    times = []
    for _ in range(samples):
        began = time.perf_counter()
        do()
        times.append((time.perf_counter() - began) * 1000)
    return times


def searches(agents: Iterator[Agent], question: Callable[[], str], samples: int) -> list[float]:
    """Milliseconds of each search, of these agents in turn."""
    return timed(lambda: search(next(agents), question()), samples)


def search(agent: Agent, query: str) -> object:
    from agents.search.hybrid import search
    from agents.search.scope import Passages

    return search(Passages(agent), query, 10)


def recall(agent: Agent, query: str) -> object:
    from agents.search.hybrid import search
    from agents.search.scope import Messages

    return search(Messages(agent), query, 10)


def insert(agent: Agent, language: Language) -> object:
    from agents.models import Editor, Passage

    return Passage.insert(agent, language.text(), ["bench"], by=Editor(Editor.API, "bench"))


# -- the passages ----------------------------------------------------------------------------------


def make_agent(name: str) -> Agent:
    from agents.accounts import owner
    from agents.memory.classes import ChatMemory
    from agents.models import Agent

    return Agent.create(owner(), name, ChatMemory())


def write_passages(agent: Agent, language: Language, count: int) -> None:
    from agents.models import Passage

    own = {"agent": agent, "editor_kind": "api", "editor_name": "bench"}
    for _ in range(0, count, BATCH):
        passages = [Passage(text=language.text(), **own) for _ in range(min(BATCH, count))]
        Passage.objects.bulk_create(passages)


def write_messages(agent: Agent, language: Language, count: int) -> None:
    from agents.models import Message

    own, roles = {"agent": agent, "conversation_id": agent.pk}, ("user", "assistant")
    for first in range(1, count + 1, BATCH):
        Message.objects.bulk_create(
            Message(number=number, role=roles[number % 2], content=language.text(), **own)
            for number in range(first, first + BATCH)
        )


def write_vectors(agent: Agent, vectors: Callable[[int], np.ndarray]) -> None:
    from agents.models import EmbeddingModel, Passage, PassageVector
    from agents.search import embedder

    model, _ = EmbeddingModel.objects.get_or_create(name="bench", dimensions=DIMENSIONS)
    passages = Passage.objects.filter(agent=agent).order_by("pk")
    for batch in in_parts(list(passages), 1_000):
        made = dict(zip((p.pk for p in batch), vectors(len(batch)), strict=True))
        embedder.store(model, Passage, PassageVector, batch, made, lambda passage: passage.text)


def in_parts(rows: list[Any], size: int) -> Iterator[list[Any]]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def settle() -> None:
    """On Postgres: statistics as autovacuum has them before long, and the index of vectors."""
    from django.db import connection

    from agents.models import EmbeddingModel
    from agents.search import pgvector

    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET maintenance_work_mem = '1GB'")
            for model in EmbeddingModel.objects.all():
                pgvector.prepare(model)
            cursor.execute("ANALYZE")


def main() -> None:
    import django
    from django.core.management import call_command

    parser = argparse.ArgumentParser(prog="python -m bench.search", description=__doc__)
    parser.add_argument("--samples", type=int, default=60)
    parser.add_argument("--no-vectors", action="store_true", help="lexical search only")
    parser.add_argument("--table", action="store_true", help="a table instead of JSON")
    chosen = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryweb.settings")
    django.setup()
    call_command("migrate", verbosity=0, interactive=False)
    made = figures(chosen.samples, not chosen.no_vectors)
    if not chosen.table:
        print(json.dumps(made))
        return
    from bench.__main__ import Row, table

    print(table([Row(name, unit, times, aim, slowest=True) for name, unit, times, aim in made]))


if __name__ == "__main__":
    main()
