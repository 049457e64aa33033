"""Errors of a model call as a sentence for the person who waits, with facts for the loop.

Servers word the same error in many ways; the patterns here match what real servers have sent.
"""

from __future__ import annotations

import json
import re
from typing import Any

import httpx2
from django.conf import settings
from openai import APIConnectionError, APIError, APIStatusError, APITimeoutError

from agents.text.stored import stored as _

from .dialects import NO_IMAGES
from .endpoints import Endpoint, ModelError
from .redaction import redact

LONGEST_WAIT = 60.0  # seconds; a longer Retry-After is not waited out
LONGEST_SHOWN = 500  # characters of a server's words that a person sees
LONGEST_SEARCHED = 10_000  # characters of them that the patterns are tried on
MOST_QUOTED = 20  # entries of a list in a refusal that are looked at
LEAST_WINDOW = 256  # tokens; a smaller number means something else

TOO_LONG = re.compile(
    r"context_length_exceeded|maximum context length|exceed(s|ed|_)?\s?(the )?(available )?context"
    r"|exceeds the model's context|too large for model with|(prompt|input|request|messages?)\W+"
    r"(is |are |was )?too (long|large)|input token count|reduce the length|max_model_len"
    r"|longer than the (maximum|model|context)|too many (input |prompt )?tokens"
    r"|context (window|length|size) (is |was )?(exceeded|full|too small)"
    r"|exceeds? (the )?(maximum )?(context|number of (input )?tokens|token limit)",
    re.IGNORECASE,
)
NOT_THERE = re.compile(r"model|not found|no such|url|path|route|deployment", re.IGNORECASE)
NUMBER = r"[^\d\n{}]{0,12}?([\d,]{3,})"
WINDOW = re.compile(
    rf"maximum context length (?:is|of){NUMBER}|model with{NUMBER} maximum"
    rf"|>\s*([\d,]{{3,}}) maximum|maximum number of (?:input )?tokens[a-z ]*{NUMBER}"
    rf"|\"?n_ctx\"?{NUMBER}|(?:available |maximum )?context (?:size|window|length)[a-z ]*{NUMBER}"
    rf"|max_model_len{NUMBER}|(?:token )?limit (?:is|of){NUMBER}",
    re.IGNORECASE,
)
REQUESTED = re.compile(
    r"(?:request|prompt|input|messages?)\s+(?:has|have|contains?|resulted in|is)\s+([\d,]{3,})"
    r"|resulted in\s+([\d,]{3,})|requested\s+([\d,]{3,}) tokens|too long:\s*([\d,]{3,})"
    r"|token count\s*\(?([\d,]{3,})|\"?n_prompt_tokens\"?\D{1,4}([\d,]{3,})|\(([\d,]{3,}) tokens\)",
    re.IGNORECASE,
)

SILENT = _("%(endpoint)s sent nothing for %(seconds)s s (MEMORYWEB_MODEL_TIMEOUT).")
WAS_SILENT = _("sent nothing for %(seconds)s s")
NOTHING_ANSWERS = _("Nothing answers at %(endpoint)s; is the server running?")
BROKE_OFF = _("The answer from %(endpoint)s broke off.")
STOPPED = _("%(endpoint)s stopped with an error: %(reason)s")
INVALID = _("%(endpoint)s sent something that is not a valid answer (%(reason)s).")
FAILED = _("The call to %(endpoint)s failed: %(reason)s")
KEY_REFUSED = _("%(endpoint)s refused the key (%(status)s: %(reason)s); check %(words)s.")
REFUSED_KEY = _("refused the key (%(status)s)")
KEY_IN_ADMIN = _("the key of the endpoint '%(name)s' in the admin")
NOT_FOUND = _(
    "%(endpoint)s has no such model or address (404: %(reason)s); choose another model in the"
    " agent's settings."
)
TOO_MANY = _("%(endpoint)s accepts no more requests for now (429: %(reason)s).")
TOO_MANY_WAIT = _(
    "%(endpoint)s accepts no more requests for now (429: %(reason)s); it asks to wait"
    " %(seconds)s s."
)
SERVER_FAILED = _("%(endpoint)s failed (%(status)s: %(reason)s).")
HAS_FAILED = _("failed (%(status)s)")
REFUSED = _("%(endpoint)s refused the request (%(status)s: %(reason)s).")


def model_error(error: Exception, endpoint: Endpoint) -> ModelError:
    """A failed call as a sentence, and whether to try again. The key is in none of it."""
    if isinstance(error, ModelError):
        return error
    redact(error, endpoint)
    if isinstance(error, APITimeoutError):
        values = {"endpoint": endpoint, "seconds": f"{settings.MODEL_TIMEOUT:g}"}
        return ModelError(SILENT % values, retry=True, trouble=WAS_SILENT % values)
    if isinstance(error, APIConnectionError):
        cause = error.__cause__
        if isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout):
            words = NOTHING_ANSWERS % {"endpoint": endpoint}
            return ModelError(words, retry=True, trouble=_("nothing answers there"))
        return broken_off(endpoint)
    if isinstance(error, APIStatusError):
        return _status_error(error, endpoint)
    if isinstance(error, APIError):
        words = STOPPED % {"endpoint": endpoint, "reason": error.message}
        return _refusal(words, _full_text(error), retry=True)
    if isinstance(error, ValueError | TypeError | AttributeError | LookupError):
        return ModelError(
            INVALID % {"endpoint": endpoint, "reason": error},
            retry=True,
            trouble=_("sent something that is not a valid answer"),
        )
    reason = f"{type(error).__name__}: {error}"
    return ModelError(FAILED % {"endpoint": endpoint, "reason": reason})


