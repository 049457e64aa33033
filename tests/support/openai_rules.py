"""Which chat-completions requests the fake server refuses: those that break a judge's rule."""

import json
from collections.abc import Collection
from typing import Any

from tests.support import judges

Body = dict[str, Any]


class Refusal(Exception):
    """An HTTP error with the API's JSON body."""

    def __init__(
        self,
        message: str,
        param: str | None = None,
        code: str | None = None,
        *,
        status: int = 400,
        kind: str = "invalid_request_error",
    ) -> None:
        super().__init__(message)
        self.status = status
        self.error = {"message": message, "type": kind, "param": param, "code": code}


def parse(raw: bytes) -> Body:
    """The request's body; refused when it is not a JSON object."""
    try:
        body = json.loads(raw, parse_constant=_not_json)
    except ValueError:
        body = None
    if isinstance(body, dict):
        return body
    raise Refusal("We could not parse the JSON body of your request.")


def check(body: Body, models: Collection[str], also_allowed: Collection[str] = ()) -> None:
    """Raise `Refusal` unless the API would take this request.

    `also_allowed` names further parameters and message fields, for the servers that know more
    than OpenAI's ("top_k", "reasoning_content").
    """
    model = body.get("model")
    if isinstance(model, str) and model not in models:
        raise unknown_model(model)
    if broken := judges.broken_rules("", body, also_allowed):
        raise Refusal("; ".join(broken), "messages")


def unknown_model(model: str) -> Refusal:
    """What the API says of it; a 404, unlike its other complaints."""
    words = f"The model `{model}` does not exist or you do not have access to it."
    return Refusal(words, None, "model_not_found", status=404)


def _not_json(constant: str) -> None:
    raise ValueError(constant)
