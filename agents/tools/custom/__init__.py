"""Custom tools: Python that users write, run in a sandbox on the memory of the agent that calls it.

`source` reads name, description and schema off a source; `sandbox` runs code; `drafts` are the
memory it works on, `standins` what it sees of it; `calls` puts them together.
"""

from .annotations import SourceError
from .calls import ATTEMPTS, CustomTool, Prepared, busy, from_row, own_tools, prepare
from .sandbox import available
from .source import Definition, read_source
from .staged import Change, Stale

__all__ = [
    "ATTEMPTS",
    "Change",
    "CustomTool",
    "Definition",
    "Prepared",
    "SourceError",
    "Stale",
    "available",
    "busy",
    "from_row",
    "own_tools",
    "prepare",
    "read_source",
]
