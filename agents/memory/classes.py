"""Memory classes: an agent's first blocks, its memory tools, and how blocks are compiled.

A class of one's own is a subclass of `Memory`, named in MEMORYWEB_MEMORY_CLASSES. Its public
methods that have a docstring are tools of its agents (`agents/tools/memory_methods.py`).
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable, Sequence
from types import FunctionType
from typing import ClassVar, Self

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string

from agents.models import Block, MemoryRefusal
from agents.models.block import DEFAULT_LIMIT
from agents.text.core_memory import JSON_TEMPLATE, TAGS_TEMPLATE, BlockText, compile_texts


def compile_blocks(blocks: Iterable[Block], template: str, owner_id: int | None = None) -> str:
    """Core memory as the model of this owner's agent sees it."""
    return compile_texts(texts_of(blocks, owner_id), template)


def texts_of(blocks: Iterable[Block], owner_id: int | None = None) -> list[BlockText]:
    """What a template is given of each block; whose it is, where it is not this owner's."""
    blocks = list(blocks)
    others = {block.owner_id for block in blocks} - {owner_id, None} if owner_id else set()
    people = User.objects.in_bulk(others) if others else {}
    return [
        BlockText(
            label=block.label,
            value=block.value,
            limit=block.limit,
            description=block.description,
            read_only=block.read_only,
            owner=people[block.owner_id].get_username() if block.owner_id in people else "",
            kind=block.kind,
            name=block.name,
        )
        for block in blocks
    ]


class Memory:
    """Labelled blocks, the tools that edit them, and the template that compiles them."""

    description: ClassVar[str] = ""
    template: ClassVar[str] = TAGS_TEMPLATE
    tool_names: ClassVar[Sequence[str]] = (
        "core_memory_append",
        "core_memory_replace",
        "archival_memory_insert",
        "archival_memory_search",
        "conversation_search",
    )

    def __init__(self, blocks: Iterable[Block] = ()) -> None:
        self.blocks: dict[str, Block] = {}
        for block in blocks:
            self.set_block(block)

    @classmethod
    def blank(cls) -> Self:
        """One to begin with: what its `__init__` must be given is an empty text."""
        parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
        named = (p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY))
        make: Callable[..., Self] = cls
        return make(**{p.name: "" for p in named if p.default is p.empty})

    @classmethod
    def holding(cls, blocks: Iterable[Block]) -> Self:
        """One that holds these blocks, an agent's, instead of first ones of its own."""
        memory = cls.__new__(cls)
        Memory.__init__(memory, blocks)
        return memory

    @property
    def memory(self) -> Self:
        """Itself: in a method written for Letta `self` is the agent, and this its memory."""
        return self

    def list_block_labels(self) -> list[str]:
        return list(self.blocks)

    def get_blocks(self) -> list[Block]:
        return list(self.blocks.values())

    def get_block(self, label: str) -> Block:
        """The block of that label; KeyError with the labels there are."""
        try:
            return self.blocks[label]
        except KeyError:
            raise KeyError(f"There is no block '{label}'; there are {list(self.blocks)}.") from None

    def set_block(self, block: Block) -> None:
        self.blocks[block.label] = block

    def update_block_value(self, label: str, value: str) -> None:
        if not isinstance(value, str):
            raise TypeError(f"The value of block '{label}' must be a string, not {value!r:.100}.")
        self.get_block(label).value = value

    def get_prompt_template(self) -> str:
        return self.template

    def compile(self) -> str:
        return compile_blocks(self.get_blocks(), self.template)

    def tools(self) -> list[str]:
        """Names of the tools an agent with this memory starts with."""
        return [*self.tool_names, *self.methods()]

    @classmethod
    def methods(cls) -> dict[str, FunctionType]:
        """The public methods with a docstring that are not every memory's: tools, by name."""
        found = {
            name: each
            for base in reversed(cls.__mro__)
            for name, each in vars(base).items()
            if isinstance(each, FunctionType) and not name.startswith("_")
        }
        return {n: each for n, each in found.items() if each.__doc__ and n not in vars(Memory)}


