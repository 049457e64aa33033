"""Import: agents made of an agent file, whole or not at all."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction

from agents.models import Agent, Event
from agents.models.tag import AgentTag

from .conversation import Conversation, conversation
from .memory import Blocks, passages_of
from .reading import AgentFileError, Entry, Notes, count, listed, tidied
from .rows import store
from .settings import settings_of, tags_of
from .single import as_lists
from .toolset import Toolset
from .transcript import deduced, restored

MOST_AGENTS = 100
OTHERS = {
    "groups": ("group", "agents here do not work in groups"),
    "files": ("file", "there are no files here"),
    "sources": ("source", "there are no sources here"),
    "mcp_servers": ("MCP server", "there are none here"),
}
OWN = "memoryweb"
VERSION = 1  # of what stands under that key


@dataclass
class Imported:
    """What an import made, and in `notes` what it could not take over as it was."""

    agents: list[Agent]
    notes: list[str] = field(default_factory=list)
    tools: list[str] = field(default_factory=list)  # the owner's that are new, or changed

    @property
    def agent(self) -> Agent:
        """The agent, or the first of several."""
        return self.agents[0]


@transaction.atomic
def import_agent(
    owner: User,
    data: Any,
    *,
    name: str = "",
    suffix: str = "",
    model: str = "",
    with_messages: bool = True,
    overwrite_tools: bool = False,
) -> Imported:
    """Make the agents of a file, given as JSON. AgentFileError, and nothing made, if it is none.

    `name` is for a file with one agent; `suffix` is put behind each name; `model` is a handle in
    place of the file's; `overwrite_tools` gives a tool of the same name the file's source.
    """
    notes = Notes()
    file = lists_of(tidied(data, notes))
    entries = file.entries("agents")
    if not 0 < len(entries) <= MOST_AGENTS:
        raise AgentFileError(f"The file has {len(entries):,} agents; 1 to {MOST_AGENTS} can be.")
    own = own_part(file, notes)
    blocks = Blocks(file, owner, notes)
    toolset = Toolset(file, own.entry("tools"), owner, notes, overwrite=overwrite_tools)
    made = []
    for entry in entries:
        its = own.entry("agents").entry(entry.get("id", str))
        settings = settings_of(entry, its, notes)
        if name and len(entries) == 1:
            settings["name"] = name
        settings["name"] = f"{settings['name'][: 100 - len(suffix)]}{suffix}"
        settings["model"] = model or settings["model"]
        settings["tools"] = toolset.of(entry, its.entry("settings"), settings["memory_class"])
        settings["tool_rules"] = toolset.rules(entry, settings["tools"])
        found = conversation(entry, its, notes) if with_messages else Conversation([])
        agent = Agent(owner=owner, **settings)
        made.append(stored(agent, entry, its, found, blocks, notes, with_messages))
    leave_out(file, notes)
    return Imported(made, notes, toolset.made)


def stored(
    agent: Agent,
    entry: Entry,
    own: Entry,
    found: Conversation,
    blocks: Blocks,
    notes: Notes,
    with_messages: bool,
) -> Agent:
    """Store an agent with all it has."""
    has_own = bool(own.given) and with_messages
    transcript = restored(found, own) if has_own else deduced(found, notes)
    agent.context_from, agent.message_count = found.context_from, len(found.lines)
    try:
        agent.full_clean(exclude=["owner", "tools"])
    except ValidationError as error:
        named, said = next(iter(error.message_dict.items()))
        raise AgentFileError(f"{entry.place}: {named}: {said[0]}") from None
    agent.save(force_insert=True)
    AgentTag.put(agent, tags_of(entry, notes))
    transcript.store(agent, found.lines)
    blocks.give(agent, entry, own, transcript.steps)
    passages = passages_of(agent, own, transcript.steps)
    store(passages)
    Agent.objects.filter(pk=agent.pk).update(passage_count=len(passages))
    agent.refresh_from_db()
    agent.record(Event.of(Event.Kind.AGENT_CHANGED))
    return agent


def leave_out(file: Entry, notes: Notes) -> None:
    """Tell what a file has that there is no place for here."""
    for kind, (noun, why) in OTHERS.items():
        if others := file.entries(kind):
            names = [each.text("name") or each.text("server_name") for each in others]
            told = f" ({listed(list(filter(None, names)))})" if any(names) else ""
            notes.add(f"{count(len(others), noun)}{told} left out, as {why}.")


def lists_of(data: Any) -> Entry:
    """A file in the newer form, whichever it came in."""
    file = Entry(data, "The file")
    if isinstance(file.given.get("agents"), list):
        return file
    if "core_memory" in file.given or "in_context_message_indices" in file.given:
        return Entry(as_lists(file) | {OWN: None}, "The file")
    raise AgentFileError(
        "The file is JSON, but no agent file: it has neither 'agents' (as newer ones have) nor"
        " 'core_memory' (as older ones have)."
    )


def own_part(file: Entry, notes: Notes) -> Entry:
    """What this program wrote beside the format; {} for a file of somebody else's."""
    own = file.entry(OWN)
    if own.given and own.get("version", int) != VERSION:
        notes.add(
            f"The file's part '{OWN}' is of version {own.get('version', int)}, which is not known"
            f" here ({VERSION} is): archival memory and the history of memory were left out."
        )
        return Entry({}, own.place)
    return own
