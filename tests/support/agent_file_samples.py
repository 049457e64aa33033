"""Agent files to read, and what is said of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agents.agent_file import read

FILES = Path(__file__).parent / "agent_files"
SOURCE = '''def look_up_book(title: str) -> str:
    """Look a book up.

    Args:
        title: The title of the book.
    """
    return title if len(title) < 5 else look_up_book(title[1:])
'''


def sample(name: str) -> Any:
    return read((FILES / name).read_bytes())


def noted(notes: list[str], *words: str) -> bool:
    """Whether one of the notes has all these words."""
    return any(all(word in note for word in words) for note in notes)
