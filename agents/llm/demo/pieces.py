"""The demo model's set pieces: texts that show what the page can do, and what it says of itself."""

import re
from collections.abc import Callable

from .sentences import ANY_CASE

ABOUT = (
    "I am the demo model: a small set of rules, no language model, so I understand only a few"
    " things. Try:\n\n"
    "- “My name is Sarah and I like cherry pie”, and watch core memory change\n"
    "- “What do you know about me?”\n"
    "- “Remember for later that the spare key is under the mat”, and ask for it: “Where is the"
    " spare key?”\n"
    "- “Show me some code”\n\n"
    "For real conversations, choose a model of your own in the agent's settings."
)
CODE = '''Here is a small Python function:

```python
def greet(name: str, times: int = 1) -> list[str]:
    """Greetings, as many as you like."""
    return [f"Hello, {name}!" for _ in range(times)]


for greeting in greet("world", times=3):
    print(greeting)
```

It prints the same greeting three times.'''
DAYS = {
    "Monday": ("a brass key", "the lighthouse keeper", "salt and old rope"),
    "Tuesday": ("a blue envelope", "the ferry's only passenger", "rain on warm stone"),
    "Wednesday": ("half of a map", "a girl with a green umbrella", "oranges and ink"),
    "Thursday": ("a clock without hands", "the retired conductor", "candle smoke"),
    "Friday": ("a jar of fireflies", "two quarrelling gardeners", "cut grass"),
    "Saturday": ("the other half of the map", "a stranger in a grey coat", "fresh bread"),
    "Sunday": ("a door in the hill", "everyone she had met that week", "the open sea"),
}


def story() -> str:
    """About four hundred words, long enough to press Stop."""
    days = (
        f"On {day} she found {thing}. It lay where nothing had lain the evening before, and the"
        f" air around it smelled of {smell}. She turned it over twice, wrote down the hour, and"
        f" carried it to {who}, who looked at it for a long time and said only that some things"
        " are remembered because somebody takes the trouble to note them."
        for day, (thing, who, smell) in DAYS.items()
    )
    opening = "There was once a woman who wrote down everything, for fear of forgetting it."
    ending = "And when the week was over she read her notes, and knew the way home."
    return "\n\n".join(["**The week of small things**", opening, *days, ending])


def short_story(name: str) -> str:
    """Less than a hundred words."""
    return (
        f"When {name or 'the child'} was born, nobody wrote the name down. It was only said, from"
        " window to window, until the baker put it on a loaf, the postman on a card and the"
        " neighbour on a gate. Years later somebody asked where the name was kept. “Wherever it"
        " was noted,” said the baker, “and there it stays, until you call yourself otherwise.”"
    )


def haiku(name: str) -> str:
    return f"{name or 'A name'}, softly said —\na line kept in a small block,\nread at every step."


def thought_on(said: str) -> str:
    """What a message asks to think about; nothing when it does not ask for it."""
    asked = re.search(
        r"(?<!\bi )(?<!let me )\bthink(?:ing)?(?: (?:hard|carefully|deeply|step by step|out loud))*"
        r"(?: (?:about|of|over|through) (?P<x>[^.?!\n]+)|(?= (?:step|hard|carefully))|[,.!:]|$)"
        r"|step by step",
        said,
        ANY_CASE,
    )
    if not asked or re.search(r"do you think", said, ANY_CASE):
        return ""
    return (asked["x"] or "this").strip()


def reasoning(topic: str, lines: int) -> str:
    """What the demo model 'thinks' before it answers."""
    return (
        f"I am asked to think about {topic}. First, what do I have? Core memory has {lines} lines"
        " about the person. Second, what can I do? I match phrases against a small table of"
        f" rules. Third, does a rule fit {topic}? If it does I follow it; if not, I say so"
        " plainly. That settles it."
    )


PIECES: tuple[tuple[str, Callable[[str], str]], ...] = (
    (
        r"\b(?:show|write|give|see|need|example of)\b.*\b(?:code|function|script|python|program)\b"
        r"|\bcode\b.*\bexample\b|\bpython (?:code|function|script)",
        lambda _: CODE,
    ),
    (r"\bstory\b.*\b(?:name|less than|short|under)\b|\bshort story\b", short_story),
    (
        r"\b(?:tell|write|give|make)\b.*\b(?:long|story|tale|essay)\b|\blong (?:text|answer|story)"
        r"|^(?:a )?story\b",
        lambda _: story(),
    ),
    (r"\bhaiku\b|\bpoem\b", haiku),
    (r"^\W*(?:thanks|thank you|thx|cheers)\b", lambda name: f"You are welcome{comma(name)}."),
    (
        r"^\W*(?:hi|hello|hey|good (?:morning|evening|afternoon))\b[\w ]{0,12}\W*$",
        lambda name: f"Hello{comma(name)}! {ABOUT}",
    ),
)


def comma(name: str) -> str:
    return f", {name}" if name else ""


def piece_for(said: str, name: str) -> str:
    """The set piece a message asks for, or nothing."""
    for pattern, piece in PIECES:
        if re.search(pattern, said, ANY_CASE):
            return piece(name)
    return ""
