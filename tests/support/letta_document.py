"""docs/from-letta.md and its tables, which tests check, and write where they are told to.

`make from-letta` tells them, by MEMORYWEB_WRITE_TABLES.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "from-letta.md"
WRITE = "MEMORYWEB_WRITE_TABLES"


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table in Markdown."""
    lines = [list(head), *(list(row) for row in rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def between(name: str, wanted: str) -> str:
    """What stands between the document's marks of that name; with WRITE set, first put it there."""
    marks = re.compile(f"(?<=<!-- {name} -->\n).*?(?=\n<!-- /{name} -->)", re.DOTALL)
    document = DOCUMENT.read_text()
    if os.environ.get(WRITE):
        document = marks.sub(lambda _: wanted, document)
        DOCUMENT.write_text(document)
    found = marks.search(document)
    assert found, f"{DOCUMENT.name} has no place marked {name!r}."
    return found[0]
