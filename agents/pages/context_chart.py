"""The context window as a picture: one bar of what is in it.

Places and widths are in percent of the picture, which is as wide as there is room.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.utils.translation import gettext, ngettext
from jinja2 import TemplateError

from agents.llm.available import endpoint_at
from agents.llm.prices import Price, dollars, price_of
from agents.memory.classes import texts_of
from agents.memory.compaction import FULL
from agents.memory.context import Context, Section, sections
from agents.models import Block
from agents.text.core_memory import BlockText, compile_texts

SMALL = 0.02  # of what is in the context
FEWEST_FOLDED = 5  # small parts
NARROWEST = 1.0  # percent: what is there can be seen


class BarPart(NamedTuple):
    """A part of the window: `size` in bytes of the request, 0 for what is free."""

    key: str
    name: str
    label: str  # a block's, which has its hue; else ""
    text: str
    size: int
    tokens: int
    percent: float
    x: float
    width: float
    cost: str
    is_small: bool = False  # so that it is drawn and listed together with others


@dataclass(frozen=True)
class ContextBar:
    """The window and its parts, in the order the model reads them; what is free comes last.

    `full` and `end` are where compaction begins and where the window ends.
    """

    shares: list[BarPart]
    folded: BarPart | None
    tokens: int
    window: int
    percent: float
    full: float
    end: float
    cost: str
    full_tokens: int


def context_bar(
    context: Context,
    blocks: Sequence[Block],
    template: str,
    model: str,
    owner_id: int | None = None,
    address: str = "",
) -> ContextBar:
    """A context drawn to the scale of its window, or of itself where it is larger.

    `owner_id` is the agent's owner, to whom the blocks of others are shown as theirs; `address` is
    that of the model's endpoint.
    """
    price, used = price_of(model, endpoint_at(address)), context.tokens()
    scale = max(context.window, used, 1)
    filled = [each for each in sections(context) if each.size]
    parts = [part for each in filled for part in parts_of(each, blocks, template, owner_id)]
    free = max(context.window - used, 0)
    tokens = [*(context.tokens(part.size) for part, _ in parts), free]
    parts.append((Section("free", gettext("Free"), "", 0), ""))
    shares = [
        BarPart(
            *(part.kind, gettext(part.name), label, part.text, part.size, count),
            percent=100 * count / max(context.window, 1),
            x=0,
            width=0,
            cost=in_dollars(price, count) if part.size else "",
        )
        for (part, label), count in zip(parts, tokens, strict=True)
    ]
    shares, folded = placed(shares, SMALL * used)
    return ContextBar(
        shares=shares,
        folded=folded,
        tokens=used,
        window=context.window,
        percent=100 * used / max(context.window, 1),
        full=round(100 * FULL * context.window / scale, 3),
        end=round(100 * context.window / scale, 3),
        cost=in_dollars(price, used),
        full_tokens=round(FULL * context.window),
    )


def placed(shares: Sequence[BarPart], least: float) -> tuple[list[BarPart], BarPart | None]:
    """Parts with their places; several with fewer tokens than `least` are one part of the bar."""
    small = [part for part in shares if part.size and part.tokens < least]
    small = small if len(small) >= FEWEST_FOLDED else []
    drawn = [part for part in shares[:-1] if part not in small]
    if small:
        tokens, percent = sum(p.tokens for p in small), sum(p.percent for p in small)
        words = ngettext("%(count)s small part", "%(count)s small parts", len(small))
        name = words % {"count": len(small)}
        drawn.append(BarPart("small", name, "", "", 1, tokens, percent, 0, 0, "", is_small=True))
    drawn.append(shares[-1])
    x, at = 0.0, {}
    for part, width in zip(drawn, widths([part.tokens for part in drawn]), strict=True):
        at[part.key] = part._replace(x=round(x, 3), width=round(width, 3))
        x += width
    kept = [at.get(part.key) or part._replace(is_small=True) for part in shares]
    return kept, at.get("small")


def widths(tokens: Sequence[int]) -> list[float]:
    """Percent of the bar for each part; where there is anything, at least so much as can be seen.

    The last part, what is free, makes up for what the small parts get beyond their share.
    """
    whole = max(sum(tokens), 1)
    wide = [max(100 * count / whole, NARROWEST if count else 0) for count in tokens[:-1]]
    if sum(wide) > 100:
        wide = [each * 100 / sum(wide) for each in wide]
    return [*wide, max(100 - sum(wide), 0)]


def in_dollars(price: Price | None, prompt: int, completion: int = 0) -> str:
    return dollars(price.of(prompt, completion)) if price else ""


def parts_of(
    section: Section, blocks: Sequence[Block], template: str, owner_id: int | None
) -> list[tuple[Section, str]]:
    """A section, with core memory as a part for each block; each with the block's label."""
    if section.kind != "core_memory" or not blocks:
        return [(section, "")]
    every = texts_of(blocks, owner_id)
    texts = [alone(block, template, every) for block in every]
    sizes = split(section.size, [len(text.encode()) for text in texts])
    return [
        (Section(f"block-{block.pk}", block_name(block), text, size), block.label)
        for block, text, size in zip(blocks, texts, sizes, strict=True)
    ]


def block_name(block: Block) -> str:
    return gettext("Block %(label)s") % {"label": block.label}


def alone(block: BlockText, template: str, every: Sequence[BlockText]) -> str:
    """A block as the template compiles it by itself; its value where that needs the others."""
    try:
        return compile_texts([block], template, among=every)
    except TemplateError:
        return f"{block.label}\n{block.value}"


def split(size: int, weights: Sequence[int]) -> list[int]:
    """A size in parts that are as their weights are, and whose sum it is."""
    whole, parts, before = max(sum(weights), 1), [], 0
    for place in range(1, len(weights)):
        until = size * sum(weights[:place]) // whole
        parts.append(until - before)
        before = until
    return [*parts, size - before]
