"""A key stays out of what is said of a call: servers have been seen to repeat the headers."""

from __future__ import annotations

import json
import re
from base64 import b64encode, urlsafe_b64encode
from functools import lru_cache
from typing import Any
from urllib.parse import quote

from openai import APIError

from .endpoints import Endpoint

SHORTEST = 6  # characters; what is shorter stands anywhere, and is no key
MASK = "***"
HALF_MASKED = re.compile(r"[\w-]*\*{3,}[\w-]*")  # OpenAI shows how a refused key begins and ends
DEEPEST = 5  # causes of an exception


def redacted(value: Any, key: str) -> Any:
    """A text, or what JSON has, without the key in any of its spellings."""
    if isinstance(value, str):
        for spelling in spellings(key.strip()):
            value = value.replace(spelling, MASK)
        return HALF_MASKED.sub(MASK, value)
    if isinstance(value, dict):
        return {redacted(name, key): redacted(each, key) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(redacted(each, key) for each in value)
    return value


def redact(error: BaseException | None, endpoint: Endpoint) -> None:
    """Take the endpoint's key out of an exception and its causes: logs may show them."""
    for _ in range(DEEPEST):
        if error is None:
            return
        error.args = tuple(
            redacted(each, endpoint.api_key) if isinstance(each, str) else each
            for each in error.args
        )
        if isinstance(error, APIError):
            error.message = redacted(error.message, endpoint.api_key)
            error.body = redacted(error.body, endpoint.api_key)
        error = error.__cause__ or error.__context__


@lru_cache(1_000)
def spellings(key: str) -> list[str]:
    """How a key may be written: as it is, in a URL, and in base64 after whatever stands before."""
    if len(key) < SHORTEST:
        return []
    found = {key, quote(key, safe=""), json.dumps(key)[1:-1]}
    for before in range(3):  # how many bytes of a group of three
        whole = b"\0" * before + key.encode()
        for encode in (b64encode, urlsafe_b64encode):
            text = encode(whole).decode().rstrip("=")
            begin = (0, 2, 3)[before]  # characters that depend on what stands before
            found.add(text[begin : len(text) - bool(len(whole) % 3)])
    return sorted(found, key=len, reverse=True)
