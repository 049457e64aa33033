"""What searches of archival and recall memory found, and which of it answers a question."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .sentences import ANY_CASE, clauses, sentences

NOTHING = (
    r"\W*(?:none|null|no (?:\w+ )*(?:results?|tasks?|passages?|messages?)\b.*|.*\bis empty)?\W*"
)
MOST_TOLD = 5  # results
CLOSE = 0.5  # of the best score: what scored less is left out
STEM = 5  # letters by which two forms of a word are known to be one
ASKS = (
    r"(?:tell me (?:about )?)?(?:what|what's|whats|who|who's|whose|where|which|how|when|why)\b"
    r"|tell me about\b"
    r"|(?:is|are|was|were|do|does|did|has|have|had|will|can|could|should)"
    r" (?:i|you|we|he|she|it|they|my|your|our|his|her|their|the|an?|there|any\w*|(?-i:[A-Z]\w*))\b"
)
IDLE_WORDS = frozenset(
    """
    a about above after again all also am an and any anyone anything are as at be been before but
    by can could did do does doing else ever for from get give go going good had has have he hello
    help her here hey hi him his how i if in is it its just know let like many may me mean more most
    much my need new no not now of off ok on one or our out over please remember say said she should
    so some something talk tell than that the their them then there these they thing think this
    those time to too up us use used very was we well were what whats when where which who whom
    whose why will with would you your yours name called mine yet still really sure
    """.split()  # noqa: SIM905
)


@dataclass(frozen=True)
class Result:
    """One thing found: a passage, or a message with who said it and when."""

    text: str
    role: str = ""
    time: str = ""  # ISO 8601
    score: float = 0.0


def results_in(returned: str) -> list[Result]:
    """The results of a search, whether returned as JSON or as lines."""
    try:
        found = json.loads(returned)
    except ValueError:
        found = [] if re.fullmatch(NOTHING, returned, ANY_CASE) else returned.splitlines()
    if isinstance(found, dict):
        found = next((each for each in found.values() if isinstance(each, list)), [found])
    results = (result_of(each) for each in (found if isinstance(found, list) else [found]))
    return [result for result in results if result.text]


def result_of(item: Any) -> Result:
    if not isinstance(item, dict):
        return Result(str(item or "").strip(" -*\t"))
    text = item.get("content") or item.get("text") or item
    score = item.get("score")
    return Result(
        " ".join(str(text).split()),
        str(item.get("role") or ""),
        str(item.get("time") or ""),
        score if isinstance(score, float) else 0.0,
    )


def best(results: Sequence[Result]) -> list[Result]:
    """The results that come close to the best, in their order."""
    least = CLOSE * max((each.score for each in results), default=0)
    return [each for each in results if each.score >= least][:MOST_TOLD]


def on(query: str, results: Sequence[Result]) -> list[Result]:
    """Of the results those that share most words with a query, and none that shares no word."""
    wanted = stems(query)
    shared = [len(wanted & stems(each.text)) for each in results]
    most = max(shared, default=0)
    return [r for r, count in zip(results, shared, strict=True) if count and count == most][:3]


def telling(text: str) -> list[str]:
    """The words of a text that say what it is about."""
    words = re.findall(r"[\w'-]*\w", re.sub(r"'s\b", "", text))
    return [word for word in words if word.casefold() not in IDLE_WORDS]


def stems(text: str) -> set[str]:
    return {word.casefold().rstrip("s")[:STEM] for word in telling(text)}


def questions(text: str) -> list[str]:
    """The clauses of a message that ask something."""
    found = (clause for sentence in sentences(text) for clause in clauses(sentence))
    return [clause for clause in found if re.match(ASKS, clause, ANY_CASE)]
