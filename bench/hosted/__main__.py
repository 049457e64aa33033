"""What a hosted deployment costs, and how it grows: Postgres, Redis, web processes, workers.

`python -m bench.hosted`, or `make bench-hosted`. It runs on Linux, as the processes' CPU time is
read from /proc.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
import time
from pathlib import Path

from bench.hosted import cost_tables, growth, sockets
from bench.processes import BenchError
from tests.support.processes import Unavailable

PARTS = {
    "cost": (cost_tables.measure, "a message, a second of streaming, an idle second"),
    "growth": (growth.measure, "messages a second with more processes"),
    "sockets": (sockets.measure, "many open sockets, and answers that stream to some"),
    "statements": (cost_tables.list_statements, "each statement of a message and when idle"),
}
ALL = ("cost", "growth", "sockets")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.hosted", description=__doc__)
    for name, (_, words) in PARTS.items():
        parser.add_argument(
            f"--{name}", action="append_const", dest="parts", const=name, help=words
        )
    parser.add_argument("--quick", action="store_true", help="shorter, and less exact")
    parser.add_argument("--markdown", action="store_true", help="tables for a document")
    options = parser.parse_args(arguments)
    print(machine(), flush=True)
    began = time.monotonic()
    try:
        for part in options.parts or ALL:
            with tempfile.TemporaryDirectory(prefix="memoryweb-bench-") as name:
                for table in PARTS[part][0](Path(name), quick=options.quick):
                    print(f"\n{table.markdown() if options.markdown else table.text()}", flush=True)
    except (BenchError, Unavailable, TimeoutError) as error:
        print(f"Not measured: {str(error) or 'it took too long'}", file=sys.stderr)
        return 1
    print(f"\nMeasured in {time.monotonic() - began:.0f} s, {load()} at the end.")
    return 0


def machine() -> str:
    return (
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, {load()},"
        f" Python {platform.python_version()}; Postgres, Redis, the driver and a stub of a model"
        " without delay on the same cores"
    )


def load() -> str:
    return f"load {os.getloadavg()[0]:.1f}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
