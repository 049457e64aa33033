"""Showing the part of a text that was searched for."""

from __future__ import annotations

import re

from django.utils.translation import gettext

from agents.models.message import storable
from agents.text.marks import beginnings
from agents.text.numbers import whole
from agents.text.terms import query_terms


def excerpt(text: str, query: str, size: int) -> str:
    """A text, cut to about `size` characters around the first word of the query where too long."""
    if len(text) <= size:
        return text
    looked_for = beginnings(query_terms(storable(query)))
    words = "|".join(map(re.escape, sorted(looked_for, key=len, reverse=True)))
    match = re.search(rf"\b(?:{words})" if words.isascii() else words, text, re.IGNORECASE)
    at = match.start() if words and match else 0
    start = max(0, min(at - size // 4, len(text) - size))
    cut = text[start : start + size]
    where = gettext("characters %(first)s to %(last)s of %(count)s") % {
        "first": whole(start + 1),
        "last": whole(start + len(cut)),
        "count": whole(len(text)),
    }
    return f"{'…' if start else ''}{cut}{'…' if start + len(cut) < len(text) else ''} [{where}]"
