"""Google-style docstrings: what a function does, and what each of its arguments is."""

from __future__ import annotations

import inspect
import re

HEADING = re.compile(
    r"(Args|Arguments|Parameters|Attributes|Returns?|Raises|Yields|Examples?|Notes?):[ \t]*"
)
ENTRY = re.compile(r"\*{0,2}(\w+)[ \t]*(?:\(.*?\))?[ \t]*:(?:[ \t]+|$)(.*)")
OF_ARGUMENTS = ("Args", "Arguments", "Parameters", "Attributes")


def read_docstring(text: str) -> tuple[str, dict[str, str]]:
    """A docstring's description, and what it says of each argument; white space made single."""
    summary: list[str] = []
    entries: list[str] = []
    section = ""
    for line in inspect.cleandoc(text).splitlines():
        if heading := HEADING.fullmatch(line):
            section = heading[1]
        elif not section:
            summary.append(line)
        elif section in OF_ARGUMENTS:
            entries.append(line)
    return " ".join(" ".join(summary).split()), _described(entries)


def _described(lines: list[str]) -> dict[str, str]:
    """What a section says of each argument: an entry begins at the section's own indent."""
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    described: dict[str, list[str]] = {}
    words: list[str] = []
    for line in lines:
        own = line[indent : indent + 1].strip()  # not indented further
        if own and (entry := ENTRY.fullmatch(line[indent:])):
            words = described.setdefault(entry[1], [])
            words += entry[2].split()
        else:
            words += line.split()
    return {name: " ".join(words) for name, words in described.items() if words}