def broken_off(endpoint: Endpoint) -> ModelError:
    """That an answer ended before its end."""
    words = BROKE_OFF % {"endpoint": endpoint}
    return ModelError(words, retry=True, trouble=_("an answer broke off"))


def _status_error(error: APIStatusError, endpoint: Endpoint) -> ModelError:
    status, reason = error.status_code, _shown_text(error)
    values = {"endpoint": endpoint, "status": status, "reason": reason}
    if status in (401, 403):
        return ModelError(
            KEY_REFUSED % (values | {"words": _place_of_key(endpoint)}),
            trouble=REFUSED_KEY % values,
        )
    if status == 404:
        words = NOT_FOUND % values
        # some refuse a history with 404 (mlx_lm 1375), or images
        known = NOT_THERE.search(reason) and not NO_IMAGES.search(reason)
        return ModelError(words) if known else _refusal(words, _full_text(error))
    if status == 429:
        wait = _retry_after(error)
        too_far = wait is not None and wait > LONGEST_WAIT
        return ModelError(
            (TOO_MANY_WAIT if wait else TOO_MANY) % (values | {"seconds": f"{wait or 0:,.0f}"}),
            retry=not too_far,
            retry_after=wait,
            trouble=_("accepts no more requests for now (429)"),
        )
    if status >= 500:
        words, trouble = SERVER_FAILED % values, HAS_FAILED % values
        after = _retry_after(error)
        return _refusal(words, _full_text(error), retry=True, retry_after=after, trouble=trouble)
    words = REFUSED % values
    return _refusal(words, _full_text(error), too_long=status == 413)


def _place_of_key(endpoint: Endpoint) -> str:
    """Where the key was entered that was sent."""
    if endpoint.is_own_key:
        return _("the agent owner's own key (Account, Model keys)")
    if endpoint.row:
        return KEY_IN_ADMIN % {"name": endpoint.name}
    if endpoint.name in settings.ENDPOINTS:
        return f"MEMORYWEB_ENDPOINT_KEY_{endpoint.name.upper()}"
    return "OPENAI_API_KEY"


def _refusal(words: str, server_words: str, *, too_long: bool = False, **more: Any) -> ModelError:
    """An error in which the endpoint says what it does not accept."""
    too_long = too_long or bool(TOO_LONG.search(server_words))
    return ModelError(
        words,
        refused=True,
        server_words=server_words,
        too_long=too_long,
        window=_number(WINDOW, server_words) if too_long else None,
        request_tokens=_number(REQUESTED, server_words) if too_long else None,
        **more,
    )


def _number(pattern: re.Pattern[str], server_words: str) -> int | None:
    match = pattern.search(server_words)
    digits = next(filter(None, match.groups()), "") if match else ""
    number = int(digits.replace(",", "") or 0)
    return number if number >= LEAST_WINDOW else None


def _shown_text(error: APIStatusError) -> str:
    """The server's own words, for a person."""
    return (_message_in(error.body) or error.message)[:LONGEST_SHOWN]


def _message_in(body: Any) -> str:
    """The words in a body, wherever they are: OpenAI's `error` is taken out by the client already.

    Google's is a list, FastAPI's has a `detail`, OpenRouter's has its provider's words inside.
    """
    if isinstance(body, list):
        return "; ".join(filter(None, map(_message_in, body[:3])))
    if not isinstance(body, dict):
        return body if isinstance(body, str) else ""
    metadata = body.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    inner = [raw, body.get("error"), body.get("message"), body.get("detail"), body.get("msg")]
    return next(filter(None, map(_message_in, inner)), "")


def _full_text(error: APIError) -> str:
    """Everything the server says about it: some numbers stand beside the message."""
    body = without_inputs(error.body)
    if not body:
        return error.message[:LONGEST_SEARCHED]
    more = json.dumps(body, ensure_ascii=False, default=str)
    return f"{_message_in(body)}\n{more}"[:LONGEST_SEARCHED]


def without_inputs(body: Any) -> Any:
    """A body without what it quotes of the request, which says nothing about the server."""
    if isinstance(body, list):
        return [without_inputs(each) for each in body[:MOST_QUOTED]]
    if isinstance(body, dict):
        return {name: without_inputs(each) for name, each in body.items() if name != "input"}
    return body


def _retry_after(error: APIStatusError) -> float | None:
    try:
        return max(0.0, float(error.response.headers["retry-after"]))
    except (KeyError, ValueError):
        return None
