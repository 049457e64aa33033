"""Images as a script sends them and gets them back."""

from __future__ import annotations

import base64
from typing import Any

import letta_client
from letta_client import Letta

from tests.sdk.any_version import OLD, items


def source(kind: str, **fields: Any) -> Any:
    """Where an image comes from, in the words of this version."""
    if not OLD:
        return {"type": kind, **fields}
    names = {"base64": "Base64Image", "letta": "LettaImage"}
    module = __import__("letta_client.types", fromlist=["types"])
    return getattr(module, names[kind])(**fields)


def with_image(text: str, image: Any) -> Any:
    """A message of a text and an image."""
    if not OLD:
        content = [{"type": "text", "text": text}, {"type": "image", "source": image}]
        return {"role": "user", "content": content}
    types = __import__("letta_client.types", fromlist=["types"])
    content = [types.TextContent(text=text), types.ImageContent(source=image)]
    return letta_client.MessageCreate(role="user", content=content)


def images(client: Letta, data: str) -> Any:
    """An image is sent, listed, sent again by its id, and refused where it is none."""
    made = client.agents.create(name="images", agent_type="letta_v1_agent")
    inline = source("base64", media_type="image/png", data=data)
    messages = client.agents.messages
    messages.create(agent_id=made.id, messages=[with_image("See", inline)])
    listed = items(messages.list(agent_id=made.id))[1]
    text, image = listed.content
    again = source("letta", file_id=image.source.file_id)
    messages.create(agent_id=made.id, messages=[with_image("Again", again)])
    bad = base64.b64encode(b"<svg/>").decode()
    try:
        wrong = source("base64", media_type="image/svg+xml", data=bad)
        messages.create(agent_id=made.id, messages=[with_image("No", wrong)])
        refused = ""
    except Exception as error:
        refused = str(error)
    return {
        "listed": [type(listed).__name__, text.text, image.type, image.source.type],
        "media_type": image.source.media_type,
        "again": items(messages.list(agent_id=made.id))[-2].content[1].source.file_id
        == image.source.file_id,
        "refused": refused,
    }
