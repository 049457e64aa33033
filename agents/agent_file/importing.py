"""Import: agents created from an agent file, completely or not at all.

The whole file is read and checked before anything is stored. Its rows are then written in batches,
between which other writers get their turn. Until the last transaction nobody sees the agents: their
`deleted_at` is UNFINISHED. If an import fails, it deletes them itself; if the process is killed,
they are deleted with what was deleted long ago.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext, ngettext_lazy

from agents.models import Agent, BlockEdit, Event, Passage
from agents.models.agent_queryset import UNFINISHED
from agents.models.limits import check_agents
from agents.models.stored_bytes import check_storage
from agents.models.tag import AgentTag
from agents.text.numbers import whole

from .conversation import History, Line, conversation
from .limits import check_size
from .memory import Blocks, passages_of
from .reading import THE_FILE, AgentFileError, Entry, Notes, clean_json, listed
from .rows import batch, remove, store
from .settings import settings_of, tags_of
from .single import as_lists
from .toolset import Toolset
from .transcript import Transcript, deduce_runs, restored
from .variables import Variables

logger = logging.getLogger(__name__)
OTHERS = {
    "groups": ngettext_lazy(
        "%(shown)s group%(names)s not imported: there are no groups of agents here.",
        "%(shown)s groups%(names)s not imported: there are no groups of agents here.",
        "count",
    ),
    "files": ngettext_lazy(
        "%(shown)s file%(names)s not imported: there are no files here.",
        "%(shown)s files%(names)s not imported: there are no files here.",
        "count",
    ),
    "sources": ngettext_lazy(
        "%(shown)s source%(names)s not imported: there are no sources here.",
        "%(shown)s sources%(names)s not imported: there are no sources here.",
        "count",
    ),
    "mcp_servers": ngettext_lazy(
        "%(shown)s MCP server%(names)s not imported: there are no MCP servers here.",
        "%(shown)s MCP servers%(names)s not imported: there are no MCP servers here.",
        "count",
    ),
}
OWN = "memoryweb"
VERSION = 1  # of what stands under that key
SECONDS_TO_WAIT = 5.0  # for the import before this one; a request waits in a thread
importing = threading.Lock()  # a large file takes much memory


@dataclass
class Imported:
    """What an import created; `notes` say what it could not import as it was."""

    agents: list[Agent]
    notes: list[str] = field(default_factory=list)
    tools: list[str] = field(default_factory=list)  # the owner's tools that are new or changed
    missing: dict[UUID, list[str]] = field(default_factory=dict)
    """By an agent's key: the names of its environment variables that have no value yet."""

    @property
    def agent(self) -> Agent:
        """The agent, or the first of several."""
        return self.agents[0]


@dataclass
class Options:
    """How a file is imported.

    `name` is for a file with one agent; `suffix` is added to each name; `model` and `embedding`
    replace the file's handles; `secrets` are values of environment variables; `overwrite_tools`
    gives an existing tool of the same name the file's source; `allow_tools` is called with the
    names of the tools that will be stored, if there are any, and raises an exception if that is not
    allowed.
    """

    name: str = ""
    suffix: str = ""
    model: str = ""
    embedding: str = ""
    secrets: Mapping[str, str] = field(default_factory=dict)
    with_messages: bool = True
    overwrite_tools: bool = False
    allow_tools: Callable[[list[str]], None] | None = None


def import_agent(owner: User, data: Any, **options: Any) -> Imported:
    """Create the agents of a file's JSON. AgentFileError, with nothing stored, for a bad file."""
    if not importing.acquire(timeout=SECONDS_TO_WAIT):
        words = gettext("Another agent file is being imported; try again in a minute.")
        raise AgentFileError(words)
    try:
        return Import(owner, data, Options(**options)).carry_out()
    finally:
        importing.release()


@dataclass
class Draft:
    """An agent that is not stored yet, with everything that belongs to it."""

    agent: Agent
    tags: list[str]
    lines: list[Line]
    transcript: Transcript
    passages: list[Passage]
    blocks: list[str]  # keys
    missing: list[str]  # names of environment variables without a value

    def store(self, blocks: Blocks) -> None:
        """Store it all; nobody sees it yet."""
        agent = self.agent
        agent.deleted_at = UNFINISHED
        with batch():
            agent.save(force_insert=True)
            AgentTag.replace(agent, self.tags)
        self.transcript.store(agent, self.lines)
        for passage in self.passages:
            passage.agent, passage.step = agent, passage.step  # which has its key by now
        store(self.passages)
        blocks.give(agent, self.blocks)

    @property
    def size(self) -> int:
        """Bytes of what it says and remembers; each image is counted where it is stored."""
        said = (f"{line.content}{line.reasoning}" for line in self.lines)
        return sum(len(text.encode()) for text in (*said, *(each.text for each in self.passages)))

    def show(self) -> None:
        """Make it visible. Call it in a transaction."""
        self.agent.deleted_at = None
        self.agent.save(update_fields=["deleted_at", "updated_at"])
        self.agent.audit_secrets({}, self.agent.secrets)
        self.agent.record(Event.of(Event.Kind.AGENT_CHANGED))


