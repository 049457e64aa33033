"""What each step of a conversation took, as a chart.

Places, widths and heights are in percent of the picture, which is as wide as there is room.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from django.utils.translation import ngettext, pgettext

from agents.llm.available import endpoint_at
from agents.llm.prices import dollars, price_of
from agents.memory.compaction import FULL
from agents.models import Conversation, Step
from agents.text.numbers import whole

STEPS_SHOWN = 200
FEWEST_PLACES = 40  # for bars, so that the first ones are no wider than later ones
ABOVE = 1.1  # of the highest bar, so that there is room above it


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
    window: int
    most_completion: int
    total_cost: str
    most_cost: str


class StepUse(NamedTuple):
    """What a step took."""

    pk: int
    number: int
    model: str
    endpoint: str
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
        price = price_of(self.model, endpoint_at(self.endpoint))
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
    tops = max(step.prompt for step in uses) * ABOVE or 1
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
        window=uses[-1].window,
        most_completion=most,
        total_cost=dollars(sum(costs)) if priced else "",
        most_cost=dollars(dearest) if priced else "",
    )


def levels(uses: Sequence[StepUse], left: float, place: float, tops: float) -> list[Level]:
    """The window's height over the steps, a stretch for as long as it stays the same."""
    found = []
    for window, stretch in groupby(uses, key=lambda step: step.window):
        end = left + place * len(list(stretch))
        height = 100 * window / tops
        if window and FULL * height <= 100:
            ends, heights = (round(left, 3), round(end, 3)), (round(height, 3), FULL * height)
            found.append(Level(*ends, *heights, window))
        left = end
    return found


def step_summary(step: StepUse) -> str:
    """What a step took, in words."""
    if step.prompt_tokens:
        sent = ngettext("%(count)s token sent", "%(count)s tokens sent", step.prompt)
    else:
        sent = ngettext(
            "%(count)s token sent (estimated)", "%(count)s tokens sent (estimated)", step.prompt
        )
    received = pgettext("tokens", "%(count)s received") % {"count": whole(step.completion)}
    words = [sent % {"count": whole(step.prompt)}, received]
    if step.dollars is not None:
        words.append(dollars(step.dollars))
    return ", ".join(words)
