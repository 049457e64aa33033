"""How a deployment grows with more processes: messages a second."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from bench.client import Timing
from bench.hosted import cost
from bench.hosted.cost import percentile
from bench.hosted.deployment import Deployment, Person, deployed, hosted_site
from bench.hosted.load import Load, add_cpu, add_processes, kilobytes, loaded, traffic
from bench.hosted.people import Watching, pages
from bench.hosted.statements import Count
from bench.hosted.tables import Table, milliseconds
from bench.hosted.usage import sample

PROCESSES = [(1, 1), (2, 1), (4, 1), (1, 2), (2, 2), (4, 2)]  # workers, web processes
TALKING = 16  # people who each send a message as soon as the one before it is answered
AGENTS = 3  # in each person's list
WARM_UP = 2.0  # seconds
COUNTED_SECONDS = 4.0  # in which statements are counted


def measure(data: Path, *, quick: bool) -> list[Table]:
    seconds = 6.0 if quick else 15.0
    loads = []
    with hosted_site(data) as site:
        for workers, web in [PROCESSES[0], PROCESSES[-1]] if quick else PROCESSES:
            people = site.cast(TALKING, AGENTS, cost.HISTORY)
            with deployed(site, web, workers) as deployment:
                loads.append(asyncio.run(busy(deployment, people, seconds)))
    return [as_table(loads)]


async def busy(deployment: Deployment, people: Sequence[Person], seconds: float) -> Load:
    """Everybody talks for so long, and some seconds more in which statements are counted."""
    timings: list[Timing] = []
    async with pages(deployment, people) as opened:
        talking = [asyncio.create_task(talk(page, timings)) for page in opened]
        await asyncio.sleep(WARM_UP)
        moved, before, first = traffic(deployment.site), sample(deployment), len(timings)
        await asyncio.sleep(seconds)
        used, last = sample(deployment).since(before), len(timings)
        load = loaded(deployment, used, traffic(deployment.site).since(moved))
        load.timings = timings[first:last]
        load.statements = await count_statements(deployment, timings)
        await stop(talking)
    return load


async def talk(page: Watching, timings: list[Timing]) -> None:
    while True:
        timings.append(await page.say())


async def count_statements(deployment: Deployment, timings: list[Timing]) -> float:
    """Those of a message, with all that a busy deployment does beside."""
    count = await asyncio.to_thread(Count, deployment.site)
    before = len(timings)
    await asyncio.sleep(COUNTED_SECONDS)
    answered = len(timings) - before
    counted = await asyncio.to_thread(count.stop)
    return counted.total * COUNTED_SECONDS / counted.seconds / max(1, answered)


async def stop(tasks: Sequence[asyncio.Task[None]]) -> None:
    """Stop what talks; raises what one of them failed with."""
    for task in tasks:
        task.cancel()
    for task in tasks:
        with suppress(asyncio.CancelledError):
            await task


def as_table(loads: Sequence[Load]) -> Table:
    title = f"{TALKING} people, each of whom sends a message when the last one is answered"
    table = Table(title, ["workers × web processes", *(f"{x.workers} × {x.web}" for x in loads)])
    table.add("messages a second", *(f"{load.rate:.1f}" for load in loads))
    for words, name in (("first event", "seen"), ("answer's end", "took")):
        for share in (0.5, 0.95):
            times = (percentile([getattr(t, name) for t in load.timings], share) for load in loads)
            table.add(f"{words}, p{share * 100:.0f} (ms)", *map(milliseconds, times))
    counts = [len(load.timings) for load in loads]
    every = list(zip((load.traffic for load in loads), counts, strict=True))
    add_cpu(table, "CPU a message (ms)", loads, counts)
    table.add("statements a message", *(f"{load.statements:.1f}" for load in loads))
    table.add("in the database, a message (kB)", *(kilobytes(of.stored / n) for of, n in every))
    table.add("write-ahead log, a message (kB)", *(kilobytes(of.logged / n) for of, n in every))
    table.add("to and from Redis, a message (kB)", *(kilobytes(of.redis / n) for of, n in every))
    add_processes(table, loads)
    return table
