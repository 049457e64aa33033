"""What the demo model changes in core memory on being told something: facts in, edits out."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from .facts import LIVES_LINE, NAME_LINE, REST, Fact, fact_in, key_line, told
from .sentences import ANY_CASE, clauses, opened, sentences

START = r"(?:^|(?<=[.;,] )|(?<=- ))(?:(?:i|he|she|they|(?:the )?(?:user|human)(?:'s)?) )?"
FORGET = (
    r"(?:forget|delete|remove|erase|(?:don't|do not) remember|stop remembering)"
    r"(?: about| that\b| the fact that)? (?P<x>.+?)(?:,? from (?:your |the |core )*memory)?"
)
EVERYTHING = r"(?:everything|all|it all|anything)(?: (?:that )?you know)?(?: about me)?|me"
PLACES = (
    (r"my name|what i(?:'m| am) called|who i am", NAME_LINE),
    (r"where i live|my (?:city|town|home)", LIVES_LINE),
    (r"where i work|what i do|my (?:job|work|profession)", rf"works? {REST}|job: {REST}"),
    (r"how old i am|my age", rf"age: {REST}"),
    (r"what i (?P<v>\w+)", rf"<v>s? {REST}"),
)


@dataclass(frozen=True)
class Edit:
    """A change to a block: nothing old appends, nothing new takes away."""

    block: str
    old: str
    new: str


def edits_told(text: str, memory: Mapping[str, str]) -> list[Edit]:
    """The edits a message calls for, in order; what memory says already calls for none."""
    values, edits = dict(memory), []
    for edit in all_edits(text, values):
        value = values.get(edit.block, "")
        values[edit.block] = (
            value.replace(edit.old, edit.new) if edit.old else f"{value}\n{edit.new}"
        )
        edits.append(edit)
    return edits


def all_edits(text: str, values: dict[str, str]) -> Iterator[Edit]:
    """Each edit, found in the values as the ones before it leave them."""
    for wish in forgetting(text):
        block = label_of("human", values)
        yield from (Edit(block, old, "") for old in held(wish, values.get(block, "")))
    for fact in told(text):
        block = label_of(fact.block, values)
        if change := change_for(fact, values.get(block, "")):
            yield Edit(block, *change)


def label_of(block: str, labels: Mapping[str, str]) -> str:
    """The label under which this memory keeps what is known of the human, or of the agent."""
    if block in labels or not labels:
        return block
    own = next((label for label in labels if label in ("persona", "agent")), "persona")
    return own if block == "persona" else next((each for each in labels if each != own), block)


def change_for(fact: Fact, value: str) -> tuple[str, str] | None:
    """What to replace by what; None when the value says it already."""
    if fact.instead_of:
        right, wrong = fact.line.removeprefix("Name: "), rf"\b{re.escape(fact.instead_of)}\b"
        for old in statements(value):
            if re.search(wrong, old, ANY_CASE):
                return old, re.sub(wrong, lambda _: right, old, flags=ANY_CASE)
        if not fact.replaces:
            return None
    if any(same(fact.line, each) for each in statements(value)):
        return None
    old = standing(fact.replaces, value)
    return None if same(old, fact.line) else (old, fact.line)


def standing(line: str, value: str) -> str:
    """The part of a value that says what the expression describes, or nothing."""
    found = re.search(f"{START}(?:{line})", value, ANY_CASE) if line else None
    return found[0].strip() if found else ""


def statements(value: str) -> list[str]:
    """The lines and sentences of a block, exactly as they stand in it."""
    parts = re.split(r"\n|(?<=[\w)][.;])\s+", value)
    return [each for part in parts if (each := part.strip(" \t\r-*").rstrip(".;"))]


def same(one: str, other: str) -> bool:
    """Whether two lines say the same: 'Name: Bob', 'My name is bob'."""
    return plain(one) == plain(other)


def plain(line: str) -> str:
    """A line without case, subject and the forms a statement may take."""
    line = re.sub(r"^(?:my|i|(?:the )?(?:user|human)(?:'s)?) ", "", line.casefold().strip(" ."))
    line = re.sub(r"^((?:\w+ ){0,3}\w+) is ", r"\1: ", line)
    return re.sub(r"^(\w+[^s\W])s ", r"\1 ", line)


def forgetting(text: str) -> list[str]:
    """What a message asks to forget: 'my name', 'I like cherry pie'."""
    asked = (opened(sentence) for sentence in sentences(text))
    wishes = (re.fullmatch(FORGET, each, ANY_CASE) for each in asked)
    idle = r"(?:it|that|this)(?: please)?"
    return [each["x"] for each in wishes if each and not re.fullmatch(idle, each["x"], ANY_CASE)]


def held(wish: str, value: str) -> list[str]:
    """The parts of a block that a wish to forget is about."""
    if re.fullmatch(EVERYTHING, wish, ANY_CASE):
        return [value] if value.strip() else []
    found = (held_one(part, value) for part in clauses(wish) or [wish])
    return [each for each in dict.fromkeys(found) if each]


def held_one(wish: str, value: str) -> str:
    """The part of a block that says a thing to be forgotten, or nothing."""
    for pattern, line in PLACES:
        if asked := re.fullmatch(pattern, wish, ANY_CASE):
            verb = asked.groupdict().get("v", "")
            return standing(line.replace("<v>", verb), value)
    key = re.fullmatch(r"my (?P<k>[^,]+?)(?:'s name)?", wish, ANY_CASE)
    if key and (old := standing(key_line(key["k"]), value)):
        return old
    fact = fact_in(wish)
    if fact is None:
        thing = re.escape(re.sub(r"^(?:my|the|about) ", "", wish, flags=ANY_CASE))
        return next((e for e in statements(value) if re.search(rf"\b{thing}\b", e, ANY_CASE)), "")
    exact = next((each for each in statements(value) if same(each, fact.line)), "")
    old = standing(fact.replaces, value)
    return exact or (old if fact.line.split()[-1].casefold() in old.casefold() else "")
