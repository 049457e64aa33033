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


def message_entry(number: int, text: str = "Hello") -> dict[str, Any]:
    role = "assistant" if number % 2 else "user"
    return {"type": "message", "role": role, "content": text, "id": f"message-{number}"}


def small_file(messages: int = 4, blocks: int = 2) -> dict[str, Any]:
    """An agent file in the newer form, with one agent."""
    agent = {
        "id": "agent-0",
        "name": "Big",
        "agent_type": "letta_v1_agent",
        "messages": [message_entry(number) for number in range(messages)],
        "block_ids": [f"block-{number}" for number in range(blocks)],
        "tool_ids": ["tool-0"],
    }
    held = [{"id": f"block-{n}", "label": f"b{n}", "value": f"V{n}"} for n in range(blocks)]
    tool = {"id": "tool-0", "name": "look_up_book", "source_code": SOURCE, "tool_type": "custom"}
    return {"agents": [agent], "blocks": held, "tools": [tool]}
