"""What no code of ours takes away: the trips to Postgres, and the model's client.

`python -m bench.hosted.floor URL RUNS SECONDS` prints the CPU of the official client alone while it
reads so many answers at once, in milliseconds a second and answer.
"""

from __future__ import annotations

import asyncio
import sys
import time
from statistics import median

import psycopg
from openai import AsyncOpenAI, DefaultAsyncHttpxClient

from bench.hosted.deployment import Site
from bench.stub import MODEL, PIECE_SECONDS

TRIPS = 500
WARM_UP_SECONDS = 1.0


def trip(site: Site) -> float:
    """Milliseconds of the smallest statement, there and back."""
    times = []
    with psycopg.connect(site.database, autocommit=True, application_name="bench") as connection:
        for _ in range(TRIPS):
            began = time.perf_counter()
            connection.execute("SELECT 1", prepare=True).fetchone()
            times.append((time.perf_counter() - began) * 1000)
    return median(times)


def commit(site: Site) -> float:
    """Milliseconds of the smallest change that is on the disk when it is answered."""
    times = []
    with psycopg.connect(site.database, autocommit=True, application_name="bench") as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS bench_commit AS SELECT 0 AS number")
        for _ in range(TRIPS // 5):
            began = time.perf_counter()
            connection.execute("UPDATE bench_commit SET number = number + 1", prepare=True)
            times.append((time.perf_counter() - began) * 1000)
        connection.execute("DROP TABLE bench_commit")
    return median(times)


def client_alone(site: Site, runs: int, seconds: float) -> float:
    """CPU milliseconds a second and answer, of a process with nothing but the client."""
    url = site.settings["OPENAI_BASE_URL"]
    return float(site.run("-m", "bench.hosted.floor", url, str(runs), str(seconds)))


async def read(url: str, runs: int, seconds: float) -> float:
    client = AsyncOpenAI(
        base_url=url, api_key="bench", http_client=DefaultAsyncHttpxClient(trust_env=False)
    )
    pieces = int((seconds + 2 * WARM_UP_SECONDS) / PIECE_SECONDS)

    async def one() -> None:
        ask = f"[stream {pieces}]"
        async for _ in await client.chat.completions.create(
            model=MODEL, messages=[{"role": "user", "content": ask}], stream=True
        ):
            pass

    reading = [asyncio.create_task(one()) for _ in range(runs)]
    await asyncio.sleep(WARM_UP_SECONDS)
    began, spent = time.monotonic(), time.process_time()
    await asyncio.sleep(seconds)
    used = (time.process_time() - spent) * 1000 / (time.monotonic() - began) / runs
    for task in reading:
        task.cancel()
    return used


if __name__ == "__main__":
    address, at_once, duration = sys.argv[1:]
    print(asyncio.run(read(address, int(at_once), float(duration))))
