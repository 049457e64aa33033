"""What the demo model does when no person speaks: summaries for compaction, and reflection."""

import re

from agents.text.similar_lines import similar_lines

from .reports import report
from .turn import Reply, Turn

# How the messages begin that ask for these (`agents/memory/compaction.py`, `runs/reflection.py`).
SUMMARY = "You summarise a conversation"
REFLECTION = "This is no message of the person: it is time to reflect"
PERSON = r"^Person: ?(.*?)\s*(?=^(?:Person|Agent|Tool returned|System|Agent called [\w-]+):|\Z)"
HEADING = "The person said:"
LONGEST_QUOTE = 160  # characters


def summary(system: str, request: str) -> str:
    """What the person said, line by line: as much of the newest as there is room for."""
    earlier, _, conversation = request.partition("The conversation:\n")
    lines = [line for line in earlier.splitlines() if line not in ("", "Earlier summary:", HEADING)]
    for text in re.findall(PERSON, conversation, re.MULTILINE | re.DOTALL):
        if not text.endswith("?"):
            lines.append(f"- “{' '.join(text.split())[:LONGEST_QUOTE]}”")
    limit = re.search(r"at most (\d+) words", system)
    room = int(limit[1] if limit else 300) - len(HEADING.split())
    kept: list[str] = []
    for line in reversed(dict.fromkeys(lines)):
        if (room := room - len(line.split())) > 0:
            kept.insert(0, line)
    return "\n".join([HEADING, *kept]) if kept else "The person said nothing but questions."


def reflection(turn: Turn) -> Reply:
    """A rewrite of each block in which lines say the same; then what was changed."""
    if turn.done:
        return Reply("\n\n".join(map(report, turn.done)))
    calls = []
    for label, value in turn.blocks.items():
        if not value.startswith(("[", "{")) and (new := without_repeats(value)) != value:
            whole = turn.call("memory_rethink", label, new)
            calls.append(whole or turn.call("core_memory_replace", label, value, new))
    rewrites = tuple(filter(None, calls))
    return Reply("" if rewrites else "My memory is in order: nothing had to be changed.", rewrites)


def without_repeats(value: str) -> str:
    """A block in which the newer of two lines that say the same stands in the older's place."""
    lines, repeats = value.split("\n"), similar_lines(value)
    for later, earlier in repeats.items():
        lines[earlier] = lines[later]
    return "\n".join(line for place, line in enumerate(lines) if place not in repeats)
