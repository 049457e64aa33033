"""Memory classes: an agent's first blocks, its memory tools, and how blocks are compiled."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import ClassVar

from jinja2 import Template
from jinja2.sandbox import ImmutableSandboxedEnvironment

from agents.models.block import DEFAULT_LIMIT, Block

TAGS_TEMPLATE = (
    "{% for block in blocks %}"
    '<{{ block.label }} characters="{{ block.value|length }}/{{ block.limit }}">\n'
    "{{ block.value }}\n"
    "</{{ block.label }}>{% if not loop.last %}\n{% endif %}{% endfor %}"
)
JSON_TEMPLATE = "[MEMORY]\n{{ values|json }}"

_sandbox = ImmutableSandboxedEnvironment(keep_trailing_newline=True)
_sandbox.filters["json"] = lambda value: json.dumps(value, ensure_ascii=False)


@lru_cache(maxsize=256)
def _template(source: str) -> Template:
    return _sandbox.from_string(source)


def compile_blocks(blocks: Sequence[Block], template: str) -> str:
    """Core memory as the model sees it.

    The template gets `blocks` (a list), `memory` (label → block) and `values` (label → value).
    """
    by_label = {block.label: block for block in blocks}
    values = {block.label: block.value for block in blocks}
    return _template(template).render(blocks=list(blocks), memory=by_label, values=values)


class Memory:
    """Labelled blocks, the tools that edit them, and the template that compiles them."""

    description: ClassVar[str] = ""
    template: ClassVar[str] = TAGS_TEMPLATE
    tool_names: ClassVar[Sequence[str]] = ("core_memory_append", "core_memory_replace")

    def __init__(self, blocks: Iterable[Block] = ()) -> None:
        self.blocks: dict[str, Block] = {}
        for block in blocks:
            self.set_block(block)

    def list_block_labels(self) -> list[str]:
        return list(self.blocks)

    def get_blocks(self) -> list[Block]:
        return list(self.blocks.values())

    def get_block(self, label: str) -> Block:
        """The block of that label; KeyError with the labels there are."""
        try:
            return self.blocks[label]
        except KeyError:
            raise KeyError(f"There is no block '{label}'; there are {self.blocks}.") from None

    def set_block(self, block: Block) -> None:
        self.blocks[block.label] = block

    def update_block_value(self, label: str, value: str) -> None:
        self.get_block(label).value = value

    def get_prompt_template(self) -> str:
        return self.template

    def compile(self) -> str:
        return compile_blocks(self.get_blocks(), self.template)

    def tools(self) -> list[str]:
        """Names of the tools an agent with this memory starts with."""
        return list(self.tool_names)


class BasicBlockMemory(Memory):
    """Any set of blocks."""

    description = "Blocks of your own choice"


class ChatMemory(Memory):
    """For a chat of one person with one agent: a `persona` and a `human` block."""

    description = "Persona and human, for a conversation of two"

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


CLASSES: dict[str, type[Memory]] = {c.__name__: c for c in (ChatMemory, BasicBlockMemory)}
TEMPLATES = {"tags": TAGS_TEMPLATE, "json": JSON_TEMPLATE}


def template_of(prompt_template: str, memory_class: str) -> str:
    """An agent's template: its own, else its memory class's."""
    return prompt_template or CLASSES.get(memory_class, Memory).template
