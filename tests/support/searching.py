"""Texts in many scripts, and what a search, by words or by meaning, finds among them."""

from __future__ import annotations

import json
from typing import Any, Protocol

from agents.models import Agent, Editor
from agents.search.embedder import Embedder
from agents.search.hybrid import search
from agents.search.scope import Passages

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


def found(agent: Agent, query: str, **scope: Any) -> list[str]:
    return [row.text for row, _ in search(Passages(agent, **scope), query, 10).rows]


def texts(returned: str) -> list[str]:
    """The texts of the results that a tool returned."""
    return [result["text"] for result in json.loads(returned)["results"]]


def best_match(agent: Agent, query: str, **scope: Any) -> str | None:
    """The passage that a search finds first."""
    return next(iter(found(agent, query, **scope)), None)


def make_vectors() -> int:
    """Make all vectors that are missing; how many that were."""
    return Embedder().round()


class Call(Protocol):
    """Have the agent call a tool in answer to a message; what the tool returned."""

    def __call__(self, name: str, said: str = "Go on", **arguments: Any) -> str: ...