class Import:
    """A file that is being imported; the constructor checks all of it."""

    def __init__(self, owner: User, data: Any, options: Options) -> None:
        self.owner, self.options, self.notes = owner, options, Notes()
        file = lists_of(clean_json(data, self.notes))
        own = own_part(file, self.notes)
        check_size(file, own)
        self.blocks = Blocks(file, owner, self.notes)
        self.toolset = Toolset(
            file, own.entry("tools"), owner, self.notes, overwrite=options.overwrite_tools
        )
        entries = file.entries("agents")
        self.has_one = len(entries) == 1
        self.variables = Variables(entries, options.secrets, self.notes)
        kept = own.entry("agents")
        self.drafts = [self.draft(each, kept.entry(each.get("id", str))) for each in entries]
        leave_out(file, self.notes)

    def draft(self, entry: Entry, own: Entry) -> Draft:
        """Read an agent; `own` is what this program wrote of it, if it did."""
        agent = Agent(owner=self.owner, **self.settings(entry, own))
        with_messages = self.options.with_messages
        talk = conversation(entry, own, self.notes) if with_messages else History([])
        has_own = bool(own.given) and with_messages
        transcript = restored(talk, own) if has_own else deduce_runs(talk, self.notes)
        passages = passages_of(own, transcript.steps)
        agent.secrets, missing = self.variables.of(entry, agent.name)
        agent.message_count = len(talk.lines)
        agent.passage_count = len(passages)
        entry.check(agent, exclude=["owner", "tools"])
        blocks = self.blocks.of(agent.name, entry, own, transcript.steps, talk.ids)
        tags = tags_of(entry, self.notes)
        return Draft(agent, tags, talk.lines, transcript, passages, blocks, missing)

    def settings(self, entry: Entry, own: Entry) -> dict[str, Any]:
        """An agent's settings, as the file and the options have them."""
        options, kept = self.options, own.entry("settings")
        settings = settings_of(entry, own, self.owner.pk, self.notes)
        if options.name and self.has_one:
            settings["name"] = options.name
        settings["name"] = f"{settings['name'][: 100 - len(options.suffix)]}{options.suffix}"
        settings["model"] = options.model or settings["model"]
        settings["embedding"] = options.embedding or settings["embedding"]
        settings["tools"] = self.toolset.of(entry, kept, settings["memory_class"])
        settings["tool_rules"] = self.toolset.rules(entry, kept, settings["tools"])
        return settings

    def carry_out(self) -> Imported:
        """Store all of it; if that fails, nothing remains visible."""
        made = [draft.agent for draft in self.drafts]
        tools = list(self.toolset.made)
        if tools and self.options.allow_tools:
            self.options.allow_tools(tools)
        with transaction.atomic():
            check_agents(self.owner, len(made))
        check_storage(self.owner.pk, sum(draft.size for draft in self.drafts))
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
        missing = {draft.agent.pk: draft.missing for draft in self.drafts if draft.missing}
        return Imported(made, self.notes, tools, missing)


def discard(agents: list[Agent]) -> None:
    """Delete what was stored of agents whose import failed."""
    try:
        for agent in Agent.objects.filter(pk__in=[agent.pk for agent in agents]):
            remove(agent.messages.all())
            remove(agent.passages.all())
            remove(BlockEdit.objects.filter(block__agents=agent))
            agent.purge()
    except Exception:
        logger.exception("The rows of a failed import are left; they are deleted within a day.")


def leave_out(file: Entry, notes: Notes) -> None:
    """Note what a file has that does not exist here."""
    for kind, words in OTHERS.items():
        if others := file.entries(kind):
            names = [each.text("name") or each.text("server_name") for each in others]
            in_brackets = f" ({listed(list(filter(None, names)))})" if any(names) else ""
            number = len(others)
            shown = {"count": number, "shown": whole(number), "names": in_brackets}
            notes.add(str(words % shown))


def lists_of(data: Any) -> Entry:
    """A file in the newer form."""
    file = Entry(data, THE_FILE)
    if isinstance(file.given.get("agents"), list):
        return file
    if "core_memory" in file.given or "in_context_message_indices" in file.given:
        return Entry(as_lists(file) | {OWN: None}, THE_FILE)
    raise AgentFileError(
        gettext(
            "The file is JSON, but not an agent file: it has neither 'agents' (the newer form) nor"
            " 'core_memory' (the older form)."
        )
    )


def own_part(file: Entry, notes: Notes) -> Entry:
    """What this program added to the format; {} for a file of another program."""
    own = file.entry(OWN)
    if own.given and own.get("version", int) != VERSION:
        words = gettext(
            "The file's part '%(part)s' has version %(version)s, and this server reads version"
            " %(ours)s: archival memory and the history of memory were not imported."
        )
        notes.add(words % {"part": OWN, "version": own.get("version", int), "ours": VERSION})
        return Entry({}, own.place)
    return own
