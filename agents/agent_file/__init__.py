"""Agent files: an agent as a `.af` file of Letta's, written and read.

`export_agent` gives the newer form of the format (lists of agents, blocks, tools) as a dictionary,
`written` the same as pieces of JSON. What the format has no place for (archival passages, the
ledgers of blocks, steps, compactions) stands under the key `memoryweb`, which other readers ignore.

`import_agent` reads both that form and the older one with a single agent. What an agent here cannot
have is told in notes; a file that is no agent file raises AgentFileError, and nothing is stored.

`reading` checks what a file holds and `limits` how much, `single` turns the older form into the
newer; `conversation` puts messages in order, with `call_ids` that endpoints take back, and
`transcript` makes runs and steps of them; `memory`, `toolset` and `settings` are the rest of an
agent; `exporting` and `importing` put all together, `rows` stores it some rows at a time, `pieces`
is the JSON.
"""

from .exporting import export_agent, file_name, written
from .importing import Imported, import_agent
from .reading import LARGEST, AgentFileError, read

__all__ = [
    "LARGEST",
    "AgentFileError",
    "Imported",
    "export_agent",
    "file_name",
    "import_agent",
    "read",
    "written",
]
