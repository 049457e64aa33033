"""Patches as models write them: what they do to which texts, and a text with one applied.

A hunk is lines that begin with ' ' (stays), '-' (goes) or '+' (comes); '@@' begins the next one.
Above them may stand what they are for: '*** Update Block: label', '*** Add Block: label',
'*** Delete Block: label', '*** Move to: label'.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

SHOWN = 300  # characters of a line in an error
IGNORED = ("*** Begin Patch", "*** End Patch", "*** End of File")
HEADERS: dict[str, Literal["add", "delete", "update", "move"]] = {
    "*** Add Block:": "add",
    "*** Delete Block:": "delete",
    "*** Update Block:": "update",
    "*** Move to:": "move",
}


class PatchError(ValueError):
    """Why a patch cannot be applied, in a sentence."""


@dataclass
class Operation:
    """One thing that a patch does to the text of a label."""

    kind: Literal["add", "delete", "update", "move"]
    label: str
    lines: list[str] = field(default_factory=list)
    description: str = ""
    moved_to: str = ""

    def added(self) -> str:
        """The text that it begins with."""
        for line in self.lines:
            if not line.startswith("+") and line.strip():
                raise PatchError(
                    f"In the new text of '{self.label}' a line does not begin with '+':"
                    f" '{line[:SHOWN]}'."
                )
        return "\n".join(line[1:] for line in self.lines).rstrip("\n")


def operations(patch: str, label: str) -> list[Operation]:
    """What a patch does; without headers it updates the text of `label`."""
    lines = [line for line in patch.splitlines() if not line.startswith(IGNORED)]
    if not any(line.startswith(tuple(HEADERS)) for line in lines):
        return [Operation("update", label, lines)]
    found: list[Operation] = []
    for line in lines:
        header = next((each for each in HEADERS if line.startswith(each)), "")
        name = line.removeprefix(header).strip()
        if header and not name:
            raise PatchError(f"'{header}' needs a label behind it.")
        if header and HEADERS[header] == "move":
            if not found:
                raise PatchError("'*** Move to:' must follow a header that names a block.")
            found.append(Operation("move", found[-1].moved_to or found[-1].label, moved_to=name))
        elif header:
            found.append(Operation(HEADERS[header], name))
        elif not found:
            if line.strip():
                raise PatchError(f"This line is above the first header: '{line[:SHOWN]}'.")
        elif line.startswith("Description:") and found[-1].kind == "add" and not found[-1].lines:
            found[-1].description = line.removeprefix("Description:").strip()
        else:
            found[-1].lines.append(line)
    return [each for each in found if each.kind != "update" or any(map(str.strip, each.lines))]


def patched(text: str, patch: list[str]) -> str:
    """A text with the hunks of a patch applied; PatchError where one does not fit in one place."""
    lines = text.split("\n") if text else []
    for hunk in hunks(patch):
        before = [line[1:] for line in hunk if line[0] != "+"]
        after = [line[1:] for line in hunk if line[0] != "-"]
        if not before:
            lines += after
            continue
        places = [
            place
            for place in range(len(lines) - len(before) + 1)
            if lines[place] == before[0] and lines[place : place + len(before)] == before
        ]
        start = f"that begin with '{before[0][:SHOWN]}'"
        if not places:
            raise PatchError(
                f"The lines to change, {start}, are not in the text like this; copy them exactly."
            )
        if len(places) > 1:
            raise PatchError(
                f"The lines to change, {start}, occur in {len(places)} places; give more lines"
                " around the ones you mean."
            )
        lines[places[0] : places[0] + len(before)] = after
    return "\n".join(lines)


def hunks(patch: list[str]) -> list[list[str]]:
    """The hunks of a patch, without what only names files."""
    found: list[list[str]] = [[]]
    for line in patch:
        if line.startswith("@@"):
            found.append([])
        elif not line.strip():
            found[-1].append(" ")
        elif line[0] in " -+":
            named = line.startswith(("--- ", "+++ ")) and not any(map(any, found))
            if not named:
                found[-1].append(line)
        else:
            raise PatchError(
                "Each line of a patch begins with ' ', '-', '+' or '@@'; this one does not:"
                f" '{line[:SHOWN]}'."
            )
    found = [trimmed(hunk) for hunk in found]
    if not any(found):
        raise PatchError("The patch has no lines that begin with ' ', '-' or '+'.")
    return [hunk for hunk in found if hunk]


def trimmed(hunk: list[str]) -> list[str]:
    """A hunk without the empty lines around it, which only part it from the next."""
    while hunk and hunk[-1] == " ":
        hunk = hunk[:-1]
    while hunk and hunk[0] == " ":
        hunk = hunk[1:]
    return hunk
