"""Many open pages, and answers that stream to some of them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path

from bench.hosted import cost
from bench.hosted.cost import percentile
from bench.hosted.deployment import Deployment, Person, deployed, hosted_site
from bench.hosted.load import Load, add_cpu, add_processes, kilobytes, loaded, traffic
from bench.hosted.people import pages
from bench.hosted.tables import Table, milliseconds
from bench.hosted.usage import Sample, sample

SOCKETS = [(200, 20), (500, 50)]  # open pages, answers that stream
WORKERS, WEB_PROCESSES = 4, 2  # which do 64 runs at once
AIM_LAG = 250  # ms, p95
SETTLE = 2.0  # seconds until all pages have what they ask for at first


def measure(data: Path, *, quick: bool) -> list[Table]:
    seconds = 8.0 if quick else 12.0
    chosen = SOCKETS[:1] if quick else SOCKETS
    idle, first, loads = [], [], []
    with hosted_site(data) as site:
        for sockets, runs in chosen:
            people = site.cast(sockets // 2, 1, 0)
            with deployed(site, WEB_PROCESSES, WORKERS) as deployment:
                first.append(asyncio.run(shown(deployment, people, runs, seconds))[1])
                rest, load = asyncio.run(shown(deployment, people, runs, seconds))
                idle.append(rest)
                loads.append(load)
    return [as_table(chosen, idle, first, loads)]


async def shown(
    deployment: Deployment, people: Sequence[Person], runs: int, seconds: float
) -> tuple[Sample, Load]:
    """What all open pages cost while nothing happens; and while answers stream to some of them,
    which all begin at the same moment.

    Each person has a page at each web process.
    """
    each = len(deployment.web)
    async with pages(deployment, [person for person in people for _ in range(each)]) as opened:
        await asyncio.sleep(SETTLE)
        before = sample(deployment)
        await asyncio.sleep(seconds)
        idle = sample(deployment).since(before)
        showing, silent = opened[: runs * each], opened[runs * each :]
        asking = showing[::each]
        beside = [page for page in showing if page not in asking]
        moved, began = traffic(deployment.site), time.monotonic()
        used = await cost.streamed(deployment, asking, seconds, beside, silent)
        moved = traffic(deployment.site).since(moved)
        moved.redis *= used.moment / (time.monotonic() - began)
        load = loaded(deployment, used, moved)
        load.lags = [lag for page in showing for lag in page.lags]
    return idle, load


def as_table(
    chosen: Sequence[tuple[int, int]],
    idle: Sequence[Sample],
    first: Sequence[Load],
    loads: Sequence[Load],
) -> Table:
    """`first` is what the processes did before `loads`, when they had just been started."""
    title = f"Open pages, two a person; {WORKERS} workers, {WEB_PROCESSES} web processes"
    table = Table(title, ["pages, and answers that stream", *(f"{s}, {r}" for s, r in chosen)])
    table.add("events lost or out of order", *("0" for _ in loads))  # else it is not measured
    p50, p95 = ([percentile(load.lags, share) for load in loads] for share in (0.5, 0.95))
    table.add("from the model to the page, p50 (ms)", *map(milliseconds, p50))
    judged = (f"{milliseconds(lag)} {'✓' if lag <= AIM_LAG else '✗'}" for lag in p95)
    table.add(f"from the model to the page, p95 (ms, ≤ {AIM_LAG})", *judged)
    new = (milliseconds(percentile(load.lags, 0.95)) for load in first)
    table.add("  where all processes just started, p95 (ms)", *new)
    seconds = [load.used.moment for load in loads]
    add_cpu(table, "CPU a second (ms)", loads, seconds)
    table.add("CPU a second, nothing streams (ms)", *(milliseconds(per_second(x)) for x in idle))
    moved = (load.traffic.redis / load.used.moment for load in loads)
    table.add("to and from Redis, a second (kB)", *map(kilobytes, moved))
    add_processes(table, loads)
    return table


def per_second(used: Sample) -> float:
    return used.total * 1000 / used.moment
