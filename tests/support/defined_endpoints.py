"""Endpoints that administrators define, for tests."""

from __future__ import annotations

from agents.models import ModelEndpoint

URL = "http://lab:8000/v1"


def define(name: str = "lab", key: str = "", **fields: object) -> ModelEndpoint:
    """An endpoint as an administrator stores it."""
    row = ModelEndpoint(name=name, **{"base_url": URL} | fields)
    row.set_key(key)
    row.full_clean()
    row.save()
    return row
