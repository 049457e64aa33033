"""Blocks with their ledgers, and passages, as a file has them."""

from __future__ import annotations

import re

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.utils import timezone

from agents import typed
from agents.models import Agent, Block, BlockEdit, Editor, MemoryRefusal, Passage, Step
from agents.models.block import DEFAULT_LIMIT, LABEL
from agents.models.passage import checked_tags, checked_text

from .reading import AgentFileError, Entry, Notes
from .rows import store

LONGEST_LABEL = 50
LONGEST_DESCRIPTION = 500
LARGEST_LIMIT = 1_000_000
NOT_IN_A_LABEL = re.compile(r"[^\w./-]+")


class Blocks:
    """The blocks of a file; each is stored once, however many of its agents hold it."""

    def __init__(self, file: Entry, owner: User, notes: Notes) -> None:
        self.entries = {block.get("id", str): block for block in file.entries("blocks")}
        self.owner, self.notes = owner, notes
        self.stored: dict[str, Block] = {}

    def give(self, agent: Agent, entry: Entry, own: Entry, steps: list[Step]) -> None:
        """Have the agent hold its blocks, with the ledgers that this program wrote of them."""
        ledgers = own.entry("blocks")
        inline = {each.place: each for each in entry.entries("memory_blocks")}
        self.entries |= inline
        held: set[str] = set()
        for key in dict.fromkeys([*entry.texts("block_ids"), *inline]):
            if key not in self.entries:
                self.notes.add(f"The block '{key[:100]}' is not in the file.")
                continue
            if key not in self.stored:
                self.stored[key] = self.make(self.entries[key], ledgers.entry(key), steps, held)
            block = self.stored[key]
            if block.label in held:
                self.notes.add(
                    f"A second block '{block.label}' of '{agent.name}' was not attached to it:"
                    " the agent holds another one of that label."
                )
                continue
            held.add(block.label)
            agent.hold(block)

    def make(self, entry: Entry, ledger: Entry, steps: list[Step], taken: set[str]) -> Block:
        value = entry.text("value")
        block = Block(owner=self.owner, label=self.label(entry, taken))
        block.description = self.description(entry, block.label)
        block.read_only = entry.get("read_only", bool, False)
        block.ask_before_write = ledger.get("ask_before_write", bool, False)
        block.kind = ledger.get("kind", str, Block.Kind.TEXT)
        block.schema = ledger.given.get("schema")
        block.limit = self.limit(entry, block.label, value)
        block.name = entry.text("template_name")[:200]
        block.tags = list(dict.fromkeys(entry.texts("tags") or ledger.texts("tags")))[:100]
        block.metadata = entry.get("metadata", dict, {})
        block.value = value
        validated(block, entry)
        kept = edits_of(ledger, steps)
        if ledger.given:
            block.value = kept[-1].after if kept else ledger.text("first")
            block.version = len(kept)
        else:
            block.value = typed.empty(block.kind)
        if len(block.value) > block.limit:
            raise ledger.wrong("edits", f"end with a value over the limit of {block.limit:,}")
        block.save(force_insert=True)
        for edit in kept:
            edit.block = block
        keep(kept, ledger)
        try:
            block.set_value(value, by=Editor.person(self.owner, Editor.IMPORT))
        except MemoryRefusal as refusal:
            raise AgentFileError(f"{entry.place}: {refusal}") from None
        return block

    def label(self, entry: Entry, taken: set[str]) -> str:
        """A label that a block may have and that is free in the agent."""
        given = entry.get("label", str)
        label = given
        if not LABEL.match(label):
            words = [NOT_IN_A_LABEL.sub("_", word) for word in label.split()]
            label = " ".join(words) or "block"
        label = label[:LONGEST_LABEL].rstrip()
        number = 1
        first = label
        while label in taken:
            number += 1
            label = f"{first[: LONGEST_LABEL - 5]}_{number}"
        if label != given:
            why = "there were two of that label" if number > 1 else "a label may not be so"
            self.notes.add(f"The block '{given[:100]}' is called '{label}' here, as {why}.")
        return label

    def description(self, entry: Entry, label: str) -> str:
        given = entry.text("description")
        if len(given) > LONGEST_DESCRIPTION:
            self.notes.add(
                f"The description of block '{label}' had {len(given):,} characters; the first"
                f" {LONGEST_DESCRIPTION} were taken over."
            )
        return given[:LONGEST_DESCRIPTION]

    def limit(self, entry: Entry, label: str, value: str) -> int:
        """The limit in characters, raised where the value is longer."""
        given = entry.get("limit", int, None)
        if given is None:
            return max(DEFAULT_LIMIT, len(value))
        limit = max(1, min(given, LARGEST_LIMIT), len(value))
        if limit > given:
            self.notes.add(
                f"The limit of block '{label}' was raised from {given:,} to {limit:,} characters,"
                " as its value is that long."
            )
        elif limit < given:
            self.notes.add(
                f"The limit of block '{label}' was lowered from {given:,} to {limit:,} characters,"
                " the most there is."
            )
        return limit


def validated(block: Block, entry: Entry) -> None:
    """AgentFileError where the block cannot be as it is."""
    try:
        block.full_clean(exclude=["owner"])
    except ValidationError as error:
        field, said = next(iter(error.message_dict.items()))
        raise AgentFileError(f"{entry.place}.{field}: {said[0]}") from None


def edits_of(ledger: Entry, steps: list[Step]) -> list[BlockEdit]:
    """The rows of a ledger, but for the block and what they undo."""
    before, kept = ledger.text("first"), []
    for version, each in enumerate(ledger.entries("edits"), 1):
        edit = BlockEdit(
            version=version,
            before=before,
            after=each.text("after"),
            restores=each.whole("restores", 0, version),
            editor_kind=Editor.IMPORT,
            editor_name=each.text("editor", 150),
            step=step_of(each, steps),
            tool_call_id=each.text("tool_call_id", 200),
            created_at=each.moment("created_at") or timezone.now(),
        )
        before = edit.after
        kept.append(edit)
    return kept


def step_of(each: Entry, steps: list[Step]) -> Step | None:
    """The step that an entry names by its place among the agent's."""
    place = each.whole("step", 0, len(steps) - 1) if steps else None
    return None if place is None else steps[place]


def keep(kept: list[BlockEdit], ledger: Entry) -> None:
    """Store a ledger; an undo names the version that it takes back."""
    store(kept)
    undos = []
    for edit, each in zip(kept, ledger.entries("edits"), strict=False):
        version = each.whole("undoes", 1, edit.version - 1)
        if version is not None:
            edit.undoes = kept[version - 1]
            undos.append(edit)
    BlockEdit.objects.bulk_update(undos, ["undoes"], batch_size=1000)


def passages_of(agent: Agent, own: Entry, steps: list[Step]) -> list[Passage]:
    """The agent's archival memory, in the order of the file."""
    return [passage_of(agent, each, steps) for each in own.entries("passages")]


def passage_of(agent: Agent, each: Entry, steps: list[Step]) -> Passage:
    try:
        text, tags = checked_text(each.get("text", str)), checked_tags(each.texts("tags"))
    except MemoryRefusal as refusal:
        raise AgentFileError(f"{each.place}: {refusal}") from None
    return Passage(
        agent=agent,
        text=text,
        tags=tags,
        editor_kind=Editor.IMPORT,
        editor_name=each.text("editor", 150),
        step=step_of(each, steps),
        created_at=each.moment("created_at") or timezone.now(),
        recalled_count=each.whole("recalled_count", 0, 2**31 - 1) or 0,
        recalled_at=each.moment("recalled_at"),
    )
