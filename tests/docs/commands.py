"""The commands that the documentation names, as somebody would copy them."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
PROGRAMS = (
    *("make", "pip", "uvx", "memoryweb", "curl", "docker", "cd", "cp", "install", "useradd"),
    *("systemctl", "systemd-run", "pre-commit", ".venv/bin/python", "python"),
)
SET = re.compile(r"^([A-Za-z_]+=(\"[^\"]*\"|\S*)\s+)+")
IN_TABLE = re.compile(r"`((?:make|\.venv/bin/python|pre-commit|MEMORYWEB_\w+=\S+ )[^`]*)`")


def commands() -> set[str]:
    """All of them, without what is set before them and what is said after them."""
    found: set[str] = set()
    for page in PAGES:
        text = page.read_text(encoding="utf-8").replace("\\\n", " ")
        lines = re.findall(r"^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
        lines = [line for block in lines for line in block.splitlines()]
        lines += re.findall(
            r"^    (\S.*)$", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M), re.M
        )
        for row in re.findall(r"^\|.*$", text, re.MULTILINE):
            lines += [each for part in IN_TABLE.findall(row) for each in part.split("`, `")]
        found |= {command for line in lines for command in parts(line)}
    return found


def parts(line: str) -> list[str]:
    """The commands of a line of a shell."""
    line = re.sub(r"\s+#.*$", "", line).strip()
    each = [SET.sub("", part.strip(), count=1).strip() for part in line.split(" && ")]
    return [" ".join(part.split()) for part in each if part.partition(" ")[0] in PROGRAMS]
