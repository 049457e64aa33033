"""What a message and a second of streaming cost, on one web process and one worker."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from bench.client import Timing
from bench.hosted.deployment import Deployment, Person
from bench.hosted.people import Watching, check, pages, refuse_faults, say
from bench.hosted.statements import Count, Counted
from bench.hosted.usage import Sample, sample

HISTORY = 20  # messages that each agent has at first
AGENTS = 5  # in each person's list
WARM_UP = 5  # messages that are not counted
EACH = 30  # messages to an agent, so that no history grows long
PIECES_OVERLAP = 1.0  # seconds at the begin and the end of streaming that are not counted
END_SECONDS = 60.0  # that pages may be behind


@dataclass
class Message:
    """What messages cost, one at a time."""

    timings: list[Timing]
    used: Sample  # of all of them, without what an idle deployment takes
    idle: Sample

    @property
    def cpu(self) -> float:
        """Milliseconds a message."""
        return self.used.total * 1000 / len(self.timings)

    def times(self, name: str) -> list[float]:
        """Milliseconds of each until one of the moments that are timed."""
        return [getattr(each, name) for each in self.timings]


@dataclass
class Streaming:
    """What streaming costs: CPU milliseconds a second by kind, all runs together; lags in ms."""

    runs: int
    used: Sample
    lags: list[float] = field(default_factory=list)

    @property
    def cpu(self) -> float:
        """Milliseconds a second and run."""
        return self.used.total * 1000 / self.used.moment / self.runs


async def idle(deployment: Deployment, people: Sequence[Person], seconds: float) -> Sample:
    """What is used while pages are open and nothing happens."""
    async with pages(deployment, people):
        await asyncio.sleep(2.0)
        before = sample(deployment)
        await asyncio.sleep(seconds)
        return sample(deployment).since(before)


async def messages(deployment: Deployment, person: Person) -> tuple[list[Timing], Sample]:
    """One message after another, from one page."""
    async with pages(deployment, [person]) as (page,):
        await say(page, WARM_UP)
        before = sample(deployment)
        timings = await say(page, EACH)
        return timings, sample(deployment).since(before)


def of_batches(batches: Sequence[tuple[list[Timing], Sample]], idle: Sample) -> Message:
    timings = [timing for batch, _ in batches for timing in batch]
    return Message(timings, together([used for _, used in batches]).without(idle), idle)


def together(samples: Sequence[Sample]) -> Sample:
    spent = {kind: sum(each.cpu[kind] for each in samples) for kind in samples[0].cpu}
    return Sample(sum(each.moment for each in samples), spent)


async def statements(deployment: Deployment, people: Sequence[Person], seconds: float) -> Counted:
    """The statements of `EACH` messages from each person, without those of an idle deployment."""
    idle = await idle_statements(deployment, people, seconds)
    async with pages(deployment, people) as opened:
        for page in opened:
            await say(page, WARM_UP)
        count = Count(deployment.site)
        for page in opened:
            await say(page, EACH)
        return count.stop().without(idle)


async def idle_statements(
    deployment: Deployment, people: Sequence[Person], seconds: float
) -> Counted:
    async with pages(deployment, people):
        await asyncio.sleep(2.0)
        count = Count(deployment.site)
        await asyncio.sleep(seconds)
        return count.stop()


async def streaming(
    deployment: Deployment, people: Sequence[Person], seconds: float, idle: Sample
) -> Streaming:
    """An answer for each of these people at once, with a page of each open."""
    async with pages(deployment, people) as watching:
        used = await streamed(deployment, watching, seconds)
    lags = [lag for page in watching for lag in page.lags]
    return Streaming(len(people), used.without(idle), lags)


async def streamed(
    deployment: Deployment,
    asking: Sequence[Watching],
    seconds: float,
    beside: Sequence[Watching] = (),
    silent: Sequence[Watching] = (),
) -> Sample:
    """Have answers stream, each asked for by one page, which others may show too, while yet others
    show agents at rest. BenchError if a page misses a piece."""
    showing = [*asking, *beside]
    async with AsyncExitStack() as stack:
        for page in (*showing, *silent):
            stack.callback(asyncio.create_task(page.watch()).cancel)
        pieces = [await page.ask_for(seconds) for page in asking]
        await asyncio.sleep(PIECES_OVERLAP)
        before = sample(deployment)
        await asyncio.sleep(seconds - 2 * PIECES_OVERLAP)
        used = sample(deployment).since(before)
        async with asyncio.timeout(seconds + END_SECONDS):
            await asyncio.gather(*(page.ended.wait() for page in showing))
    refuse_faults([*check(showing, pieces[0]), *check(silent, 0)])
    return used


def percentile(samples: Sequence[float], share: float) -> float:
    return sorted(samples)[min(len(samples) - 1, int(share * len(samples)))]
