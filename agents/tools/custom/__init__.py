"""Custom tools: Python that users write, run in a sandbox on the memory of the agent that calls it.

`source` reads name, description and schema off a source; `sandbox` runs code; `staged` is the
memory it works on, `letta_shim` what it sees of it; `calls` puts them together.
"""

from .annotations import SourceError
from .calls import ATTEMPTS, CustomTool, Prepared, busy, from_row, own_tools, prepare
from .sandbox import available
from .source import Definition, read_source, read_tool
from .staged import Change, WriteConflict

__all__ = [
    "ATTEMPTS",
    "Change",
    "CustomTool",
    "Definition",
    "Prepared",
    "SourceError",
    "WriteConflict",
    "available",
    "busy",
    "from_row",
    "own_tools",
    "prepare",
    "read_source",
    "read_tool",
]
