"""The blocks of a file with their ledgers, and its passages."""

from __future__ import annotations

import re
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.translation import gettext

from agents.models import Agent, Attachment, Block, BlockEdit, Editor, MemoryRefusal, Passage, Step
from agents.models.block import DEFAULT_LIMIT, LABEL
from agents.models.passage import checked_tags, checked_text
from agents.text import json_blocks
from agents.text.numbers import whole

from .call_ids import Ids
from .reading import AgentFileError, Entry, Notes, bounds, longest
from .rows import batches_of, store

BLOCKS_AT_ONCE = 25  # each is written by its method, which takes longer than a row
NOT_IN_A_LABEL = re.compile(r"[^\w./-]+")


@dataclass
class Draft:
    """A block of the file: its ledger, which may be empty, and its final value.

    `undos` are edits, each with the edit that it undoes.
    """

    block: Block
    value: str
    edits: list[BlockEdit]
    undos: list[tuple[BlockEdit, BlockEdit]]

    def store(self, owner: User) -> None:
        """Store the block as its ledger leaves it, then write its value with the block's method."""
        self.block.save(force_insert=True)
        self.block.set_value(self.value, by=Editor.person(owner, Editor.IMPORT))

    def store_ledger(self) -> None:
        """Store the edits; their steps are already stored."""
        for edit in self.edits:
            edit.block, edit.step = self.block, edit.step
        store(self.edits)
        for edit, undone in self.undos:
            edit.undoes = undone
        for some in batches_of([edit for edit, _ in self.undos]):
            BlockEdit.objects.bulk_update(some, ["undoes"])


class Blocks:
    """The blocks of a file; one that several of its agents hold is imported once."""

    def __init__(self, file: Entry, owner: User, notes: Notes) -> None:
        self.entries = {block.get("id", str): block for block in file.entries("blocks")}
        self.owner, self.notes = owner, notes
        self.drafts: dict[str, Draft] = {}
        self.stored: set[str] = set()

    def of(self, name: str, entry: Entry, own: Entry, steps: list[Step], ids: Ids) -> list[str]:
        """Read an agent's blocks, and their ledgers if this program wrote the file; their keys."""
        ledgers = own.entry("blocks")
        inline = {each.place: each for each in entry.entries("memory_blocks")}
        self.entries |= inline
        held: dict[str, str] = {}
        for key in dict.fromkeys([*entry.texts("block_ids"), *inline]):
            if key not in self.entries:
                words = gettext("The block '%(key)s' is not in the file.")
                self.notes.add(words % {"key": key[:100]})
                continue
            if key not in self.drafts:
                self.drafts[key] = self.read(
                    self.entries[key], ledgers.entry(key), steps, ids, set(held)
                )
            label = self.drafts[key].block.label
            if label in held:
                words = gettext(
                    "A second block '%(label)s' of '%(agent)s' was not attached to it: the agent"
                    " already has a block with this label."
                )
                self.notes.add(words % {"label": label, "agent": name})
                continue
            held[label] = key
        return list(held.values())

    def give(self, agent: Agent, keys: list[str]) -> None:
        """Store an agent's blocks, unless another agent's import did, and attach them."""
        for some in batches_of(list(enumerate(keys)), size=BLOCKS_AT_ONCE):
            for _, key in some:
                if key not in self.stored:
                    self.drafts[key].store(self.owner)
            blocks = [(place, self.drafts[key].block) for place, key in some]
            Attachment.objects.bulk_create(
                Attachment(agent=agent, block=block, label=block.label, position=place)
                for place, block in blocks
            )
        for key in keys:
            if key not in self.stored:
                self.drafts[key].store_ledger()
                self.stored.add(key)

    def read(
        self, entry: Entry, ledger: Entry, steps: list[Step], ids: Ids, taken: set[str]
    ) -> Draft:
        """A block, checked."""
        value = entry.text("value")
        block = Block(owner=self.owner, label=self.label(entry, taken))
        what = gettext("The description of block '%(label)s'") % {"label": block.label}
        block.description = self.notes.cut(entry.text("description"), Block, "description", what)
        block.read_only = entry.get("read_only", bool, False)
        block.ask_before_write = ledger.get("ask_before_write", bool, False)
        block.kind = ledger.get("kind", str, Block.Kind.TEXT)
        block.schema = ledger.given.get("schema")
        block.limit = self.limit(entry, block.label, value)
        block.name = entry.text("template_name")[:200]
        block.tags = list(dict.fromkeys(entry.texts("tags") or ledger.texts("tags")))[:100]
        block.metadata = entry.get("metadata", dict, {})
        block.value = value
        entry.check(block, exclude=["owner"])
        value = block.value
        edits = edits_of(ledger, steps, ids)
        if ledger.given:
            block.value = edits[-1].after if edits else ledger.text("first")
            block.version = len(edits)
        else:
            block.value = json_blocks.empty(block.kind)
        if len(block.value) > block.limit:
            words = gettext("end with a value over the limit of %(limit)s")
            raise ledger.wrong("edits", words % {"limit": whole(block.limit)})
        return Draft(block, value, edits, undos_of(edits, ledger))

    def label(self, entry: Entry, taken: set[str]) -> str:
        """A valid label that is free in the agent."""
        original = label = entry.get("label", str)
        if not LABEL.match(label):
            parts = [NOT_IN_A_LABEL.sub("_", word) for word in label.split()]
            label = " ".join(parts) or "block"
        most = longest(Block, "label")
        label = label[:most].rstrip()
        number = 1
        first = label
        while label in taken:
            number += 1
            label = f"{first[: most - 5]}_{number}"
        if label != original:
            if number > 1:
                words = gettext(
                    "The block '%(before)s' is now called '%(label)s': two blocks had this label."
                )
            else:
                words = gettext(
                    "The block '%(before)s' is now called '%(label)s': the label is not valid here."
                )
            self.notes.add(words % {"before": original[:100], "label": label})
        return label

    def limit(self, entry: Entry, label: str, value: str) -> int:
        """The limit in characters, raised where the value is longer."""
        original = entry.get("limit", int, None)
        if original is None:
            return max(DEFAULT_LIMIT, len(value))
        limit = max(1, min(original, bounds(Block._meta.get_field("limit"))[1]), len(value))
        if limit > original:
            words = gettext(
                "The limit of block '%(label)s' was raised from %(before)s to %(limit)s characters,"
                " because its value is that long."
            )
        elif limit < original:
            words = gettext(
                "The limit of block '%(label)s' was lowered from %(before)s to %(limit)s"
                " characters, which is the maximum."
            )
        if limit != original:
            limits = {"before": whole(original), "limit": whole(limit)}
            self.notes.add(words % {"label": label, **limits})
        return limit


