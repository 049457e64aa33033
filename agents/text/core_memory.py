"""Core memory as the model sees it: plain records of blocks through a Jinja2 template.

Whatever a template prints with `{{ … }}` passes a guard, so that no value can close its own block,
open another, or pass for the sections that follow core memory. `{{ block.value|safe }}` is printed
as it is, and `|json` as JSON, which a text cannot leave.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from jinja2 import Template, TemplateError, pass_context
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup

from .cache import cached_by_text
from .guard import Guard, guard_of

TAGS_TEMPLATE = (
    "{% for block in blocks %}"
    '<{{ block.label }} characters="{{ block.value|length }}/{{ block.limit }}"'
    '{% if block.owner %} owner="{{ block.owner }}"{% endif %}>\n'
    "{{ block.value }}\n"
    "</{{ block.label }}>{% if not loop.last %}\n{% endif %}{% endfor %}"
)
JSON_TEMPLATE = "[MEMORY]\n{{ values|json }}"
BUILT_IN = (TAGS_TEMPLATE, JSON_TEMPLATE)
SHARED = "[SHARED]"

# No value speaks as these, held by the agent or not: usual blocks, and what follows core memory.
RESERVED = ("persona", "human", "memory_metadata", "conversation_summary")
TAG_OF_TEMPLATE = re.compile(r"<\s*/?\s*([A-Za-z_][\w.:-]*)")
NOT_IN_A_LABEL = re.compile(r"[^\w./ -]+")
NOT_IN_A_NAME = re.compile(r"[^\w.@+ -]+")
LONGEST_HEADING = 200  # characters of a line of the template that are looked for in values


@dataclass(frozen=True, slots=True)
class BlockText:
    """A block as a template gets it: its texts, and no way from them to rows.

    `owner` is "" unless it is another person's.
    """

    label: str
    value: str
    limit: int
    description: str = ""
    read_only: bool = False
    owner: str = ""
    kind: str = "text"
    name: str = ""

    def harmless(self) -> BlockText:
        """The same with nothing in label, description and owner that ends an attribute."""
        return replace(
            self,
            label=NOT_IN_A_LABEL.sub("_", self.label),
            description=self.description.replace('"', "&quot;"),
            name=self.name.replace('"', "&quot;"),
            owner=NOT_IN_A_NAME.sub("_", self.owner),
        )


def compile_texts(blocks: Sequence[BlockText], source: str, among: Sequence[BlockText] = ()) -> str:
    """Blocks through a template: `blocks` (a list), `memory` (by label), `values` (by label).

    `among`: all of an agent's blocks, where `blocks` are only some of them.
    """
    return _compiled(source, tuple(blocks), tuple(among))


@cached_by_text(lambda compiled: 3 * len(compiled))  # what it was made of is kept with it
def _compiled(source: str, given: tuple[BlockText, ...], among: tuple[BlockText, ...]) -> str:
    blocks = [block.harmless() for block in given]
    guard = guard_for([block.harmless() for block in among] or blocks, source)
    compiled = rendered(blocks, source, guard)
    owners = {block.label: block.owner for block in blocks if block.owner}
    if owners and ".owner" not in source:
        compiled += f"\n{SHARED}\n{as_json(owners)}"
    return compiled


def rendered(blocks: Sequence[BlockText], source: str, guard: Guard) -> str:
    return _template(source).render(
        blocks=list(blocks),
        memory={block.label: block for block in blocks},
        values={block.label: block.value for block in blocks},
        _guard=guard,
    )


def guard_for(blocks: Sequence[BlockText], source: str) -> Guard:
    """The guard of what tells a template's blocks apart: their labels, its own tags and lines."""
    tags = {*RESERVED, *(block.label for block in blocks)}
    if source in BUILT_IN:
        return guard_of(frozenset(tags))
    tags |= set(TAG_OF_TEMPLATE.findall(source))
    return guard_of(frozenset(tags), headings(blocks, source))


def headings(blocks: Sequence[BlockText], source: str) -> frozenset[str]:
    """The lines by which a template tells blocks apart without tags: `### human`, `[human]`."""
    empty = [replace(block, value="", description="") for block in blocks]
    try:
        lines = rendered(empty, source, guard_of(frozenset())).splitlines()
    except TemplateError:
        return frozenset({SHARED})
    labels = [block.label.casefold() for block in blocks]
    found = (line.strip() for line in lines if len(line) <= LONGEST_HEADING)
    naming = (line for line in found if any(label in line.casefold() for label in labels))
    return frozenset({SHARED, *(line for line in naming if not line.startswith("<"))})


# -- the sandbox -----------------------------------------------------------------------------------


def as_json(value: Any) -> Markup:
    return Markup(json.dumps(value, ensure_ascii=False))


@pass_context
def _guarded(context: Context, value: Any) -> Any:
    """What an expression prints; what the template itself made of tags is a Markup by then."""
    return value if hasattr(value, "__html__") else Markup(context["_guard"].over(str(value)))


_sandbox = ImmutableSandboxedEnvironment(
    keep_trailing_newline=True, autoescape=True, finalize=_guarded
)
_sandbox.filters["json"] = as_json


@lru_cache(maxsize=256)
def _template(source: str) -> Template:
    return _sandbox.from_string(source)
