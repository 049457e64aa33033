"""Which statements Postgres executes, and for how long, from its log; transactions, from its own
counters."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from bench.hosted.deployment import Site

# '@memoryweb worker max=18 …@LOG:  duration: 0.07 ms  execute _pg3_5: SELECT …', lines after the
# first one indented; 'parse' and 'bind' of the same statement have lines of their own
LOGGED = {"log_line_prefix": "@%a@", "log_parameter_max_length": "0"}
LINE = re.compile(r"^@(.*?)@LOG:  duration: ([\d.]+) ms  (statement|\w+ [^:]*): ?(.*)$")
ROLE = re.compile(r"memoryweb (\w+)")
CONTROL = re.compile(r"(BEGIN|START TRANSACTION|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)\b", re.I)
VALUES = re.compile(r"'(?:[^']|'')*'|\$\d+|\b\d+(?:\.\d+)?\b")
LISTS = re.compile(r"\?(?:::\w+)?(?:, ?\?(?:::\w+)?)+|\(\?\)(?:, ?\(\?\))+")
COUNTED_LATE = 1.5  # seconds after which a connection has reported its transactions


@dataclass
class Counted:
    """Statements, by who sent them and their text without values, with the microseconds that
    Postgres took for them; all commits; seconds."""

    statements: Counter[tuple[str, str]]
    times: Counter[tuple[str, str]]
    commits: int
    seconds: float

    def without(self, idle: Counted) -> Counted:
        share = self.seconds / idle.seconds
        statements, times = (
            Counter({key: n - theirs[key] * share for key, n in ours.items()})
            for ours, theirs in ((self.statements, idle.statements), (self.times, idle.times))
        )
        return Counted(statements, times, round(self.commits - idle.commits * share), self.seconds)

    @property
    def total(self) -> float:
        return sum(self.statements.values())

    @property
    def milliseconds(self) -> float:
        """Of Postgres, for all of them."""
        return sum(self.times.values()) / 1000

    @property
    def control(self) -> float:
        """BEGIN, COMMIT and the like."""
        return sum(n for (_, text), n in self.statements.items() if CONTROL.match(text))

    @property
    def transactions(self) -> float:
        """Those of several statements."""
        return sum(n for (_, text), n in self.statements.items() if text.startswith("BEGIN"))


class Count:
    """Counts from here until `stop`."""

    def __init__(self, site: Site) -> None:
        self.site = site
        configure(site, log_min_duration_statement="0", **LOGGED)
        self.commits = commits(site)
        self.began, self.began_at = time.monotonic(), site.postgres_log.stat().st_size

    def stop(self) -> Counted:
        seconds = time.monotonic() - self.began
        configure(self.site, log_min_duration_statement="-1")
        after = commits(self.site)
        statements, times = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
        for each in read(self.site.postgres_log, self.began_at):
            statements[each.role, each.text] += each.is_executed
            times[each.role, each.text] += each.microseconds
        return Counted(statements, times, after - self.commits, seconds)


class Logged(NamedTuple):
    """A statement, or the preparing of one."""

    role: str
    text: str
    microseconds: int
    is_executed: bool


def configure(site: Site, **settings: str) -> None:
    """Change settings of the running Postgres; each connection knows them at its next statement."""
    for name, value in settings.items():
        site.query(f"ALTER SYSTEM SET {name} = '{value}'")
    site.query("SELECT pg_reload_conf()")
    time.sleep(0.5)


def commits(site: Site) -> int:
    time.sleep(COUNTED_LATE)
    sql = "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = 'postgres'"
    return int(site.query(sql)[0][0])


def read(log: Path, start: int = 0) -> Iterator[Logged]:
    """Each statement of a log from a place on: who sent it, its text without values, the time."""
    with log.open(encoding="utf-8", errors="replace") as lines:
        lines.seek(start)
        found, words = None, list[str]()
        for line in lines:
            if line.startswith("\t"):
                words.append(line)
                continue
            if found:
                yield from logged(found, words)
            found = LINE.match(line)
            words = [found[4]] if found else []
        if found:
            yield from logged(found, words)


def logged(found: re.Match[str], words: Sequence[str]) -> Iterator[Logged]:
    """What a line says; nothing, if a benchmark's own connection is meant."""
    is_executed = found[3].startswith(("statement", "execute"))
    if role := role_of(found[1]):
        yield Logged(
            role, without_values(" ".join(words)), round(float(found[2]) * 1000), is_executed
        )


def role_of(application: str) -> str:
    """'web' or 'worker', as a process names its connections; '' for those of the benchmark."""
    found = ROLE.match(application)
    return "" if application == "bench" else found[1] if found else application or "other"


def without_values(sql: str) -> str:
    """A statement's text as all have it that differ in their values only."""
    return LISTS.sub("…", VALUES.sub("?", " ".join(sql.split())))
