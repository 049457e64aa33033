"""Plays scenarios with the SDK of its interpreter: asked on stdin, answered on stdout, a line each.

    {"scenario": "simple_agent", "base_url": "http://127.0.0.1:8283", "given": {}}
    {"told": {...}, "requests": [["POST", "/v1/agents/", 200], ...]}

`requests` is what the SDK sent meanwhile, and the status of each answer. It imports nothing that
needs more than that SDK.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections import ChainMap
from typing import Any

import httpx

from tests.sdk import (
    every_method,
    image_scenarios,
    operations,
    scenarios,
    tool_operations,
    tool_scenarios,
    waiting,
)
from tests.sdk.any_version import connect

MODULES = (
    *(scenarios, tool_scenarios, operations, tool_operations, waiting, every_method),
    image_scenarios,
)
requests: list[Any] = []
send = httpx.Client.send


def noting(client: Any, request: Any, **how: Any) -> Any:
    response = send(client, request, **how)
    requests.append([request.method, request.url.path, response.status_code])
    return response


def play(asked: dict[str, Any]) -> dict[str, Any]:
    given = asked["given"]
    requests.clear()
    try:
        client = connect(asked["base_url"], given.pop("token", None))
        if asked["scenario"] == "errors":
            given["base_url"] = asked["base_url"]
        scenario = ChainMap(*map(vars, MODULES))[asked["scenario"]]
        return {"told": scenario(client, **given), "requests": requests}
    except Exception:
        return {"failed": traceback.format_exc()}


if __name__ == "__main__":
    httpx.Client.send = noting
    answers, sys.stdout = sys.stdout, sys.stderr  # whatever else is printed
    for line in sys.stdin:
        print(json.dumps(play(json.loads(line))), file=answers, flush=True)
