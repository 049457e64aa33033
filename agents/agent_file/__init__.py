"""Agent files: agents as Letta's `.af` files, exported and imported.

`export_agent` gives the newer form of the format (lists of agents, blocks and tools) as a
dictionary, `written` the same as parts of JSON. What the format has no place for (passages, ledgers
of blocks, runs, steps, compactions) is under the key `memoryweb`, which other readers ignore.

`import_agent` reads that form and the older one, which has a single agent. Notes say what could not
be imported. A file that is not an agent file raises AgentFileError, and nothing is stored.

`reading` checks what a file holds and `limits` how much; `single` turns the older form into the
newer. `conversation` orders the messages, with `call_ids` that endpoints accept, and `transcript`
makes runs and steps from them. `memory`, `toolset` and `settings` are the rest of an agent,
`variables` its secrets.
`exported_history` is what was said and done of a file that is written. `exporting` and
`importing` put all together, `rows` stores rows in batches, `pieces` writes JSON.
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
