"""Showing the part of a text that was searched for."""

from __future__ import annotations

import re

from agents.models.message import storable
from agents.text.terms import MARKS, query_terms


def excerpt(text: str, query: str, size: int) -> str:
    """A text, cut to about `size` characters around the first word of the query where too long."""
    if len(text) <= size:
        return text
    words = "|".join(map(re.escape, sorted(beginnings(query), key=len, reverse=True)))
    match = re.search(rf"\b(?:{words})" if words.isascii() else words, text, re.IGNORECASE)
    at = match.start() if words and match else 0
    start = max(0, min(at - size // 4, len(text) - size))
    cut = text[start : start + size]
    where = f"characters {start + 1:,} to {start + len(cut):,} of {len(text):,}"
    return f"{'…' if start else ''}{cut}{'…' if start + len(cut) < len(text) else ''} [{where}]"


def beginnings(query: str) -> set[str]:
    """What the forms of each word of a query begin with: the word, or a stem that is shorter."""
    words = query_terms(storable(query)).words
    return {min((form.lstrip(MARKS) for form in forms), key=len) for forms in words}
