"""Exports of ChatGPT and Claude, as they are documented by those who read them."""

from __future__ import annotations

import io
import json
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile


def node(key: str, parent: str | None, message: Any, *children: str) -> dict[str, Any]:
    return {"id": key, "message": message, "parent": parent, "children": list(children)}


def said(role: str, text: str | None, at: float | None = None, **more: Any) -> dict[str, Any]:
    """A message of ChatGPT's."""
    content = {"content_type": "text", "parts": [text] if text is not None else []}
    return {
        "id": f"m-{text}",
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": at,
        "update_time": None,
        "content": content,
        "status": "finished_successfully",
        "end_turn": None,
        "weight": 1.0,
        "metadata": {},
        "recipient": "all",
    } | more


PICTURE = {
    "content_type": "multimodal_text",
    "parts": [
        {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-1"},
        "What is in the picture?",
    ],
}
INSTRUCTIONS = {"content_type": "user_editable_context", "user_profile": "I am Bob."}

CHATGPT: list[dict[str, Any]] = [
    {
        "title": "Trip to Riga",
        "create_time": 1700000000.5,
        "update_time": 1700000100.0,
        "mapping": {
            "root": node("root", None, None, "s"),
            "s": node("s", "root", said("system", ""), "i"),
            "i": node("i", "s", said("user", None, content=INSTRUCTIONS), "u1"),
            "u1": node(
                "u1", "i", said("user", "When is Riga at its best?", 1700000001.0), "a0", "a1"
            ),
            "a0": node("a0", "u1", said("assistant", "Never.", 1700000002.0)),
            "a1": node(
                "a1",
                "u1",
                said("assistant", "In June\ue200cite\ue202turn0search1\ue201.", 1700000003.0),
                "u2",
            ),
            "u2": node("u2", "a1", said("user", None, 1700000050.0, content=PICTURE), "c"),
            "c": node("c", "u2", said("assistant", "search()", None, recipient="web"), "t"),
            "t": node("t", "c", said("tool", "results"), "a2"),
            "a2": node("a2", "t", said("assistant", "The House of the Blackheads.", None)),
        },
        "moderation_results": [],
        "current_node": "a2",
        "plugin_ids": None,
        "conversation_id": "11111111-0000-0000-0000-000000000000",
        "id": "11111111-0000-0000-0000-000000000000",
        "is_archived": False,
        "safe_urls": [],
    },
    {"title": "Empty", "create_time": 1.0, "mapping": {}, "current_node": None},
    {
        "title": None,
        "create_time": 1700001000.0,
        "mapping": {"u": node("u", None, said("user", "Tea?"))},
    },
]

CLAUDE: list[dict[str, Any]] = [
    {
        "uuid": "22222222-0000-0000-0000-000000000000",
        "name": "Cherry pie",
        "created_at": "2024-05-03T10:00:00.000000Z",
        "updated_at": "2024-05-03T10:05:00.000000Z",
        "account": {"uuid": "33333333-0000-0000-0000-000000000000"},
        "chat_messages": [
            {
                "uuid": "m1",
                "text": "How do I bake it?",
                "content": [{"type": "text", "text": "How do I bake it?"}],
                "sender": "human",
                "created_at": "2024-05-03T10:00:01.000000Z",
                "updated_at": "2024-05-03T10:00:01.000000Z",
                "attachments": [
                    {"file_name": "recipe.txt", "file_size": 9, "extracted_content": "Two cups"}
                ],
                "files": [{"file_name": "pie.png"}],
            },
            {
                "uuid": "m2",
                "text": "",
                "content": [
                    {"type": "thinking", "thinking": "Hm."},
                    {"type": "tool_use", "name": "search", "input": {}},
                    {"type": "text", "text": "Slowly."},
                ],
                "sender": "assistant",
                "created_at": "2024-05-03T10:00:09.000000Z",
                "attachments": [],
                "files": [],
            },
        ],
    }
]


def zipped(name: str = "conversations.json", content: Any = CHATGPT) -> bytes:
    """A zip as an export is one."""
    file = io.BytesIO()
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        archive.writestr("user.json", "{}")
        archive.writestr("chat.html", "<html></html>")
        archive.writestr(name, content if isinstance(content, bytes) else json.dumps(content))
    return file.getvalue()
