"""What this process has counted since it started, for `/metrics`: kept as plain numbers."""

from __future__ import annotations

import logging
from bisect import bisect_left
from collections import Counter

BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds

requests: Counter[tuple[str, str]] = Counter()  # by kind (page, api, static, probe) and status
seconds: dict[str, list[float]] = {}  # by kind: how many in each bucket and beyond, then the sum
sockets: Counter[str] = Counter()  # "open"
errors: Counter[str] = Counter()  # lines of the log at ERROR and above, by logger


def answered(kind: str, status: int, took: float) -> None:
    """A request was answered."""
    requests[kind, f"{status // 100}xx"] += 1
    counted = seconds.setdefault(kind, [0.0] * (len(BUCKETS) + 2))
    counted[bisect_left(BUCKETS, took)] += 1
    counted[-1] += took


class CountErrors(logging.Handler):
    """Counts what is logged as an error."""

    def emit(self, record: logging.LogRecord) -> None:
        errors[record.name.partition(".")[0]] += 1
