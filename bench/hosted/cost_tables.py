"""The part `--cost`: measured, and as tables."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from bench.client import Timing
from bench.hosted import cost, floor
from bench.hosted.cost import Message, Streaming, percentile
from bench.hosted.deployment import Deployment, Person, Site, deployed, hosted_site, single_site
from bench.hosted.statements import Counted
from bench.hosted.tables import Table, judged, milliseconds
from bench.hosted.usage import KINDS, NOT_COUNTED, Sample

AGENTS = 4  # that messages are sent to, one after another
AIM_CPU, AIM_STATEMENTS, AIM_TRANSACTIONS, AIM_STREAMING, AIM_RATIO = 40, 35, 4, 30, 1.5
RUNS = (1, 8)  # that stream at once


def measure(data: Path, *, quick: bool) -> list[Table]:
    """A message and streaming, hosted, and the same message on SQLite."""
    seconds = 5.0 if quick else 12.0
    with two_sites(data) as (site, single_site), deployed(site, workers=1) as deployment:
        people = site.cast(max(RUNS), cost.AGENTS, cost.HISTORY)
        with deployed(single_site) as single_deployment:
            number = 1 if quick else AGENTS
            single_people = single_site.cast(number, cost.AGENTS, cost.HISTORY)
            sides = [(deployment, people[:number]), (single_deployment, single_people)]
            message, single = asyncio.run(in_turn(sides, seconds))
        streams = asyncio.run(streaming(deployment, people, seconds))
        counted = asyncio.run(cost.statements(deployment, people[:AGENTS], seconds))
        idle_counted = asyncio.run(cost.idle_statements(deployment, people[:1], seconds))
        trips = floor.trip(site), floor.commit(site)
        alone = [floor.client_alone(site, runs, seconds) for runs in RUNS]
    return [
        of_message(message, counted, single, trips),
        of_streaming(streams, alone),
        of_idle(message.idle, idle_counted),
    ]


@contextlib.contextmanager
def two_sites(data: Path) -> Iterator[tuple[Site, Site]]:
    """A hosted one, and one in the SQLite form."""
    folders = [data / "hosted", data / "single"]
    for folder in folders:
        folder.mkdir()
    with hosted_site(folders[0]) as hosted, single_site(folders[1]) as single:
        yield hosted, single


async def in_turn(
    sides: list[tuple[Deployment, list[Person]]], seconds: float
) -> tuple[Message, Message]:
    """Messages of each deployment, in turn, so that noise meets both alike."""
    idle = [await cost.idle(deployment, people[:1], seconds) for deployment, people in sides]
    batches: list[list[tuple[list[Timing], Sample]]] = [[], []]
    for pair in zip(*(people for _, people in sides), strict=True):
        for (deployment, _), person, batch in zip(sides, pair, batches, strict=True):
            batch.append(await cost.messages(deployment, person))
    hosted, single = map(cost.of_batches, batches, idle)
    return hosted, single


async def streaming(
    deployment: Deployment, people: list[Person], seconds: float
) -> list[Streaming]:
    streams = []
    for runs in RUNS:
        idle = await cost.idle(deployment, people[:runs], seconds)
        streams.append(await cost.streaming(deployment, people[:runs], seconds, idle))
    return streams


# -- as tables -------------------------------------------------------------------------------------


def of_message(
    message: Message, counted: Counted, single: Message, trips: tuple[float, float]
) -> Table:
    """`trips` are the milliseconds of the smallest statement, and of the smallest that writes."""
    table = Table("A message of one step, one at a time", ["", "hosted", "aim", "SQLite form"])
    table.add(
        "CPU, all processes (ms)",
        milliseconds(message.cpu),
        judged(message.cpu, AIM_CPU),
        milliseconds(single.cpu),
    )
    for kind in [*KINDS, *NOT_COUNTED]:
        table.add(f"  {kind}", of_each(message, kind), "", of_each(single, kind))
    others = message.used.others / message.used.moment
    table.add("  other processes of the machine (of a core)", f"{others:.2f}", "", "")
    count = cost.EACH * AGENTS
    every = counted.total / count
    table.add("statements", f"{every:.1f}", judged(every, AIM_STATEMENTS), "")
    table.add("  BEGIN, COMMIT and the like", f"{counted.control / count:.1f}", "", "")
    transactions = counted.transactions / count
    table.add("transactions", f"{transactions:.1f}", judged(transactions, AIM_TRANSACTIONS), "")
    table.add("  with single statements", f"{counted.commits / count:.1f}", "", "")
    for name, field in TIMES.items():
        for share in (0.5, 0.95):
            ours, theirs = (percentile(of.times(field), share) for of in (message, single))
            label = f"{name}, p{share * 100:.0f} (ms)"
            table.add(label, milliseconds(ours), "", milliseconds(theirs))
    ratio = median(message.times("took")) / median(single.times("took"))
    table.add("  p50 to that of the SQLite form", f"{ratio:.2f}", judged(ratio, AIM_RATIO), "")
    statement, commit = trips
    table.add("the smallest statement, there and back (ms)", f"{statement:.2f}", "", "")
    table.add("the smallest that writes (ms)", f"{commit:.2f}", "", "")
    postgres = counted.milliseconds / count
    table.add("Postgres' time for the statements of a message (ms)", milliseconds(postgres), "", "")
    alone = every * statement + postgres
    table.add("  with the ways there and back (ms)", milliseconds(alone), "", "")
    return table


TIMES = {
    "first event in the page": "seen",
    "first word, behind the model": "behind",
    "answer's end": "took",
}


def of_each(message: Message, kind: str) -> str:
    if kind not in message.used.cpu:
        return ""
    return milliseconds(message.used.cpu[kind] * 1000 / len(message.timings))


def of_streaming(streams: list[Streaming], alone: list[float]) -> Table:
    """CPU is that of one run; `alone` is that of the model's client with nothing around it."""
    columns = ["", *(f"{each.runs} at once" for each in streams), "aim"]
    table = Table("Streaming, a piece every 20 ms, a page open for each run", columns)
    table.add(
        "CPU a second and run (ms)",
        *(milliseconds(each.cpu) for each in streams),
        judged(max(each.cpu for each in streams), AIM_STREAMING),
    )
    for kind in [*KINDS, *NOT_COUNTED]:
        shares = (each.used.cpu[kind] * 1000 / each.used.moment / each.runs for each in streams)
        table.add(f"  {kind}", *map(milliseconds, shares), "")
    table.add("  the openai client alone", *map(milliseconds, alone), "")
    for share in (0.5, 0.95):
        lags = (milliseconds(percentile(each.lags, share)) for each in streams)
        table.add(f"from the model to the page, p{share * 100:.0f} (ms)", *lags, "")
    return table


