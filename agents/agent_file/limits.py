"""How much a file may hold, checked before anything is read from it."""

from __future__ import annotations

from collections.abc import Iterable

from django.utils.translation import gettext, gettext_noop, ngettext

from agents.text.numbers import whole

from .reading import AgentFileError, Entry

MOST_AGENTS = 100
MOST_BLOCKS = 1_000
MOST_TOOLS = 500
MOST_MESSAGES = 100_000
MOST_PASSAGES = 100_000
MOST_EDITS = 100_000
MOST_STEPS = 100_000
MOST_IMAGES_OF_AGENT = 300
TOO_MANY = {
    "blocks": gettext_noop(
        "The file has %(count)s blocks; at most %(most)s are allowed. Merge some of them."
    ),
    "tools": gettext_noop(
        "The file has %(count)s tools; at most %(most)s are allowed. Remove those that no agent"
        " needs."
    ),
    "messages": gettext_noop(
        "The file has %(count)s messages; at most %(most)s are allowed. Import it without messages."
    ),
    "passages": gettext_noop(
        "The file has %(count)s passages; at most %(most)s are allowed. Move some to another file."
    ),
    "edits": gettext_noop(
        "The file has %(count)s edits of blocks; at most %(most)s are allowed. Remove some of them."
    ),
    "steps": gettext_noop(
        "The file has %(count)s steps; at most %(most)s are allowed. Import it without messages."
    ),
    "runs": gettext_noop(
        "The file has %(count)s runs; at most %(most)s are allowed. Import it without messages."
    ),
}


def check_size(file: Entry, own: Entry) -> None:
    """AgentFileError if the file has more of something than one import can take."""
    agents = file.entries("agents")
    if not 0 < len(agents) <= MOST_AGENTS:
        words = ngettext(
            "The file has %(count)s agent; import 1 to %(most)s.",
            "The file has %(count)s agents; import 1 to %(most)s.",
            len(agents),
        )
        raise AgentFileError(words % {"count": whole(len(agents)), "most": MOST_AGENTS})
    kept = [own.entry("agents").entry(agent.get("id", str)) for agent in agents]
    ledgers = [Entry(each, "blocks") for its in kept for each in its.entry("blocks").given.values()]
    runs = [run for its in kept for run in its.entries("runs")]
    inside = sum(length(agent, "memory_blocks") for agent in agents)
    counts = {
        "blocks": (length(file, "blocks") + inside, MOST_BLOCKS),
        "tools": (length(file, "tools"), MOST_TOOLS),
        "messages": (total(agents, "messages"), MOST_MESSAGES),
        "passages": (total(kept, "passages"), MOST_PASSAGES),
        "edits": (total(ledgers, "edits"), MOST_EDITS),
        "steps": (total(runs, "steps"), MOST_STEPS),
        "runs": (len(runs), MOST_STEPS),
    }
    for name, (count, most) in counts.items():
        if count > most:
            words = gettext(TOO_MANY[name])
            raise AgentFileError(words % {"count": whole(count), "most": whole(most)})


def check_images(count: int) -> None:
    """AgentFileError if an agent's messages have more images than one import can take."""
    if count > MOST_IMAGES_OF_AGENT:
        words = gettext(
            "The messages of an agent have more than %(most)s images; at most so many are allowed."
            " Import it without messages."
        )
        raise AgentFileError(words % {"most": whole(MOST_IMAGES_OF_AGENT)})


def total(entries: Iterable[Entry], name: str) -> int:
    return sum(length(each, name) for each in entries)


def length(entry: Entry, name: str) -> int:
    return len(entry.get(name, list, []))
