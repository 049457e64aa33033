"""The terms of a text: what the index holds, and what a query asks it for.

A term is a word in lower case, without diacritics, without the s of a plural. Scripts that put no
space between words (CJK, kana, Thai, emoji, also Korean with its endings) give every character and
every pair of neighbours, so that a word of two is found inside any sentence. No word is left out as
too common, and no language's grammar is assumed beyond that s: what is common weighs little
(`lexical`), and other forms of a word are found by its beginning or by meaning.

On SQLite the triggers call these functions; Postgres has the same in SQL (`index`), which a test
holds against each other.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from hashlib import md5
from itertools import pairwise

from agents.models.message import storable

LONGEST = 100_000  # characters of a text that are indexed
LONGEST_WORD = 64
MOST_ASKED = 32  # terms of one query

# Character classes, in escapes that Python's and Postgres' regular expressions both read.
SEPARATORS = (
    r"\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf"
    r"\u00d7\u00f7\u02c2-\u02df\u2000-\u206f\u20a0-\u20cf\u2190-\u25ff\u27c0-\u2bff\u2e00-\u2e7f"
    r"\u3000-\u3004\u3008-\u3020\u3030\u30fb\ue000-\uf8ff\ufe00-\ufe6f\ufeff\ufff0-\uffff"
)
UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2600-\u27bf\u2e80-\u2fdf\u3005-\u3007"
    r"\u3021-\u302f\u3031-\u30fa\u30fc-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    r"\U0001b000-\U0001b2ff\U0001f000-\U0001faff\U00020000-\U0003ffff"
)
_marks = re.compile(r"[\u0300-\u036f]+")
_separators = re.compile(rf"[\0{SEPARATORS}\ud800-\udfff]+")
_unspaced = re.compile(rf"[{UNSPACED}]+")


def folded(text: str) -> str:
    """Lower case, no diacritics, one form for each character; words apart by spaces."""
    if text.isascii():
        text = text.lower()
    else:
        text = _marks.sub("", unicodedata.normalize("NFKD", text)).lower()
        text = unicodedata.normalize("NFKC", text).replace("ς", "σ").replace("ß", "ss")
    return _separators.sub(" ", text)


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """A word without the s of a plural, cut at 64 characters."""
    word = word[:LONGEST_WORD]
    if len(word) < 4 or word[-1] != "s" or word[-2] in "us":
        return word
    if word.endswith("ies") and word[-4] not in "ea":
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "sses", "xes", "zzes")):
        return word[:-2]
    return word[:-1]


def tokens(text: str, *, asked: bool = False) -> Iterator[str]:
    """The terms in a text, as often as they stand there.

    Of a run without spaces a query asks only for the pairs, where there are any.
    """
    said = folded(text[:LONGEST])
    return map(stem, said.split()) if said.isascii() else _unspaced_too(said, asked)


def _unspaced_too(said: str, asked: bool) -> Iterator[str]:
    for word in said.split():
        if word.isascii():
            yield stem(word)
            continue
        for run in _unspaced.findall(word):
            if not asked or len(run) == 1:
                yield from run
            yield from map("".join, pairwise(run))
        for rest in _unspaced.split(word):
            if rest:
                yield stem(rest)


def query_terms(query: str) -> list[str]:
    """The distinct terms a query asks for; of a very long one the 32 longest."""
    distinct = list(dict.fromkeys(tokens(storable(query), asked=True)))
    return sorted(distinct, key=len, reverse=True)[:MOST_ASKED]


# -- what is indexed of a row ----------------------------------------------------------------------


def tag_term(tag: str) -> str:
    """A tag as a term that no text contains."""
    return "\ue001" + md5(storable(tag).encode(), usedforsecurity=False).hexdigest()


def passage_owner(agent: str) -> str:
    """The term of every passage of an agent (32 hex digits)."""
    return f"\ue000p{agent}"


def message_owner(role: str, agent: str) -> str:
    """The term of every message of an agent in that role."""
    return f"\ue000{role[:1]}{agent}"


def passage_terms(agent: str, text: str, tags: str) -> str:
    """What SQLite's index holds of a passage; `tags` is JSON."""
    marked = [tag_term(tag) for tag in json.loads(tags) if isinstance(tag, str)]
    return " ".join([passage_owner(agent), *marked, *dict.fromkeys(tokens(text))])


def message_terms(agent: str, role: str, content: str, tool_calls: str) -> str:
    """What SQLite's index holds of a message; `tool_calls` is JSON."""
    text = said(content, json.loads(tool_calls)) if "send_message" in tool_calls else content
    return " ".join([message_owner(role, agent), *dict.fromkeys(tokens(text))])


def said(content: str, tool_calls: list[dict[str, str]]) -> str:
    """What a message says: its text, and what the agent told the person by `send_message`."""
    parts = [content]
    for call in tool_calls:
        if call.get("name") == "send_message":
            try:
                told = json.loads(call["arguments"])["message"]
            except (ValueError, LookupError, TypeError, RecursionError):
                continue
            parts.append(told if isinstance(told, str) else "")
    return storable("\n".join(filter(None, parts)))


# -- showing a part --------------------------------------------------------------------------------


def excerpt(text: str, query: str, size: int) -> str:
    """A text, cut to about `size` characters around the first word of the query where too long."""
    if len(text) <= size:
        return text
    asked = {word for word in _separators.sub(" ", storable(query)).split() if len(word) > 1}
    words = "|".join(re.escape(word) for word in sorted(asked, key=len)[-MOST_ASKED:])
    found = re.search(words, text, re.IGNORECASE) if words else None
    start = max(0, min((found.start() if found else 0) - size // 4, len(text) - size))
    cut = text[start : start + size]
    where = f"characters {start + 1:,} to {start + len(cut):,} of {len(text):,}"
    return f"{'…' if start else ''}{cut}{'…' if start + len(cut) < len(text) else ''} [{where}]"
