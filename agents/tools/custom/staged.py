"""Staged memory: an agent's memory as one call of a tool sees and changes it.

A call works on copies of the blocks as they were when it began, so that the database is not held
while it runs. Its changes are written afterwards, unless somebody changed a block it looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from uuid import UUID

from django.core.exceptions import ValidationError

from agents.memory.classes import compile_blocks, template_of
from agents.models import Agent, Block, BlockEdit, Editor, MemoryRefusal, Passage, Run, Step
from agents.models.message import storable
from agents.models.passage import checked_tags, checked_text
from agents.search import hybrid
from agents.search.scope import Passages
from agents.text.diff import Piece, words_changed
from agents.text.terms import query_terms, terms

MOST_PASSAGES = 100  # that one call may insert
MOST_SEARCHES = 20  # of archival memory, in one call


class WriteConflict(Exception):
    """A block that the call read or wrote was changed by somebody else since; call it again."""


@dataclass(frozen=True)
class Change:
    """What a call would make of one block."""

    label: str
    before: str
    after: str

    def pieces(self) -> list[Piece]:
        """What changes, word by word."""
        return words_changed(self.before, self.after)


class StagedMemory:
    """Copies of the blocks an agent holds, and the passages a call inserts."""

    def __init__(self, agent: Agent, by: Editor | None = None) -> None:
        self.agent = agent
        self.by = by or Editor.agent(Step(run=Run(agent=agent)), "")
        held = agent.core_memory()
        self.blocks = {block.label: block for block in held}
        self.versions = {block.pk: block.version for block in held}
        self.before = {block.pk: block.value for block in held}
        self.touched: set[UUID] = set()
        self.passages: list[Passage] = []  # not stored yet
        self.searches = 0

    # -- blocks --------------------------------------------------------------------------------

    def block(self, label: str) -> Block:
        """The copy of that label; LookupError with the labels there are."""
        if block := self.blocks.get(label):
            self.touched.add(block.pk)
            return block
        labels = ", ".join(f"'{each}'" for each in self.blocks) or "none"
        raise LookupError(f"There is no block '{label}'. The blocks are: {labels}.")

    def all(self) -> list[Block]:
        """Every copy, in the order the model sees them."""
        return [self.block(label) for label in self.blocks]

    def write(self, label: str, value: str) -> Block:
        """Make `value` the copy's; ValueError where the block itself would refuse it."""
        block = self.block(label)
        if not isinstance(value, str):
            raise TypeError(
                f"The value of block '{label}' must be a string, not {type(value).__name__};"
                " use json.dumps()."
            )
        before = block.value
        try:
            block.check_allowed(self.by)
            block.value = value
            block.clean()
        except MemoryRefusal as refusal:
            raise ValueError(str(refusal)) from None
        except ValidationError as error:
            block.value = before
            raise ValueError(" ".join(error.messages)) from None
        return block

    def compile(self) -> str:
        """Core memory as the model would see it."""
        return compile_blocks(self.all(), self.template(), self.agent.owner_id)

    def template(self) -> str:
        return template_of(self.agent.prompt_template, self.agent.memory_class)

    def changes(self) -> list[Change]:
        """What would be written to blocks."""
        return [
            Change(block.label, self.before[block.pk], block.value)
            for block in self.blocks.values()
            if block.value != self.before[block.pk]
        ]

    # -- archival memory -----------------------------------------------------------------------

    def insert(self, text: str, tags: list[str] | None = None) -> Passage:
        """Insert a passage; ValueError where archival memory would refuse it."""
        if len(self.passages) >= MOST_PASSAGES:
            raise ValueError(f"One call may insert at most {MOST_PASSAGES} passages.")
        if not isinstance(text, str):
            raise TypeError(f"The text of a passage must be a string, not {type(text).__name__}.")
        try:
            passage = Passage(agent=self.agent, text=checked_text(text), tags=checked_tags(tags))
        except MemoryRefusal as refusal:
            raise ValueError(str(refusal)) from None
        self.passages.append(passage)
        return passage

    def search(
        self,
        query: str,
        count: int,
        *,
        tags: tuple[str, ...] = (),
        all_tags: bool = False,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> list[Passage]:
        """The passages that fit best; the call's own, if they hold a word of the query, first."""
        self.searches += 1
        if self.searches > MOST_SEARCHES:
            raise ValueError(f"One call may search at most {MOST_SEARCHES} times.")
        scope = Passages(self.agent, since, until, tags, all_tags)
        forms = set(chain.from_iterable(query_terms(storable(query)).words))
        new = [p for p in self.passages if forms & {*terms(p.text)} and scope.holds(p)]
        stored = [row for row, _ in hybrid.search(scope, query, count).rows]
        return [*new, *stored][:count]

    # -- written ----------------------------------------------------------------------------

    def write_back(self, by: Editor) -> list[BlockEdit]:
        """Write what changed, inside the transaction of the call's return.

        Raises WriteConflict, and writes nothing, where a block that was touched has changed
        since; MemoryRefusal where a change cannot be made after all.
        """
        now = Block.objects.held_by(self.agent).locked(self.touched)
        if {block.pk: block.version for block in now} != {
            pk: version for pk, version in self.versions.items() if pk in self.touched
        }:
            raise WriteConflict
        values = {block.pk: block.value for block in self.blocks.values()}
        edits = Block.objects.write_all([(block, values[block.pk]) for block in now], by=by)
        for passage in self.passages:
            Passage.insert(self.agent, passage.text, passage.tags, by=by)
        return edits
