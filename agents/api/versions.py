"""Which version of a block a script has or began from: ETag, If-None-Match, If-Match, `version`."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.utils.http import parse_etags

from agents.models import Block, Editor, VersionConflict
from agents.models.editing import as_sentence

from .errors import Refused, conflict
from .schemas.blocks import BlockState
from .serializers import block_state


def etag_of(state: dict[str, Any]) -> str:
    """A tag that is another one after any change, of the value or of a setting."""
    text = json.dumps(state, sort_keys=True, default=str)
    return f'"{state["version"]}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"'


def tagged(request: HttpRequest, response: HttpResponse, block: Block) -> Any:
    """A block with its ETag; 304 and no block for a script that has it as it is."""
    state = block_state(block)
    response["ETag"] = tag = etag_of(state)
    had = parse_etags(request.headers.get("If-None-Match", ""))
    if request.method != "GET" or not {tag, f"W/{tag}", "*"} & set(had):
        return state
    unchanged = HttpResponseNotModified()
    unchanged["ETag"] = tag
    return unchanged


def hold_expected(request: HttpRequest, block: Block, version: int | None, by: Editor) -> None:
    """Hold a block that is to change, in a transaction.

    409 with the block as it is now, where the script says that it began from another.
    """
    given = request.headers.get("If-Match")
    wanted = parse_etags(given or "")
    if given is not None and not wanted:
        raise Refused(400, 'If-Match takes an ETag in its double quotes, as GET gives it, or "*".')
    try:
        if version is not None:
            block.only_at(version, by=by)
        elif wanted:
            block.lock()
    except VersionConflict as refusal:
        raise changed_meanwhile(block, as_sentence(str(refusal))) from None
    if wanted and not {etag_of(block_state(block)), "*"} & set(wanted):
        raise changed_meanwhile(
            block, f"Block '{block.label}' was changed meanwhile: it has another ETag now."
        )


def changed_meanwhile(block: Block, words: str) -> Exception:
    state = block_state(block)
    refused = conflict(f"{words} `current` is how it is; change that.")
    refused.beside = {"current": BlockState(**state).model_dump(mode="json")}
    refused.headers = {"ETag": etag_of(state)}
    return refused