def of_idle(idle: Sample, counted: Counted) -> Table:
    table = Table("Nobody does a thing, one page open", ["", "a second"])
    table.add("CPU, all processes (ms)", milliseconds(idle.total * 1000 / idle.moment))
    for kind in KINDS:
        table.add(f"  {kind}", milliseconds(idle.cpu[kind] * 1000 / idle.moment))
    table.add("statements", f"{counted.total / counted.seconds:.1f}")
    roles: Counter[str] = Counter()
    for (role, _), number in counted.statements.items():
        roles[role] += number
    for role, number in roles.most_common():
        table.add(f"  {role}", f"{number / counted.seconds:.1f}")
    return table


def of_statements(title: str, counted: Counted, times: float, least: float) -> Table:
    """Each statement, by how often it comes, of those that come at least so often."""
    table = Table(title, ["statement", "by", "times"])
    for (role, text), number in sorted(counted.statements.items(), key=lambda each: -each[1]):
        if abs(number) / times >= least:
            table.add(text[:150], role, f"{number / times:.2f}")
    return table


def list_statements(data: Path, *, quick: bool) -> list[Table]:
    """The statements of a message and of an idle deployment."""
    seconds = 10.0 if quick else 30.0
    with hosted_site(data) as site:
        people = site.cast(AGENTS, cost.AGENTS, cost.HISTORY)
        with deployed(site, workers=1) as deployment:
            idle = asyncio.run(cost.idle_statements(deployment, people[:1], seconds))
            counted = asyncio.run(cost.statements(deployment, people, seconds))
    return [
        of_statements("Statements of a message", counted, cost.EACH * AGENTS, 0.1),
        of_statements("Statements a second, idle, one page open", idle, idle.seconds, 0.01),
    ]
