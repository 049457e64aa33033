"""The tool with which an agent computes: Python in the sandbox, which sees nothing of memory."""

from __future__ import annotations

import json
from typing import Literal

from .custom import sandbox
from .custom.outcome import cut
from .tool import Caller, ToolError, tool

LONGEST_CODE = 100_000  # characters


@tool(family="letta_builtin", yields=True, outside=True)
def run_code(
    caller: Caller, code: str, language: Literal["python", "js", "ts", "r", "java"] = "python"
) -> str:
    """Run Python without files, network and packages. You get what it prints and the value of its
    last line.

    Args:
        code: The code.
        language: Must be "python"; no other language can be run here.
    """
    if language != "python":
        raise ToolError(f"Only Python can be run here, not {language}; write the code in Python.")
    if len(code) > LONGEST_CODE:
        raise ToolError(
            f"The code has {len(code):,} characters; at most {LONGEST_CODE:,} are allowed."
        )
    try:
        result = sandbox.run(
            code, person=caller.agent.owner_id, inputs={}, modules={}, limits=sandbox.most()
        )
    except sandbox.Unavailable as error:
        raise ToolError(str(error)) from None
    printed = str(result.printed)
    answer = {
        "results": [] if result.error or result.value is None else [cut(str(result.value))],
        "logs": {"stdout": [printed] if printed else [], "stderr": []},
    }
    if result.error:
        line = f" (line {result.lines[0]})" if result.lines else ""
        answer["error"] = f"{result.error}{line}"
    return cut(json.dumps(answer, ensure_ascii=False))
