"""What processes take: CPU and memory, read from /proc, each kind of process apart."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from bench.hosted.deployment import Deployment
from bench.processes import BenchError, cpu_seconds, memory

WEB, WORKER, REDIS = "web", "worker", "Redis"
BACKENDS, BACKGROUND = "Postgres, its connections", "Postgres, in the background"
KINDS = [WEB, WORKER, BACKENDS, BACKGROUND, REDIS]
NOT_COUNTED = ["the stub of a model", "the driver"]
MACHINE = "all processes of the machine"


@dataclass
class Sample:
    """The CPU seconds that each kind of process had used at a moment."""

    moment: float
    cpu: dict[str, float]

    def since(self, before: Sample) -> Sample:
        spent = {kind: seconds - before.cpu[kind] for kind, seconds in self.cpu.items()}
        return Sample(self.moment - before.moment, spent)

    def without(self, idle: Sample) -> Sample:
        """What is left when what an idle deployment takes in that time is subtracted."""
        share = self.moment / idle.moment
        spent = {kind: seconds - idle.cpu[kind] * share for kind, seconds in self.cpu.items()}
        if MACHINE in self.cpu:  # what others take is no deployment's
            spent[MACHINE] = self.cpu[MACHINE] - idle.total * share
        return Sample(self.moment, spent)

    @property
    def total(self) -> float:
        """Seconds of the deployment."""
        return sum(self.cpu.get(kind, 0.0) for kind in KINDS)

    @property
    def others(self) -> float:
        """Seconds that processes took which are no part of the benchmark."""
        return self.cpu[MACHINE] - self.total - sum(self.cpu[each] for each in NOT_COUNTED)


def sample(deployment: Deployment) -> Sample:
    site = deployment.site
    cpu: dict[str, float] = {WEB: sum(used(server.process.pid) for server in deployment.web)}
    if site.postgres:
        cpu[WORKER] = sum(map(used, deployment.workers))
        cpu[BACKENDS] = 0.0
        cpu[BACKGROUND] = used(site.postgres) + (cpu_seconds(site.postgres, children=True) or 0)
        for process, is_connection in postgres_processes(site.postgres).items():
            cpu[BACKENDS if is_connection else BACKGROUND] += cpu_seconds(process) or 0
        cpu[REDIS] = used(int(site.redis_info()["process_id"]))
    cpu[NOT_COUNTED[0]] = used(site.stub)
    cpu[NOT_COUNTED[1]] = time.process_time()
    cpu[MACHINE] = machine_seconds()
    return Sample(time.monotonic(), cpu)


def machine_seconds() -> float:
    """CPU seconds of all processes since the machine started."""
    fields = [int(each) for each in Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
    idle, waits_for_disk = fields[3:5]
    return (sum(fields) - idle - waits_for_disk) / os.sysconf("SC_CLK_TCK")


def used(process: int) -> float:
    seconds = cpu_seconds(process)
    if seconds is None:
        raise BenchError(f"Process {process} is not in /proc: it ended, or this is not Linux.")
    return seconds


def postgres_processes(postmaster: int) -> dict[int, bool]:
    """Each process of a Postgres, and whether it is a client's connection."""
    found = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            title = (folder / "cmdline").read_bytes()
        except (OSError, IndexError):  # it has ended
            continue
        if parent == postmaster:
            found[int(folder.name)] = b"127.0.0.1(" in title
    return found


def memory_of_each(deployment: Deployment) -> dict[str, float]:
    """Megabytes of one process of each kind, the largest; of all of Postgres without what its
    processes share."""
    taken = {WEB: max(memory(server.process.pid) for server in deployment.web)}
    if deployment.workers:
        taken[WORKER] = max(map(memory, deployment.workers))
    if deployment.site.postgres:
        own = [own_memory(each) for each in postgres_processes(deployment.site.postgres)]
        taken["Postgres"] = sum(own) + own_memory(deployment.site.postgres)
        taken[REDIS] = deployment.site.redis_info()["used_memory_rss"] / 1e6
    return taken


def own_memory(process: int) -> float:
    """Megabytes of a process that it shares with no other."""
    try:
        told = Path(f"/proc/{process}/statm").read_text().split()
    except OSError:
        return 0.0
    return (int(told[1]) - int(told[2])) * os.sysconf("SC_PAGE_SIZE") / 1e6
