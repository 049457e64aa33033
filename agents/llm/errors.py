"""What goes wrong with a call, in a sentence: for the person who waits, and for the loop.

Servers say the same thing in many words; the patterns here are what they were seen to say.
"""

from __future__ import annotations

import json
import re
from typing import Any

import httpx2
from django.conf import settings
from openai import APIConnectionError, APIError, APIStatusError, APITimeoutError

from .endpoints import Endpoint, ModelError

LONGEST_WAIT = 60.0  # seconds; a longer Retry-After is not waited out
LONGEST_SAID = 500  # characters of a server's words that a person is shown
LONGEST_LOOKED_AT = 10_000  # characters of them that are searched for what they tell
MOST_QUOTED = 20  # entries of a list in a refusal that are looked at
LEAST_WINDOW = 256  # tokens; a smaller number in a refusal is something else

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
ASKED = re.compile(
    r"(?:request|prompt|input|messages?)\s+(?:has|have|contains?|resulted in|is)\s+([\d,]{3,})"
    r"|resulted in\s+([\d,]{3,})|requested\s+([\d,]{3,}) tokens|too long:\s*([\d,]{3,})"
    r"|token count\s*\(?([\d,]{3,})|\"?n_prompt_tokens\"?\D{1,4}([\d,]{3,})|\(([\d,]{3,}) tokens\)",
    re.IGNORECASE,
)


def in_words(error: Exception, endpoint: Endpoint) -> ModelError:
    """What went wrong with a call, named in a sentence, and whether to try again."""
    if isinstance(error, APITimeoutError):
        return ModelError(
            f"{endpoint} sent nothing for {settings.MODEL_TIMEOUT:g} s (MEMORYWEB_MODEL_TIMEOUT).",
            retry=True,
        )
    if isinstance(error, APIConnectionError):
        cause = error.__cause__
        if isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout):
            return ModelError(f"Nothing answers at {endpoint}; is the server running?", retry=True)
        return ModelError(f"The answer of {endpoint} broke off.", retry=True)
    if isinstance(error, APIStatusError):
        return _status_in_words(error, endpoint)
    if isinstance(error, APIError):
        words = f"{endpoint} broke off with an error: {error.message}"
        return _refusal(words, _all_said(error), retry=True)
    if isinstance(error, ValueError | TypeError | AttributeError | LookupError):
        return ModelError(f"{endpoint} sent something that is no answer ({error}).", retry=True)
    return ModelError(f"The call of {endpoint} failed: {type(error).__name__}: {error}")


def _status_in_words(error: APIStatusError, endpoint: Endpoint) -> ModelError:
    status, said = error.status_code, _said(error)
    if status in (401, 403):
        return ModelError(f"{endpoint} refused the key ({status}: {said}); check OPENAI_API_KEY.")
    if status == 404:
        words = f"{endpoint} has no such model or address (404: {said});"
        words += " choose another model in the agent's settings."
        known = NOT_THERE.search(said)  # some refuse a history with 404: mlx_lm 1375
        return ModelError(words) if known else _refusal(words, _all_said(error))
    if status == 429:
        wait = _retry_after(error)
        too_far = wait is not None and wait > LONGEST_WAIT
        return ModelError(
            f"{endpoint} takes no more requests now (429: {said})"
            + (f"; it asks to wait {wait:,.0f} s." if wait else "."),
            retry=not too_far,
            retry_after=wait,
        )
    if status >= 500:
        words = f"{endpoint} failed ({status}: {said})."
        return _refusal(words, _all_said(error), retry=True, retry_after=_retry_after(error))
    words = f"{endpoint} refused the request ({status}: {said})."
    return _refusal(words, _all_said(error), too_long=status == 413)


def _refusal(words: str, said: str, *, too_long: bool = False, **more: Any) -> ModelError:
    """An error in which the endpoint says what it does not take."""
    too_long = too_long or bool(TOO_LONG.search(said))
    return ModelError(
        words,
        refused=True,
        said=said,
        too_long=too_long,
        window=_number(WINDOW, said) if too_long else None,
        asked=_number(ASKED, said) if too_long else None,
        **more,
    )


def _number(pattern: re.Pattern[str], said: str) -> int | None:
    found = pattern.search(said)
    digits = next(filter(None, found.groups()), "") if found else ""
    number = int(digits.replace(",", "") or 0)
    return number if number >= LEAST_WINDOW else None


def _said(error: APIStatusError) -> str:
    """What the server says of it, for a person."""
    return (_message_in(error.body) or error.message)[:LONGEST_SAID]


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


def _all_said(error: APIError) -> str:
    """All that the server says of it: some numbers stand beside the message."""
    body = without_inputs(error.body)
    if not body:
        return error.message[:LONGEST_LOOKED_AT]
    more = json.dumps(body, ensure_ascii=False, default=str)
    return f"{_message_in(body)}\n{more}"[:LONGEST_LOOKED_AT]


def without_inputs(body: Any) -> Any:
    """A body without what it quotes of the request, which tells nothing of the server."""
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
