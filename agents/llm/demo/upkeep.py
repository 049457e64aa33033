"""What the demo model does when no person speaks: summaries for compaction, and reflection."""

import re

from agents.text.similar_lines import similar_lines

from .reports import report
from .turn import Reply, Turn

REFLECTION = "This is no message of the person: it is time to reflect"
REQUEST = r"(?:Earlier summary:\n(?P<earlier>.*?)\n\n)?The conversation:\n(?P<lines>.*)"
SPEAKER = r"^(Person|Agent|Tool returned|System|Agent called [\w-]+): ?"
HEADING = "The person said:"
LONGEST_QUOTE = 160  # characters


def summary(system: str, request: str) -> str:
    """What the person said, line by line: as much of the newest as there is room for."""
    asked = re.fullmatch(REQUEST, request, re.DOTALL)
    earlier, conversation = asked.groups("") if asked else ("", request)
    lines = [line for line in earlier.splitlines() if line not in ("", HEADING)]
    _, *parts = re.split(SPEAKER, conversation, flags=re.MULTILINE)
    for speaker, text in zip(parts[::2], parts[1::2], strict=True):
        if speaker == "Person" and not text.rstrip().endswith("?"):
            lines.append(f"- “{' '.join(text.split())[:LONGEST_QUOTE]}”")
    limit = re.search(r"at most (\d+) words", system)
    room = int(limit[1]) if limit else 300
    kept: list[str] = []
    for line in reversed(dict.fromkeys(lines)):
        room -= len(line.split())
        kept = [line, *kept] if room > len(HEADING.split()) else kept
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
    in_order = "My memory is in order: nothing had to be changed."
    return Reply("" if rewrites else in_order, rewrites)


def without_repeats(value: str) -> str:
    """A block in which the newer of two lines that say the same stands in the older's place."""
    lines, repeats = value.split("\n"), similar_lines(value)
    for later, earlier in repeats.items():
        lines[earlier] = lines[later]
    return "\n".join(line for place, line in enumerate(lines) if place not in repeats)
