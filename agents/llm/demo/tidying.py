"""Reflection: the demo model puts core memory in order when it is asked to."""

import re

from agents.text.similar_lines import MOST_LINES, duplicates

from .answers import joined, sentence, spoken
from .facts import Fact, fact_in
from .reply import Reply, rewriting
from .sentences import ANY_CASE
from .turn import Turn

ASKED = r"This is no message of the person: it is time to reflect\b"
IN_ORDER = "My memory is in order: nothing had to be changed."
SUBJECT = r"(?:(?:i|he|she|they|(?:the )?(?:user|human)(?:'s)?) )?"
MANY = r"(?:[^:]*[^s']s|[^:]*\b(?:note|fact|like|todo|task|remember|important|event|info|on .*)):"


def asks_to_reflect(said: str) -> bool:
    return bool(re.match(ASKED, said))


def reflection(turn: Turn) -> Reply:
    """A rewrite of each block that is not in order, with the reasons; then what was changed."""
    if turn.done:
        return Reply(" ".join(changed(turn)))
    reasons, calls = [], []
    for label, value in turn.memory.items():
        new, why = tidied(value)
        if why and (made := rewriting(turn, label, new)):
            calls.append(made)
            reasons += why
    return Reply(sentence("; ".join(reasons)) if calls else IN_ORDER, tuple(calls))


def changed(turn: Turn) -> list[str]:
    """A sentence for all blocks that were put in order, and one for each that was not."""
    well = [f"‘{each.texts[0]}’" for each in turn.done if not each.failed]
    told = [f"I put {joined(well)} in order."] if well else []
    for each in turn.done:
        if each.refusal:
            told.append(sentence(f"I left ‘{each.texts[0]}’ as it is: {each.refusal}"))
        elif each.failed:
            told.append(sentence(f"I could not put ‘{each.texts[0]}’ in order: {each.error}"))
    return told


def tidied(value: str) -> tuple[str, list[str]]:
    """A block without lines that repeat others or that later ones overtook, and why."""
    lines = value.split("\n")
    gone: set[int] = set()
    why: list[str] = []
    for later, earlier in duplicates(value).items():
        why.append(f"“{lines[later].strip()}” says what “{lines[earlier].strip()}” says")
        lines[earlier] = lines[later]  # the newer words, in the older place
        gone.add(later)
    first = max(0, len(lines) - MOST_LINES)
    for index, line in enumerate(lines[first:], first):
        fact = None if index in gone else fact_of(line)
        for before in range(first, index) if fact and fact.replaces else ():
            if fact and before not in gone and overtaken(lines[before], fact):
                why.append(f"“{line.strip()}” is newer than “{lines[before].strip()}”")
                gone.add(before)
    return "\n".join(line for index, line in enumerate(lines) if index not in gone), why


def fact_of(line: str) -> Fact | None:
    """What a line of a block says of the person: 'Lives in Riga' is told as 'I live in Riga'."""
    if re.match(MANY, line, ANY_CASE):
        return None  # there may be several of those
    said = re.sub(r"\Ayou\b", "I", re.sub(r"\Ayour\b", "my", spoken(bare(line))))
    fact = fact_in(said) if re.match(r"(?:I|my) ", said) else None
    return fact if fact and fact.block == "human" else None


def overtaken(line: str, fact: Fact) -> bool:
    """Whether a line says nothing but what the fact now says otherwise."""
    return bool(re.fullmatch(f"{SUBJECT}(?:{fact.replaces})", bare(line), ANY_CASE))


def bare(line: str) -> str:
    return line.strip(" \t-*•.;")
