"""Work in several threads at the same time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from django.db import connection

T = TypeVar("T")
R = TypeVar("R")


def at_once(work: Callable[[T], R], each: Iterable[T]) -> list[R]:
    """What `work` returns for each of these, in threads that begin together.

    Each thread has a connection of its own. What fails in one is raised here.
    """
    items = list(each)
    start = threading.Barrier(len(items))

    def run(item: T) -> R:
        start.wait(20)
        try:
            return work(item)
        finally:
            connection.close()

    with ThreadPoolExecutor(len(items)) as threads:
        return list(threads.map(run, items))
