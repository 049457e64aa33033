"""Client-side tools: a script brings them along with its message, and runs them itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from .tool import Caller, Tool, ToolError

NO_PARAMETERS: dict[str, Any] = {"type": "object", "properties": {}}


@dataclass(frozen=True)
class ClientTool(Tool):
    """A tool that a script runs: a call of it waits until the script gives its return."""

    @property
    def takes_heartbeat(self) -> bool:
        """The agent always sees the return in a further step."""
        return False

    def parse(self, text: str, *, heartbeat: bool = False) -> dict[str, Any]:
        """The arguments; what they must be beyond a JSON object, the script checks."""
        return self.read(text)


def client_tools(stored: Iterable[dict[str, Any]]) -> dict[str, Tool]:
    """The tools of a run's script, as `Run.client_tools` has them, by name."""
    return {each["name"]: client_tool(each) for each in stored}


def client_tool(stored: dict[str, Any]) -> ClientTool:
    name, description = stored["name"], stored.get("description") or ""
    parameters = stored.get("parameters") or NO_PARAMETERS
    schema = {"name": name, "description": description, "parameters": parameters}
    return ClientTool(name, description, _not_here, BaseModel, schema=schema)


def _not_here(caller: Caller, **arguments: Any) -> str:
    raise ToolError("The script that brought this tool runs it; it cannot be run here.")
