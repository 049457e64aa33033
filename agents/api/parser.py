"""Parses bodies and queries, and replaces characters that no database can store."""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpRequest
from django.utils.datastructures import MultiValueDict
from ninja.errors import HttpError
from ninja.parser import Parser

from agents.models.message import storable

LONGEST_INTEGER = 2**63 - 1


class CleanParser(Parser):
    """Strict JSON, with a mark in place of each character that cannot be stored."""

    def parse_body(self, request: HttpRequest) -> Any:
        if not request.body:
            return {}
        try:
            sent = cleaned(json.loads(request.body, parse_constant=refuse, parse_float=finite))
        except (ValueError, RecursionError) as error:
            raise HttpError(400, f"The body is not JSON ({error}).") from None
        request.sent_body = sent  # type: ignore[attr-defined]  # for `notes.py`
        return sent

    def parse_querydict(
        self, data: MultiValueDict[str, Any], list_fields: list[str], request: HttpRequest
    ) -> dict[str, Any]:
        """The query, or a form; an SDK's `names[]=a` means the same as `names=a`."""
        fields: dict[str, Any] = {}
        for key in data:
            name = key.removesuffix("[]")
            values = [
                storable(each) if isinstance(each, str) else each for each in data.getlist(key)
            ]
            fields[name] = values if name in list_fields or len(values) > 1 else values[0]
        return fields


def refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not valid in JSON")


def finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{text:.20} is too large")
    return number


def cleaned(value: Any) -> Any:
    """The value with every text in it storable."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list):
        return [cleaned(each) for each in value]
    if isinstance(value, dict):
        return {storable(key): cleaned(each) for key, each in value.items()}
    if isinstance(value, int) and not -LONGEST_INTEGER <= value <= LONGEST_INTEGER:
        raise ValueError(f"the number {str(value)[:20]}… is too large")
    return value
