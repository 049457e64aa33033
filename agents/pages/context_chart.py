"""The context window as a picture: one bar of what is in it, and a chart of what each step took.

Places and widths are in percent of the picture, which is as wide as there is room.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from jinja2 import TemplateError

from agents.llm.prices import Price, dollars, price_of
from agents.memory.classes import texts_of
from agents.memory.compaction import FULL
from agents.memory.context import Context, Section, sections
from agents.models import Block, Conversation, Step
from agents.text.core_memory import BlockText, compile_texts

STEPS_SHOWN = 200
FEWEST_PLACES = 40  # for bars in the chart, so that the first ones are no wider than later ones
NARROWEST = 1.0  # percent: what is there can be seen


# -- one bar -----------------------------------------------------------------------------------


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


@dataclass(frozen=True)
class ContextBar:
    """The window and its parts, in the order the model reads them; what is free comes last.

    `full` and `end` are where compaction begins and where the window ends.
    """

    shares: list[BarPart]
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
) -> ContextBar:
    """A context drawn to the scale of its window, or of itself where it is larger.

    `owner_id` is the agent's owner, to whom the blocks of others are shown as theirs.
    """
    price, used = price_of(model), context.tokens()
    scale = max(context.window, used, 1)
    filled = [each for each in sections(context) if each.size]
    parts = [part for each in filled for part in parts_of(each, blocks, template, owner_id)]
    free = max(context.window - used, 0)
    tokens = [*(context.tokens(part.size) for part, _ in parts), free]
    parts.append((Section("free", "Free", "", 0), ""))
    shares, x = [], 0.0
    for (part, label), count, width in zip(parts, tokens, widths(tokens), strict=True):
        percent = 100 * count / max(context.window, 1)
        cost = in_dollars(price, count) if part.size else ""
        text = (part.kind, part.name, label, part.text, part.size)
        shares.append(BarPart(*text, count, percent, round(x, 3), round(width, 3), cost))
        x += width
    return ContextBar(
        shares=shares,
        tokens=used,
        window=context.window,
        percent=100 * used / max(context.window, 1),
        full=round(100 * FULL * context.window / scale, 3),
        end=round(100 * context.window / scale, 3),
        cost=in_dollars(price, used),
        full_tokens=round(FULL * context.window),
    )


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
        (Section(f"block-{block.pk}", f"Block {block.label}", text, size), block.label)
        for block, text, size in zip(blocks, texts, sizes, strict=True)
    ]


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


# -- over time ---------------------------------------------------------------------------------


class StepBar(NamedTuple):
    """A step in the chart; heights are percent of the chart each stands in."""

    step: int
    number: int
    in_run: int
    x: float
    width: float
    prompt: float
    completion: float
    cost: float
    summary: str


class Level(NamedTuple):
    """How high the window and the mark at 85 % of it stand over a stretch of steps."""

    x: float
    end: float
    window: float
    full: float
    tokens: int


@dataclass(frozen=True)
class Chart:
    """What each of the newest steps took, the newest at the right."""

    bars: list[StepBar]
    levels: list[Level]
    steps: int
    most_prompt: int
    most_completion: int
    total_cost: str
    most_cost: str


class StepUse(NamedTuple):
    """What a step took."""

    pk: int
    number: int
    model: str
    context_tokens: int
    prompt_tokens: int | None
    completion_tokens: int | None
    window: int

    @property
    def prompt(self) -> int:
        return self.prompt_tokens or self.context_tokens

    @property
    def completion(self) -> int:
        return self.completion_tokens or 0

    @property
    def dollars(self) -> float | None:
        price = price_of(self.model)
        return price.of(self.prompt, self.completion) if price else None


def chart(conversation: Conversation) -> Chart | None:
    """The newest steps as bars; None before the first."""
    steps = Step.objects.filter(run__conversation=conversation.pk)
    newest = steps.order_by("-pk").values_list(*StepUse._fields)[:STEPS_SHOWN]
    uses = [StepUse(*row) for row in newest][::-1]
    if not uses:
        return None
    count = len(uses) if len(uses) < STEPS_SHOWN else steps.count()
    costs = [step.dollars or 0 for step in uses]
    tops = max(max(step.prompt, step.window) for step in uses) or 1
    most, dearest = max(step.completion for step in uses), max(costs)
    place = 100 / max(len(uses), FEWEST_PLACES)
    left = 100 - place * len(uses)
    bars = [
        StepBar(
            step=step.pk,
            number=count - len(uses) + index + 1,
            in_run=step.number,
            x=round(left + place * index, 3),
            width=round(place * 0.8, 3),
            prompt=round(100 * step.prompt / tops, 3),
            completion=round(100 * step.completion / (most or 1), 3),
            cost=round(100 * costs[index] / (dearest or 1), 3),
            summary=step_summary(step),
        )
        for index, step in enumerate(uses)
    ]
    priced = any(step.dollars is not None for step in uses)
    return Chart(
        bars=bars,
        levels=levels(uses, left, place, tops),
        steps=count,
        most_prompt=max(step.prompt for step in uses),
        most_completion=most,
        total_cost=dollars(sum(costs)) if priced else "",
        most_cost=dollars(dearest) if priced else "",
    )


def levels(uses: Sequence[StepUse], left: float, place: float, tops: int) -> list[Level]:
    """The window's height over the steps, a stretch for as long as it stays the same."""
    found = []
    for window, stretch in groupby(uses, key=lambda step: step.window):
        end = left + place * len(list(stretch))
        height = 100 * window / tops
        if window:
            ends, heights = (round(left, 3), round(end, 3)), (round(height, 3), FULL * height)
            found.append(Level(*ends, *heights, window))
        left = end
    return found


def step_summary(step: StepUse) -> str:
    """What a step took, in words."""
    estimated = "" if step.prompt_tokens else " (estimated)"
    words = [f"{step.prompt:,} tokens sent{estimated}", f"{step.completion:,} received"]
    if step.dollars is not None:
        words.append(dollars(step.dollars))
    return ", ".join(words)
