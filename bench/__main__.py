"""How fast it is, as a table: the real server against a stub of a model without delay.

`python -m bench`, or `make bench`; `--quick` takes fewer samples.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from bench import api, processes, step
from bench.cast import FEW_LINES, FULL, LONG, MANY, MANY_BLOCKS, MANY_LINES, PAGE, SHORT, Cast
from bench.client import Page, RawClient, Timing
from bench.processes import BenchError, Server

WARM_UP = 5  # messages that are not counted
FEWEST = 5  # samples, however slow
MOST_SECONDS = 5.0  # for one measurement; a slow machine takes fewer samples
GIVE_UP = 180.0  # seconds


class Talker(Protocol):
    async def say(self) -> Timing: ...
    async def edit(self) -> Timing: ...


@dataclass
class Row:
    """A line of the table: a quantity, its samples, and what is aimed at."""

    name: str
    unit: str
    samples: list[float]
    aim: float | None = None
    least: bool = False  # the aim is the least it should be, not the most
    raw: list[float] = field(default_factory=list)  # of the `openai` client alone
    slowest: bool = False  # the aim is for p95, not for p50

    def p50(self) -> float:
        return statistics.median(self.samples)

    def cells(self) -> list[str]:
        p95 = shown(nearest(self.samples, 0.95), self.unit) if len(self.samples) > 4 else ""
        raw = shown(statistics.median(self.raw), self.unit) if self.raw else ""
        return [self.name, shown(self.p50(), self.unit), p95, *self.judged(), raw]

    def judged(self) -> list[str]:
        if self.aim is None:
            return ["", ""]
        got = nearest(self.samples, 0.95) if self.slowest else self.p50()
        met = got >= self.aim if self.least else got <= self.aim
        return [f"{'≥' if self.least else '≤'} {shown(self.aim, self.unit)}", "✓" if met else "✗"]


def nearest(samples: list[float], share: float) -> float:
    return sorted(samples)[min(len(samples) - 1, int(share * len(samples)))]


def shown(value: float, unit: str) -> str:
    digits = 2 if unit == "×" else 1 if value < 100 and unit != "/s" else 0
    return f"{value:,.{digits}f} {unit}"


# -- what is measured ------------------------------------------------------------------------------


async def measure(server: Server, raw: RawClient, cast: Cast, samples: int) -> list[Row]:
    """Every row, in an order in which no measurement disturbs one after it."""
    server.get(f"/agents/{cast.alone}/")
    idle = Row("memory, idle after one page view", "MB", [server.memory()], aim=120)
    rows = [
        *await one_step(server, raw, cast, samples),
        *await two_steps(server, raw, cast, samples),
    ]
    rows += [*await histories(server, cast, samples), await compactions(server, cast)]
    rows += page(server, cast)
    rows += [*await throughput(server, raw, cast, samples), idle]
    rows.append(Row("memory, after all of this", "MB", [server.memory()]))
    return rows


async def one_step(server: Server, raw: RawClient, cast: Cast, samples: int) -> list[Row]:
    async with Page(server, cast.alone) as alone:
        await repeat(alone.say, WARM_UP)
        before = server.cpu_seconds()
        timings = await repeat(alone.say, samples)
        after = server.cpu_seconds()
    await repeat(raw.say, WARM_UP)
    began = time.process_time()
    theirs = await repeat(raw.say, samples)
    client = (time.process_time() - began) * 1000 / len(theirs)
    rows = [
        Row("message of one step", "ms", took(timings), aim=12, raw=took(theirs)),
        Row("first content behind the model", "ms", behind(timings), aim=10, raw=behind(theirs)),
    ]
    if before is not None and after is not None:  # the processor's time
        ours = (after - before) * 1000 / len(timings)
        rows.append(Row("server's CPU for a step", "ms", [ours], raw=[client]))
    return rows


async def two_steps(server: Server, raw: RawClient, cast: Cast, samples: int) -> list[Row]:
    """A memory edit and a reply; in turn with one step, and in larger memories."""
    async with pages(server, [cast.editor, cast.lines, cast.blocks]) as (editor, lines, blocks):
        actions = [editor.edit, editor.say, lines.edit, blocks.edit]
        both, single, long, many = await in_turn(actions, samples)
    theirs = await repeat(raw.edit, samples)
    base = statistics.median(both)
    over_one, over_few, over_two = (
        statistics.median(above) / below
        for above, below in ((both, statistics.median(single)), (long, base), (many, base))
    )
    return [
        Row("memory edit and reply (two steps)", "ms", both, aim=25, raw=took(theirs)),
        Row("ratio of two steps to one", "×", [over_one], aim=2.2),
        Row(f"ratio, {MANY_LINES:,} lines in the block to {FEW_LINES}", "×", [over_few], aim=1.2),
        Row(f"ratio, {MANY_BLOCKS} blocks to 2", "×", [over_two], aim=1.2),
    ]


async def in_turn(
    actions: Sequence[Callable[[], Awaitable[Timing]]], samples: int
) -> list[list[float]]:
    """Milliseconds of each action, taken in turn so that noise meets all alike."""
    for action in actions:
        await repeat(action, WARM_UP)
    rounds: list[list[float]] = []
    until = time.monotonic() + 2 * MOST_SECONDS
    while len(rounds) < samples and (len(rounds) < FEWEST or time.monotonic() < until):
        rounds.append([(await action()).took for action in actions])
    return [list(column) for column in zip(*rounds, strict=True)]


async def histories(server: Server, cast: Cast, samples: int) -> list[Row]:
    """A step after few and after many stored messages, in turn, so that noise meets all alike."""
    async with pages(server, [cast.short, cast.long, cast.lean]) as talkers:
        short, long, lean = await in_turn([talker.say for talker in talkers], samples)
    base = statistics.median(short)
    ratio, alike = statistics.median(long) / base, statistics.median(lean) / base
    return [
        Row(f"step at {SHORT:,} stored messages", "ms", short),
        Row(f"step at {LONG:,}", "ms", long),
        Row(f"ratio of {LONG:,} to {SHORT:,}", "×", [ratio], aim=1.2),
        Row("ratio, with equally many in context", "×", [alike]),
    ]


async def compactions(server: Server, cast: Cast) -> Row:
    """A message before whose answer most of a full window is summarised and leaves."""
    timings = []
    for agent in cast.full:
        async with Page(server, agent) as page:
            timings.append(await page.say())
    return Row(f"message that compacts {FULL} messages", "ms", took(timings))


def page(server: Server, cast: Cast) -> list[Row]:
    """The page of an agent with many messages."""
    times, sizes = [], []
    for _ in range(7):
        began = time.perf_counter()
        sizes.append(len(server.get(f"/agents/{cast.page}/")) / 1e3)
        times.append((time.perf_counter() - began) * 1000)
    return [
        Row(f"page with {PAGE:,} messages", "ms", times, aim=1500),
        Row("its size, uncompressed", "kB", sizes[:1], aim=1000),
    ]


async def throughput(server: Server, raw: RawClient, cast: Cast, samples: int) -> list[Row]:
    """Messages a second that several agents answer at once, and what each leaves behind."""
    async with pages(server, cast.many) as talkers:
        await rate(talkers, 2)
        before = server.stored()
        ours = await rate(talkers, samples)
        left = (server.stored() - before) / (samples * MANY) / 1e3
    theirs = await rate([raw] * MANY, samples)
    return [
        Row(f"{MANY} agents at once", "/s", [ours], aim=100, least=True, raw=[theirs]),
        Row("in the database, a message and its answer", "kB", [left], aim=4),
    ]


async def rate(talkers: Sequence[Talker], each: int) -> float:
    began = time.perf_counter()
    said = await asyncio.gather(*(repeat(talker.say, each) for talker in talkers))
    return sum(map(len, said)) / (time.perf_counter() - began)


async def repeat(say: Callable[[], Awaitable[Timing]], times: int) -> list[Timing]:
    """So many timings, or fewer where they take too long."""
    timings: list[Timing] = []
    until = time.monotonic() + MOST_SECONDS
    while len(timings) < times and (len(timings) < FEWEST or time.monotonic() < until):
        timings.append(await say())
    return timings


@contextlib.asynccontextmanager
async def pages(server: Server, agents: list[str]) -> AsyncIterator[list[Page]]:
    async with contextlib.AsyncExitStack() as stack:
        yield [await stack.enter_async_context(Page(server, agent)) for agent in agents]


def took(timings: list[Timing]) -> list[float]:
    return [timing.took for timing in timings]


def behind(timings: list[Timing]) -> list[float]:
    return [timing.behind for timing in timings]


# -- the table -------------------------------------------------------------------------------------


def table(rows: list[Row]) -> str:
    titles = ["", "p50", "p95", "aim", "", "openai alone"]
    cells = [titles, *(row.cells() for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for name, *numbers in cells:
        padded = (cell.rjust(width) for cell, width in zip(numbers, widths[1:], strict=True))
        lines.append("  ".join([name.ljust(widths[0]), *padded]).rstrip())
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]])


def machine() -> str:
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return (
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores{load},"
        f" Python {platform.python_version()}, SQLite, a stub model without delay"
    )


async def run(samples: int) -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="memoryweb-bench-") as name, processes.stub() as url:
        data = Path(name)
        settings = processes.environment(data, url)
        cast = processes.make_cast(settings)
        raw = RawClient(url, cast.request)
        try:
            with processes.server(settings, data) as server:
                return await measure(server, raw, cast, samples)
        finally:
            await raw.close()


def search(samples: int, vectors: bool) -> list[Row]:
    """Search, in a process and a database of its own."""
    with tempfile.TemporaryDirectory(prefix="memoryweb-bench-") as name:
        figures = processes.search(Path(name), samples, vectors)
    return [Row(name, unit, times, aim, slowest=True) for name, unit, times, aim in figures]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer samples")
    quick = parser.parse_args(arguments).quick
    samples = 15 if quick else 60
    print(machine(), flush=True)
    began = time.monotonic()
    try:
        rows: list[Row] = asyncio.run(asyncio.wait_for(run(samples), GIVE_UP))
        rows += [Row(*figure) for figure in step.figures(samples)]
        rows += [Row(*figure) for figure in api.figures(samples)]
        rows += search(samples, not quick)
    except (BenchError, TimeoutError) as error:
        print(f"Not measured: {str(error) or f'it took over {GIVE_UP:g} s'}", file=sys.stderr)
        return 1
    print(f"\n{table(rows)}\n\nMeasured in {time.monotonic() - began:.0f} s.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
