"""What a busy deployment takes, and what of it is nearest to its limit."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field

from bench.client import Timing
from bench.hosted.deployment import Deployment, Site
from bench.hosted.tables import Table, milliseconds
from bench.hosted.usage import KINDS, MACHINE, WEB, WORKER, Sample, memory_of_each

CORES = os.cpu_count() or 1


@dataclass
class Traffic:
    """Bytes: of the database's files, of its write-ahead log, to and from Redis."""

    stored: float
    logged: float
    redis: float

    def since(self, before: Traffic) -> Traffic:
        return Traffic(
            self.stored - before.stored, self.logged - before.logged, self.redis - before.redis
        )


@dataclass
class Load:
    """What a deployment did for a while."""

    workers: int
    web: int
    used: Sample
    traffic: Traffic
    connections: dict[str, int]
    memory: dict[str, float]
    timings: list[Timing] = field(default_factory=list)
    lags: list[float] = field(default_factory=list)
    statements: float = 0.0  # of a message

    @property
    def rate(self) -> float:
        """Messages a second."""
        return len(self.timings) / self.used.moment

    def busiest(self) -> str:
        """What is nearest to its limit: a process of Python's, which has one core, or all cores
        together."""
        shares = {
            "all cores": self.used.cpu[MACHINE] / CORES,
            "web process": self.used.cpu[WEB] / self.web,
            "worker": self.used.cpu[WORKER] / self.workers,
        }
        name, seconds = max(shares.items(), key=lambda each: each[1])
        return f"{name} {seconds * 100 / self.used.moment:.0f} %"

    def others(self) -> str:
        """How much of the machine processes took that are no part of the benchmark."""
        return f"{self.used.others * 100 / self.used.moment / CORES:.0f} %"


def loaded(deployment: Deployment, used: Sample, moved: Traffic) -> Load:
    """With the connections and the memory that it has now."""
    taken = connections(deployment.site), memory_of_each(deployment)
    return Load(len(deployment.workers), len(deployment.web), used, moved, *taken)


def traffic(site: Site) -> Traffic:
    """All until now."""
    sql = "SELECT pg_database_size(current_database()), pg_current_wal_lsn() - '0/0'"
    ((stored, logged),) = site.query(sql)
    told = site.redis_info()
    moved = told["total_net_input_bytes"] + told["total_net_output_bytes"]
    return Traffic(float(stored), float(logged), float(moved))


def connections(site: Site) -> dict[str, int]:
    """The most connections that one process of each kind has."""
    sql = (
        "SELECT split_part(application_name, ' ', 2), count(*) FROM pg_stat_activity"
        " WHERE application_name LIKE 'memoryweb %' GROUP BY application_name"
    )
    most: dict[str, int] = {}
    for role, number in site.query(sql):
        most[role] = max(number, most.get(role, 0))
    return most


def add_cpu(table: Table, words: str, loads: Sequence[Load], shares: Sequence[float]) -> None:
    """Rows of CPU milliseconds by kind, for a share of each load: a message, a second."""
    every = list(zip(loads, shares, strict=True))
    table.add(words, *(milliseconds(load.used.total * 1000 / share) for load, share in every))
    for kind in KINDS:
        spent = (milliseconds(load.used.cpu[kind] * 1000 / share) for load, share in every)
        table.add(f"  {kind}", *spent)


def add_processes(table: Table, loads: Sequence[Load]) -> None:
    """Rows of what processes take besides CPU, and of what is nearest to its limit."""
    for role in (WEB, WORKER):
        numbers = (str(load.connections.get(role, 0)) for load in loads)
        table.add(f"connections of a {role} process", *numbers)
    for kind in loads[0].memory:
        table.add(f"memory, {kind} (MB)", *(f"{load.memory[kind]:.0f}" for load in loads))
    table.add("nearest to its limit", *(load.busiest() for load in loads))
    table.add("other processes of the machine", *(load.others() for load in loads))


def kilobytes(size: float) -> str:
    return f"{size / 1000:.1f}"
