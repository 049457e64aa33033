"""Mistral's rules: its own validators, and what its service refuses beyond them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any

Body = dict[str, Any]


def broken_rules(body: Body) -> Iterator[str]:
    """Each rule of Mistral's that a request breaks."""
    # Imported here: it takes half a second, and few tests need it.
    from mistral_common.exceptions import MistralCommonException
    from mistral_common.protocol.instruct.request import ChatCompletionRequest

    named = {"messages": body["messages"], "tools": body.get("tools"), "model": body["model"]}
    try:
        _validator().validate_request(ChatCompletionRequest.from_openai(**named))
    except (MistralCommonException, ValueError) as error:  # pydantic's errors are ValueErrors
        yield str(error)
    # Refused by the service, as "invalid_request_message_order", code 3230: avante 2695.
    roles = [message["role"] for message in body["messages"]]
    if ("tool", "user") in pairwise(roles):
        yield "Unexpected role 'user' after role 'tool'"
    # 422, "Extra inputs are not permitted": llxprt 114, crush 1590.
    if "stream_options" in body:
        yield "body.stream_options: Extra inputs are not permitted"
    for place, message in enumerate(body["messages"]):
        if message.keys() & {"reasoning_content", "refusal"}:
            yield f"body.messages.{place}: Extra inputs are not permitted"


@cache
def _validator() -> Any:
    """Of the models since 2024-09, which take text beside calls; ids have nine characters."""
    from mistral_common.protocol.instruct.validator import MistralRequestValidatorV5, ValidationMode

    return MistralRequestValidatorV5(mode=ValidationMode.serving)
