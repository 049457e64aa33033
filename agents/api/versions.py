"""Versions of blocks: ETag, If-None-Match, If-Match and `version`."""

from __future__ import annotations

import hashlib

from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.utils.http import parse_etags

from agents.models import Block, Editor, VersionConflict
from agents.models.editing import as_sentence

from .errors import Refused, conflict
from .json_router import json_response
from .schemas.blocks import BlockState


def json_of(block: Block) -> bytes:
    return BlockState.model_validate(block).model_dump_json().encode()


def etag_of(block: Block) -> str:
    """A tag that differs after any change, of the value or of a setting."""
    return f'"{block.version}-{hashlib.sha256(json_of(block)).hexdigest()[:16]}"'


def tagged(request: HttpRequest, block: Block) -> HttpResponse:
    """A block with its ETag; 304 without the block if the script already has this version."""
    tag = etag_of(block)
    known = parse_etags(request.headers.get("If-None-Match", ""))
    response: HttpResponse
    if request.method == "GET" and {tag, f"W/{tag}", "*"} & set(known):
        response = HttpResponseNotModified()
    else:
        response = json_response(json_of(block))
    response["ETag"] = tag
    return response


def lock_expected(request: HttpRequest, block: Block, version: int | None, by: Editor) -> None:
    """Lock a block before it is changed, in a transaction.

    409 with the current block, where the request expects another version of it.
    """
    header = request.headers.get("If-Match")
    expected = parse_etags(header or "")
    if header is not None and not expected:
        words = 'If-Match takes an ETag in double quotes, as GET returns it, or "*".'
        raise Refused(400, words)
    try:
        if version is not None:
            block.only_at(version, by=by)
        elif expected:
            block.lock()
    except VersionConflict as refusal:
        raise changed_meanwhile(block, as_sentence(str(refusal))) from None
    if expected and not {etag_of(block), "*"} & set(expected):
        words = f"Block '{block.label}' has changed since: it has another ETag now."
        raise changed_meanwhile(block, words)


def changed_meanwhile(block: Block, words: str) -> Exception:
    refused = conflict(f"{words} `current` is the block as it is now; change that.")
    refused.beside = {"current": BlockState.model_validate(block).model_dump(mode="json")}
    refused.headers = {"ETag": etag_of(block)}
    return refused
