"""How much search finds: questions about long conversations, and the turns that answer them.

`python -m bench.retrieval [FILE …]` stores each conversation as an agent's messages in the database
that the settings name, searches with every question, takes the agents away again, and prints how
much was found. Without a file it takes `bench/conversations.json`, which is ours. A file is JSON:

    {"conversations": [{
        "id": "marta",
        "turns": [
            {"id": 1, "time": "2025-01-12T19:05:00Z", "role": "user", "text": "Hi! I just moved …"},
            {"id": 2, "time": "2025-01-12T19:06:10Z", "role": "assistant", "text": "…"}],
        "questions": [{"question": "Where did Marta move to?", "evidence": [1]}]}]}

The turns are in their order; an `id` is any string or number, unique in its conversation; `role`
is "user" or "assistant"; `evidence` names the turns that hold the answer. A question without
evidence is left out.

R@5 and R@10 are the share of a question's evidence among the first 5 and 10 results, MRR is one
divided by the rank of its first evidence (0 beyond 10), each a mean over all questions. Lexical
search is measured always, hybrid where MEMORYWEB_EMBEDDING_MODEL and its endpoint are set.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agents.models import Agent

SAMPLE = Path(__file__).parent / "conversations.json"
LISTED = 10  # results of each search


@dataclass(frozen=True)
class Question:
    """A question, and the keys of the messages that answer it."""

    agent: Agent
    text: str
    evidence: frozenset[int]


@dataclass(frozen=True)
class Figures:
    """Means over all questions, from 0 to 1."""

    recall_at_5: float
    recall_at_10: float
    mrr: float

    def __str__(self) -> str:
        return f"R@5 {self.recall_at_5:6.1%}   R@10 {self.recall_at_10:6.1%}   MRR {self.mrr:.3f}"


def measure(questions: Sequence[Question], ranked: Sequence[list[int]]) -> Figures:
    """What the ranked keys of each question's results come to."""
    firsts, fives, tens = [], [], []
    for question, keys in zip(questions, ranked, strict=True):
        ranks = [rank for rank, key in enumerate(keys[:LISTED], 1) if key in question.evidence]
        fives.append(sum(rank <= 5 for rank in ranks) / len(question.evidence))
        tens.append(len(ranks) / len(question.evidence))
        firsts.append(1 / ranks[0] if ranks else 0.0)
    return Figures(fmean(fives), fmean(tens), fmean(firsts))


# -- the conversations -----------------------------------------------------------------------------


@contextmanager
def stored(conversations: Sequence[dict[str, Any]]) -> Iterator[list[Question]]:
    """The conversations as messages of agents, which go in the end; their questions."""
    from agents.accounts import owner
    from agents.memory.classes import ChatMemory
    from agents.models import Agent

    agents = [Agent.create(owner(), str(each["id"]), ChatMemory()) for each in conversations]
    try:
        questions = []
        for agent, conversation in zip(agents, conversations, strict=True):
            keys = store_turns(agent, conversation["turns"])
            for each in conversation["questions"]:
                evidence = frozenset(keys[turn] for turn in each["evidence"])
                if evidence:
                    questions.append(Question(agent, each["question"], evidence))
        yield questions
    finally:
        for agent in agents:
            agent.purge()


def store_turns(agent: Agent, turns: Sequence[dict[str, Any]]) -> dict[Any, int]:
    """Store what was said, at its time; the messages' keys by the turns' ids."""
    from agents.models import Message

    first = agent.record(messages=len(turns)) - len(turns) + 1
    messages = Message.objects.bulk_create(
        Message(
            agent=agent,
            conversation_id=agent.pk,
            number=number,
            role=turn["role"],
            content=turn["text"],
        )
        for number, turn in enumerate(turns, first)
    )
    for message, turn in zip(messages, turns, strict=True):
        message.created_at = datetime.fromisoformat(turn["time"])
    Message.objects.bulk_update(messages, ["created_at"], batch_size=500)
    return {turn["id"]: message.pk for turn, message in zip(turns, messages, strict=True)}


# -- what is measured ------------------------------------------------------------------------------


def search_all(questions: Sequence[Question]) -> list[list[int]]:
    """The keys each question finds, best first, by search as it is set up."""
    from agents.search.hybrid import search
    from agents.search.scope import Messages

    return [
        [row.pk for row, _ in search(Messages(each.agent), each.text, LISTED).rows]
        for each in questions
    ]


def figures(conversations: Sequence[dict[str, Any]]) -> dict[str, Figures]:
    """The figures of lexical search, and of hybrid search where there is a model."""
    from django.test import override_settings

    from agents.llm.embeddings import embedding_model
    from agents.search.embedder import Embedder

    with stored(conversations) as questions:
        with override_settings(EMBEDDING_MODEL=""):
            found = {"lexical": measure(questions, search_all(questions))}
        if embedding_model() is not None:
            Embedder().round()
            found["hybrid"] = measure(questions, search_all(questions))
    return found


def main() -> None:
    import django
    from django.core.management import call_command

    parser = argparse.ArgumentParser(
        prog="python -m bench.retrieval",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", nargs="*", type=Path, default=[SAMPLE], metavar="FILE")
    parser.add_argument("--each", action="store_true", help="each conversation by itself too")
    chosen = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryweb.settings")
    django.setup()
    call_command("migrate", verbosity=0, interactive=False)
    for file in chosen.files:
        conversations = json.loads(file.read_text("utf-8"))["conversations"]
        report(file.name, conversations)
        for conversation in conversations if chosen.each else ():
            report(str(conversation["id"]), [conversation])


def report(name: str, conversations: Sequence[dict[str, Any]]) -> None:
    turns = sum(len(each["turns"]) for each in conversations)
    questions = sum(bool(q["evidence"]) for each in conversations for q in each["questions"])
    print(f"{name}: {turns:,} turns, {questions:,} questions")
    for kind, found in figures(conversations).items():
        print(f"  {kind:8} {found}")


if __name__ == "__main__":
    main()