def edits_of(ledger: Entry, steps: list[Step], ids: Ids) -> list[BlockEdit]:
    """The rows of a ledger, without the block and what they undo; `ids` are the calls' new ids."""
    first: str | None = ledger.text("first")
    edits = []
    for version, each in enumerate(ledger.entries("edits"), 1):
        call = each.text("tool_call_id", 200)
        edit = BlockEdit(
            version=version,
            first_value=first,
            after=each.text("after"),
            restores=each.whole("restores", 0, version),
            editor_kind=Editor.IMPORT,
            editor_name=each.text("editor", 150),
            step=step_of(each, steps),
            tool_call_id=ids.get((each.get("step", int, None), call), call),
            created_at=each.moment("created_at") or timezone.now(),
        )
        first = None  # each value is stored once
        edits.append(edit)
    return edits


def step_of(each: Entry, steps: list[Step]) -> Step | None:
    """The step that an entry names by its position among the agent's."""
    place = each.whole("step", 0, len(steps) - 1) if steps else None
    return None if place is None else steps[place]


def undos_of(edits: list[BlockEdit], ledger: Entry) -> list[tuple[BlockEdit, BlockEdit]]:
    """The edits that undo an earlier one, each with that one."""
    undos = []
    for edit, each in zip(edits, ledger.entries("edits"), strict=True):
        version = each.whole("undoes", 1, edit.version - 1)
        if version is not None:
            undos.append((edit, edits[version - 1]))
    return undos


def passages_of(own: Entry, steps: list[Step]) -> list[Passage]:
    """The agent's archival memory, in the order of the file."""
    return [passage_of(each, steps) for each in own.entries("passages")]


def passage_of(each: Entry, steps: list[Step]) -> Passage:
    try:
        text, tags = checked_text(each.get("text", str)), checked_tags(each.texts("tags"))
    except MemoryRefusal as refusal:
        raise AgentFileError(f"{each.place}: {refusal}") from None
    return Passage(
        text=text,
        tags=tags,
        editor_kind=Editor.IMPORT,
        editor_name=each.text("editor", 150),
        step=step_of(each, steps),
        created_at=each.moment("created_at") or timezone.now(),
        recalled_count=each.whole("recalled_count", 0, 2**31 - 1) or 0,
        recalled_at=each.moment("recalled_at"),
    )
