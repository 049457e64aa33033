"""Import: agents made of an agent file, whole or not at all.

All of a file is read and checked before anything is stored. What it holds is then written in
pieces, between which others write, for agents that nobody sees: they have UNFINISHED as the time of
their deletion. One last transaction shows them. Where that is not reached, they are deleted: by the
import itself if it fails, and with what else is past keeping if the process was killed.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction

from agents.models import Agent, BlockEdit, Event, Passage
from agents.models.agent_queryset import UNFINISHED
from agents.models.limits import check_agents
from agents.models.tag import AgentTag

from .conversation import Conversation, Line, conversation
from .limits import check_size
from .memory import Blocks, passages_of
from .reading import AgentFileError, Entry, Notes, count, listed, tidied
from .rows import piece, remove, store
from .settings import settings_of, tags_of
from .single import as_lists
from .toolset import Toolset
from .transcript import Transcript, deduced, restored

logger = logging.getLogger(__name__)
OTHERS = {
    "groups": ("group", "agents here do not work in groups"),
    "files": ("file", "there are no files here"),
    "sources": ("source", "there are no sources here"),
    "mcp_servers": ("MCP server", "there are none here"),
}
OWN = "memoryweb"
VERSION = 1  # of what stands under that key
SECONDS_TO_WAIT = 5.0  # for the import before this one; a request waits in a thread
importing = threading.Lock()  # a large file takes much memory


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


@dataclass
class Options:
    """How a file is imported.

    `name` is for a file with one agent; `suffix` is put behind each name; `model` and `embedding`
    are handles in place of the file's; `overwrite_tools` gives a tool of the same name the file's
    source; `allow_tools` is called with the names of the tools that will be stored, if there are
    some, and raises where that may not be.
    """

    name: str = ""
    suffix: str = ""
    model: str = ""
    embedding: str = ""
    with_messages: bool = True
    overwrite_tools: bool = False
    allow_tools: Callable[[list[str]], None] | None = None


def import_agent(owner: User, data: Any, **options: Any) -> Imported:
    """Make the agents of a file, given as JSON. AgentFileError, and nothing made, if it is none."""
    if not importing.acquire(timeout=SECONDS_TO_WAIT):
        raise AgentFileError("Another agent file is being imported; try again in a minute.")
    try:
        return Import(owner, data, Options(**options)).carry_out()
    finally:
        importing.release()


@dataclass
class Draft:
    """An agent to be, with what it is stored with."""

    agent: Agent
    tags: list[str]
    lines: list[Line]
    transcript: Transcript
    passages: list[Passage]
    blocks: list[str]  # keys

    def store(self, blocks: Blocks) -> None:
        """Store it all, unseen."""
        agent = self.agent
        agent.deleted_at = UNFINISHED
        with piece():
            agent.save(force_insert=True)
            AgentTag.replace(agent, self.tags)
        self.transcript.store(agent, self.lines)
        for passage in self.passages:
            passage.agent, passage.step = agent, passage.step  # which has its key by now
        store(self.passages)
        blocks.give(agent, self.blocks)

    def show(self) -> None:
        """Have people see it. Inside a transaction."""
        self.agent.deleted_at = None
        self.agent.save(update_fields=["deleted_at", "updated_at"])
        self.agent.record(Event.of(Event.Kind.AGENT_CHANGED))


class Import:
    """A file on its way into the database; made of it, it is checked."""

    def __init__(self, owner: User, data: Any, options: Options) -> None:
        self.owner, self.options, self.notes = owner, options, Notes()
        file = lists_of(tidied(data, self.notes))
        own = own_part(file, self.notes)
        check_size(file, own)
        self.blocks = Blocks(file, owner, self.notes)
        self.toolset = Toolset(
            file, own.entry("tools"), owner, self.notes, overwrite=options.overwrite_tools
        )
        entries = file.entries("agents")
        self.has_one = len(entries) == 1
        kept = own.entry("agents")
        self.drafts = [self.draft(each, kept.entry(each.get("id", str))) for each in entries]
        leave_out(file, self.notes)

    def draft(self, entry: Entry, own: Entry) -> Draft:
        """Read an agent; `own` is what this program wrote of it, if it did."""
        agent = Agent(owner=self.owner, **self.settings(entry, own))
        with_messages = self.options.with_messages
        found = conversation(entry, own, self.notes) if with_messages else Conversation([])
        has_own = bool(own.given) and with_messages
        transcript = restored(found, own) if has_own else deduced(found, self.notes)
        passages = passages_of(own, transcript.steps)
        agent.context_from, agent.message_count = found.context_from, len(found.lines)
        agent.passage_count = len(passages)
        try:
            agent.full_clean(exclude=["owner", "tools"])
        except ValidationError as error:
            named, said = next(iter(error.message_dict.items()))
            raise AgentFileError(f"{entry.place}: {named}: {said[0]}") from None
        blocks = self.blocks.of(agent.name, entry, own, transcript.steps, found.ids)
        tags = tags_of(entry, self.notes)
        return Draft(agent, tags, found.lines, transcript, passages, blocks)

    def settings(self, entry: Entry, own: Entry) -> dict[str, Any]:
        """An agent's settings, as the file and the options have them."""
        options, kept = self.options, own.entry("settings")
        settings = settings_of(entry, own, self.notes)
        if options.name and self.has_one:
            settings["name"] = options.name
        settings["name"] = f"{settings['name'][: 100 - len(options.suffix)]}{options.suffix}"
        settings["model"] = options.model or settings["model"]
        settings["embedding"] = options.embedding or settings["embedding"]
        settings["tools"] = self.toolset.of(entry, kept, settings["memory_class"])
        settings["tool_rules"] = self.toolset.rules(entry, kept, settings["tools"])
        return settings

    def carry_out(self) -> Imported:
        """Store it; all of it, or nothing that anybody sees."""
        made = [draft.agent for draft in self.drafts]
        tools = list(self.toolset.made)
        if tools and self.options.allow_tools:
            self.options.allow_tools(tools)
        with transaction.atomic():
            check_agents(self.owner, len(made))
        try:
            for draft in self.drafts:
                draft.store(self.blocks)
            with transaction.atomic():
                check_agents(self.owner, len(made))
                self.toolset.store()
                for draft in self.drafts:
                    draft.show()
        except BaseException:
            discard(made)
            raise
        return Imported(made, self.notes, tools)


def discard(agents: list[Agent]) -> None:
    """Delete what was stored of agents that will not be; what cannot be now, goes later."""
    try:
        for agent in Agent.objects.filter(pk__in=[agent.pk for agent in agents]):
            remove(agent.messages.all())
            remove(agent.passages.all())
            remove(BlockEdit.objects.filter(block__agents=agent))
            agent.purge()
    except Exception:
        logger.exception("What was stored of an import that failed is deleted within a day.")


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