class BasicBlockMemory(Memory):
    """Any set of blocks."""

    description = "Blocks of your own choice"


class ChatMemory(Memory):
    """For a chat of one person with one agent: a `persona` and a `human` block."""

    description = "Persona and human, for a conversation with one person"

    def __init__(self, human: str = "", persona: str = "", limit: int = DEFAULT_LIMIT) -> None:
        super().__init__(
            [
                Block(
                    label="persona",
                    value=persona,
                    limit=limit,
                    description="Who the agent is: its name, its manner, what it is for.",
                ),
                Block(
                    label="human",
                    value=human,
                    limit=limit,
                    description="What the agent knows of the person it talks with.",
                ),
            ]
        )


class TaskMemory(ChatMemory):
    """A chat memory with a queue of tasks: a JSON list in the block `tasks`."""

    description = "Persona, human and a list of tasks to work through"

    def __init__(
        self,
        human: str = "",
        persona: str = "",
        tasks: Sequence[str] | None = None,
        limit: int = DEFAULT_LIMIT,
    ) -> None:
        super().__init__(human, persona, limit)
        self.set_block(
            Block(
                label="tasks",
                value=json.dumps(list(tasks or []), ensure_ascii=False),
                limit=limit,
                kind=Block.Kind.LIST,
                description="What is left to do: a JSON list of texts, the next one first.",
            )
        )

    def task_queue_push(self, task_description: str) -> None:
        """Add a task at the end of the queue in core memory.

        Args:
            task_description: The next task you must accomplish.
        """
        self._write_tasks([*self._read_tasks(), task_description])

    def task_queue_pop(self) -> str | None:
        """Take the next task off the queue in core memory. None when no task is left."""
        tasks = self._read_tasks()
        if not tasks:
            return None
        self._write_tasks(tasks[1:])
        return tasks[0]

    def _read_tasks(self) -> list[str]:
        value = self.get_block("tasks").value
        try:
            tasks = json.loads(value or "[]")
        except ValueError:
            tasks = None
        if not isinstance(tasks, list):
            raise MemoryRefusal(
                "Block 'tasks' is not a JSON list any more, so it cannot be used as a queue;"
                f" repair it first. Its value is:\n{value}"
            )
        return tasks

    def _write_tasks(self, tasks: list[str]) -> None:
        self.update_block_value("tasks", json.dumps(tasks, ensure_ascii=False))


# -- which classes there are -----------------------------------------------------------------------


def load_classes(paths: Iterable[str]) -> dict[str, type[Memory]]:
    """The memory classes of these paths, by name; ImproperlyConfigured says what is wrong."""
    found: dict[str, type[Memory]] = {}
    for path in paths:
        try:
            loaded = import_string(path)
        except Exception as error:  # whatever the module does when it is imported
            raise ImproperlyConfigured(
                f"MEMORYWEB_MEMORY_CLASSES names {path}, which cannot be imported:"
                f" {type(error).__name__}: {error}"
            ) from error
        if not (isinstance(loaded, type) and issubclass(loaded, Memory)):
            raise ImproperlyConfigured(
                f"MEMORYWEB_MEMORY_CLASSES names {path}, which is not a subclass of"
                " agents.memory.Memory."
            )
        if loaded.__name__ in found or loaded.__name__ in BUILT_IN:
            raise ImproperlyConfigured(
                f"MEMORYWEB_MEMORY_CLASSES names {path}, but there is a memory class"
                f" {loaded.__name__} already; give it another name."
            )
        found[loaded.__name__] = loaded
    return found


BUILT_IN: dict[str, type[Memory]] = {
    c.__name__: c for c in (ChatMemory, BasicBlockMemory, TaskMemory)
}
CLASSES: dict[str, type[Memory]] = BUILT_IN | load_classes(settings.MEMORY_CLASSES)
TEMPLATES = {"tags": TAGS_TEMPLATE, "json": JSON_TEMPLATE}


def template_of(prompt_template: str, memory_class: str) -> str:
    """An agent's template: its own, else its memory class's."""
    return prompt_template or CLASSES.get(memory_class, Memory).template
