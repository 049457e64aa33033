"""What `manage.py serve` does with its process before it serves."""

from __future__ import annotations

import os

import pytest

from agents.management.commands.serve import keep_to_one_core


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system chooses the cores")
def test_all_threads_keep_to_one_core() -> None:
    before = os.sched_getaffinity(0)
    try:
        keep_to_one_core()
        kept = os.sched_getaffinity(0)
        assert len(kept) == 1
        assert kept <= before
    finally:
        os.sched_setaffinity(0, before)
