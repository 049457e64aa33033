"""How much a file may hold, checked before anything is read from it."""

from __future__ import annotations

from .reading import AgentFileError, Entry

MOST_AGENTS = 100
MOST_BLOCKS = 1_000
MOST_TOOLS = 500
MOST_MESSAGES = 100_000
MOST_PASSAGES = 100_000
MOST_EDITS = 100_000
MOST_STEPS = 100_000
MOST_IMAGES_OF_AGENT = 300


def check_size(file: Entry, own: Entry) -> None:
    """AgentFileError if the file has more of something than one import can take."""
    agents = file.entries("agents")
    if not 0 < len(agents) <= MOST_AGENTS:
        raise AgentFileError(f"The file has {len(agents):,} agents; import 1 to {MOST_AGENTS}.")
    kept = [own.entry("agents").entry(agent.get("id", str)) for agent in agents]
    ledgers = [Entry(each, "blocks") for its in kept for each in its.entry("blocks").given.values()]
    runs = [run for its in kept for run in its.entries("runs")]
    inside = sum(length(agent, "memory_blocks") for agent in agents)
    counts = [
        (length(file, "blocks") + inside, MOST_BLOCKS, "blocks", "Merge some of them"),
        (length(file, "tools"), MOST_TOOLS, "tools", "Remove those that no agent needs"),
        *[
            (sum(length(each, name) for each in among), most, noun, advice)
            for among, name, most, noun, advice in (
                (agents, "messages", MOST_MESSAGES, "messages", "Import it without messages"),
                (kept, "passages", MOST_PASSAGES, "passages", "Move some to another file"),
                (ledgers, "edits", MOST_EDITS, "edits of blocks", "Remove some of them"),
                (runs, "steps", MOST_STEPS, "steps", "Import it without messages"),
            )
        ],
        (len(runs), MOST_STEPS, "runs", "Import it without messages"),
    ]
    for count, most, noun, advice in counts:
        if count > most:
            raise AgentFileError(
                f"The file has {count:,} {noun}; at most {most:,} are allowed. {advice}."
            )


def check_images(count: int) -> None:
    """AgentFileError if an agent's messages have more images than one import can take."""
    if count > MOST_IMAGES_OF_AGENT:
        raise AgentFileError(
            f"The messages of an agent have more than {MOST_IMAGES_OF_AGENT:,} images; at most so"
            " many are allowed. Import it without messages."
        )


def length(entry: Entry, name: str) -> int:
    return len(entry.get(name, list, []))
