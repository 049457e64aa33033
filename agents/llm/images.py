"""Images in requests: parts of a message's content, whose bytes are filled in last.

While messages are rendered, kept and counted, an image's bytes are a slot that names its SHA-256,
between two NUL characters in a `data:` address. No stored text has a NUL, so none can be taken for
a slot. What is sent is the request with its slots filled from the rows of the images; so a request
can be put together again without keeping a picture a second time.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

Wire = dict[str, Any]

# Bytes of all images of a request, before base64: OpenAI takes 50 MB of JSON, Anthropic 32 MB.
MOST_BYTES = 15_000_000
PIXELS_A_TOKEN, MOST_TOKENS = 750, 1600
SLOT = re.compile(r"(?<=;base64,)\\u0000([0-9a-f]{64})\\u0000")
NOT_READ = "this model does not read images"
NOT_NEW = "only the newest images of a conversation are sent"


def tokens_of(image: Wire) -> int:
    """About how many tokens an image takes, by Anthropic's rule: a token for 750 pixels, at most
    1,600 (its documentation, "Vision", "Calculate image costs").

    OpenAI counts fewer than that, some models at home more; what a request really took is reported
    with its answer.
    """
    pixels: int = image["width"] * image["height"]
    return min(math.ceil(pixels / PIXELS_A_TOKEN), MOST_TOKENS)


def content_of(text: str, images: Sequence[Wire]) -> list[Wire]:
    """The parts of a message: its text, if any, and its images, each with a slot for its bytes."""
    said: list[Wire] = [{"type": "text", "text": text}] if text.strip() else []
    return said + [
        {
            "type": "image_url",
            "image_url": {"url": f"data:{each['media_type']};base64,\0{each['sha256']}\0"},
        }
        for each in images
    ]


def joined(before: str | list[Wire], after: str | list[Wire]) -> str | list[Wire]:
    """The contents of two messages as that of one."""
    if isinstance(before, str) and isinstance(after, str):
        return f"{before}\n\n{after}"
    return [part for each in (before, after) for part in parts_of(each)]


def parts_of(content: str | list[Wire]) -> list[Wire]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def hidden_counts(messages: Sequence[Sequence[Wire]], most: int) -> list[int]:
    """How many of each message's images, the first ones, are not shown: `most` images are, the
    newest, and at most 15 MB of them."""
    shown, room, counts = 0, MOST_BYTES, []
    for images in reversed(messages):
        hidden = len(images)
        for image in reversed(images):
            room -= image["size"]
            if shown >= most or room < 0:
                room = -1  # nor are any older ones
                break
            shown, hidden = shown + 1, hidden - 1
        counts.append(hidden)
    return counts[::-1]


def without_hidden(message: Wire, images: Sequence[Wire], hidden: int, most: int) -> Wire:
    """A message with a line of text in the place of each of its first `hidden` images."""
    left = list(images[:hidden])
    parts = []
    for part in message["content"]:
        if left and part["type"] == "image_url":
            part = {"type": "text", "text": in_words(left.pop(0), NOT_NEW if most else NOT_READ)}
        parts.append(part)
    if all(part["type"] == "text" for part in parts):
        return message | {"content": "\n\n".join(part["text"] for part in parts)}
    return message | {"content": parts}


def in_words(image: Wire, why: str) -> str:
    """What a model is told of an image that it is not shown."""
    return f"[Image, {image['width']} × {image['height']}, not shown: {why}]"


def filled(text: str, images: Mapping[str, str]) -> str:
    """A request with the base64 of its images, by their SHA-256s."""
    return SLOT.sub(lambda slot: images.get(slot[1], ""), text)


def readable(text: str) -> str:
    """JSON with slots, as a person reads it."""
    return SLOT.sub(lambda slot: f"… (the image with the SHA-256 {slot[1]})", text)
