"""The content of a message, as SDKs write it: a text, or parts of text and images.

An image comes as base64, as an address that is fetched, or as the id of one that was sent before.
"""

from __future__ import annotations

import base64
import binascii
import time
from collections.abc import Iterable
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from agents.models import Agent, Image
from agents.models.image import MOST_IMAGES, ImagePart
from agents.models.image_file import LARGEST_UPLOAD
from agents.models.message import checked
from agents.outgoing import OutgoingError, fetch

from .errors import invalid

Part = dict[str, Any]

MOST_A_REQUEST = 20  # images of all messages of a request
FETCH_SECONDS = 30.0  # for all that are fetched for a request
NOT_HERE = "Images are taken in messages to an agent, not here; send text."
IMAGE_ID = "image-"  # and the SHA-256


class Content(NamedTuple):
    """The text of a message, and the sources of its images."""

    text: str
    sources: list[Part]


def text_of(content: str | list[Part] | None, field: str = "messages") -> str:
    """The text of what has no images: a string, or a list of `{"type": "text", "text": …}`.

    422 for a part that is not text.
    """
    text, sources = content_of(content, field)
    if sources:
        raise invalid(field, NOT_HERE)
    return text


def content_of(content: str | list[Part] | None, field: str = "messages") -> Content:
    """A message's content, read; 422 for a part that is neither text nor image."""
    if content is None:
        raise invalid(field, "The message is empty; give its 'content'.")
    if isinstance(content, str):
        return Content(content, [])
    texts, sources = [], []
    for part in content:
        kind, source = part.get("type", "text"), part.get("source")
        if kind == "text" and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif kind == "image" and isinstance(source, dict):
            sources.append(source)
        else:
            words = "Parts of type 'text', each with its 'text', and of type 'image', each with its"
            raise invalid(field, f"{words} 'source', are supported.")
    return Content("\n".join(texts), sources)


def checked_text(text: str, *, images: bool = False) -> str:
    """A message's text as it is stored; 422 if it cannot be."""
    try:
        return checked(text, images=images)
    except ValidationError as error:
        raise invalid("messages", error.messages[0]) from None


# -- images ----------------------------------------------------------------------------------------


def check_sources(contents: Iterable[Content]) -> None:
    """422 for too many images, before any is read."""
    counts = [len(content.sources) for content in contents]
    if sum(counts) > MOST_A_REQUEST or max(counts, default=0) > MOST_IMAGES:
        words = f"at most {MOST_IMAGES} a message, and {MOST_A_REQUEST} a request, are allowed."
        raise invalid("messages", f"The request has {sum(counts):,} images; {words}")


def keep_images(user: User, agent: Agent, contents: Iterable[Content]) -> list[list[str]]:
    """Store the images of messages for an agent: the SHA-256s of each message's.

    422 for one that is no image, cannot be fetched, or is not there.
    """
    until = time.monotonic() + FETCH_SECONDS
    return [
        [keep_image(user, agent, source, until) for source in content.sources]
        for content in contents
    ]


def keep_image(user: User, agent: Agent, source: Part, until: float) -> str:
    """Store an image from its source: its SHA-256."""
    names = {"file_id": "letta", "url": "url", "data": "base64"}  # a client may leave the type out
    kind = source.get("type") or next((names[name] for name in names if name in source), None)
    try:
        if kind == "base64":
            return Image.add(agent, decoded(source.get("data"))).sha256
        if kind == "url":
            return Image.add(agent, fetched(source.get("url"), until)).sha256
        if kind == "letta":
            return sent_before(user, agent, str(source.get("file_id")))
    except ValidationError as error:
        raise invalid("messages", error.messages[0]) from None
    raise invalid("messages", "The 'source' of an image is of type 'base64', 'url' or 'letta'.")


def decoded(data: Any) -> bytes:
    """The bytes of an image in base64."""
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError, TypeError):
        raise ValidationError("The 'data' of an image is not base64.") from None


def fetched(url: Any, until: float) -> bytes:
    """The bytes of an image at an address."""
    if not isinstance(url, str):
        raise ValidationError("The 'url' of an image is missing.")
    if time.monotonic() > until:
        raise ValidationError(
            f"The images took longer than {FETCH_SECONDS:g} seconds to fetch; send fewer, or send"
            " them as base64."
        )
    try:
        reply = fetch(url, accept="image/*", most=LARGEST_UPLOAD)
    except OutgoingError as error:
        raise ValidationError(f"The image cannot be fetched. {error}") from None
    if reply.status >= 400:
        raise ValidationError(f"The image cannot be fetched: {url} answered {reply.status}.")
    return reply.body


def sent_before(user: User, agent: Agent, file_id: str) -> str:
    """An image of one of the person's agents, for this agent as well."""
    sha256 = file_id.removeprefix(IMAGE_ID)
    rows = Image.objects.visible_to(user).filter(sha256=sha256)
    if not rows.filter(agent=agent).exists():
        row = rows.defer(None).first()
        if row is None:
            raise ValidationError(
                f"There is no image '{file_id[:100]}'; a source of type 'letta' names one that you"
                " sent before. Files are not stored here: send it as base64."
            )
        row.keep(agent)
    return sha256


def parts_of(text: str, images: Iterable[ImagePart]) -> list[Part]:
    """A message's content as clients read it."""
    said: list[Part] = [{"type": "text", "text": text}] if text else []
    return said + [
        {
            "type": "image",
            "source": {
                "type": "letta",
                "file_id": f"{IMAGE_ID}{image['sha256']}",
                "media_type": image["media_type"],
            },
        }
        for image in images
    ]


def fill_in(parts: list[Part], agent: Agent) -> None:
    """Give the images among parts their bytes, in base64."""
    sources = [part["source"] for part in parts if part["type"] == "image"]
    keys = [source["file_id"].removeprefix(IMAGE_ID) for source in sources]
    data = Image.in_base64(agent.pk, keys) if keys else {}
    for source, key in zip(sources, keys, strict=True):
        source["data"] = data.get(key)
