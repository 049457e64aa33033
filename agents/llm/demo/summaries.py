"""Compaction: the demo model's summary of a conversation, made of what the person told."""

import re
from collections.abc import Iterator

from .commands import command
from .edits import edits_told
from .pieces import piece_for
from .searches import questions, telling

REQUEST = r"\A(?:Earlier summary:\n(?P<earlier>.*?)\n\n)?The conversation:\n(?P<said>.*)"
SPEAKER = r"^(Person|Agent|Tool returned|System|Agent called [\w-]+|user|assistant|tool): ?"
FACTS, MANNER, QUOTES = "The person told:", "The agent's part:", "They also said:"
EMPTY = "Nothing was said that has to be remembered."
MOST_WORDS = {FACTS: 170, MANNER: 40, QUOTES: 75}
MOST_LINES = 60  # facts kept while reading
LONGEST_QUOTE = 160  # characters
MOST_READ = 2000  # characters of a message


def summary(asked: str) -> str:
    """A summary of at most 300 words: facts, then quotations, where the newest have the room."""
    request = re.match(REQUEST, asked, re.DOTALL)
    parts = earlier_parts((request["earlier"] or "") if request else "")
    memory = {"human": "\n".join(parts[FACTS]), "persona": "\n".join(parts[MANNER])}
    for message in told(request["said"] if request else asked):
        edits = edits_told(message[:MOST_READ], memory)
        for edit in edits:
            value = memory.get(edit.block, "")
            value = value.replace(edit.old, edit.new) if edit.old else f"{value}\n{edit.new}"
            memory[edit.block] = "\n".join(value.split("\n")[-MOST_LINES:])
        if not edits and tells(message):
            parts[QUOTES].append(f"“{shortened(message)}”")
    parts |= {FACTS: memory["human"].split("\n"), MANNER: memory["persona"].split("\n")}
    sections = (section(heading, lines) for heading, lines in parts.items())
    return "\n".join(filter(None, sections)) or EMPTY


def earlier_parts(summary: str) -> dict[str, list[str]]:
    """The lines of an earlier summary by heading; those of somebody else's are taken as facts."""
    parts: dict[str, list[str]] = {FACTS: [], MANNER: [], QUOTES: []}
    heading = FACTS
    for line in summary.splitlines():
        if line.strip() in parts:
            heading = line.strip()
        elif line.strip() and line != EMPTY:
            parts[heading].append(line.strip(" -*\t"))
    return parts


def told(conversation: str) -> Iterator[str]:
    """The messages of the person in a conversation written down line by line."""
    _, *spoken = re.split(SPEAKER, conversation, flags=re.MULTILINE)
    for who, said in zip(spoken[::2], spoken[1::2], strict=True):
        if who in ("Person", "user"):
            yield said.strip()


def tells(message: str) -> bool:
    """Whether a message says something, rather than asks or greets."""
    idle = command(message) or piece_for(message, "") or questions(message) or "?" in message
    return not idle and len(telling(message)) > 2


def shortened(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_QUOTE else f"{text[: LONGEST_QUOTE - 1].rstrip()}…"


def section(heading: str, lines: list[str]) -> str:
    """A heading with as many of its newest lines as it has room for."""
    kept: list[str] = []
    room = MOST_WORDS[heading]
    for line in reversed(list(dict.fromkeys(filter(str.strip, lines)))):
        words = line.split(" ")
        if len(words) > room and kept:
            break
        kept.append("- " + " ".join(words[:room]))
        room -= len(words)
    return "\n".join([heading, *reversed(kept)]) if kept else ""
