"""What a step costs the processor, part by part, in one process and without sockets.

`python -m bench.step` prints figures: name, unit, samples, aim. The parts are taken in turn, with
the `openai` client alone among them, so that noise meets all alike: their ratios mean something
even where the machine is busy.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from bench import processes
from bench.cast import make_agent
from bench.client import ASK, RawClient
from bench.processes import BenchError

if TYPE_CHECKING:
    from agents.models import Agent

Figure = tuple[str, str, list[float], float | None]
WARM_UP = 10
SECONDS = 300.0


def figures(samples: int) -> list[Figure]:
    """Every figure, from a process of its own."""
    with tempfile.TemporaryDirectory(prefix="memoryweb-bench-") as name, processes.stub() as url:
        try:
            told = subprocess.run(
                [sys.executable, "-m", "bench.step", str(samples)],
                cwd=processes.ROOT,
                env=processes.environment(Path(name), url),
                stdout=subprocess.PIPE,
                check=True,
                timeout=SECONDS,
            )
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            raise BenchError(f"The parts of a step were not measured: {error}") from error
    return [(name, unit, taken, aim) for name, unit, taken, aim in json.loads(told.stdout)]


def main(samples: int) -> None:
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0, interactive=False)
    measured = parts()
    times: dict[str, list[float]] = {name: [] for name in measured}
    for number in range(WARM_UP + samples):
        for name, part in measured.items():
            began = time.process_time()
            part()
            if number >= WARM_UP:
                times[name].append((time.process_time() - began) * 1000)
    print(json.dumps([(f"CPU: {name}", "ms", taken, None) for name, taken in times.items()]))
    sys.stdout.flush()
    os._exit(0)  # waits for no thread


def parts() -> dict[str, Callable[[], Any]]:
    """What is measured, by name: the client alone, and what does more and more around it."""
    from agents.live.publisher import agent_topic

    unseen, shown = make_agent("Nobody looks"), make_agent("Shown")
    listen(agent_topic(shown.pk, "en"), lambda: None)
    return {
        "the openai client alone": client_alone(unseen),
        "the model call of a step": model_call(unseen),
        "a step, no page open": step_of(unseen),
        "a step, drawn for a page": step_of(shown),
    }


def client_alone(agent: Agent) -> Callable[[], Any]:
    """The official client, with nothing around it."""
    from django.conf import settings

    raw = RawClient(settings.OPENAI_BASE_URL, json.loads(request_of(agent)))
    loop = asyncio.new_event_loop()
    return lambda: loop.run_until_complete(raw.say())


def model_call(agent: Agent) -> Callable[[], Any]:
    """The request of a step, answered, and nothing stored."""
    from agents.llm import ModelCall, resolve
    from agents.llm.spending import Spending
    from agents.models import Usage
    from agents.runs.streaming import LOOK_SECONDS, PIECE_SECONDS

    endpoint, model = resolve(agent.model, agent.owner_id)
    body = request_of(agent)

    def call() -> None:
        spending = Spending(agent.owner_id, Usage.Kind.MESSAGE, endpoint, model).reserve(0)
        asked, sent_at = ModelCall(spending, body), 0.0
        while (deltas := asked.wait(LOOK_SECONDS, until=sent_at + PIECE_SECONDS)) is not None:
            sent_at = time.monotonic() if deltas else sent_at

    return call


def step_of(agent: Agent) -> Callable[[], Any]:
    """A message, from where it is accepted until its run has ended."""
    from agents.live.commands import accept_message
    from agents.live.publisher import rest_topic

    ended = threading.Event()
    listen(rest_topic(agent.pk), ended.set)

    def step() -> None:
        ended.clear()
        accept_message(
            agent.owner, {"command": "send", "agent": agent.pk, "text": ASK, "key": uuid4().hex}
        )
        if not ended.wait(processes.START_SECONDS):
            raise BenchError("A step did not end.")

    return step


def request_of(agent: Agent) -> bytes:
    """A request of the agent's, with a message as long as that of a step."""
    from agents.llm import resolve
    from agents.memory.context import compile_context

    context = compile_context(agent.first_conversation)
    body: dict[str, Any] = json.loads(context.body(resolve(agent.model, agent.owner_id)[1]))
    body["messages"].append({"role": "user", "content": ASK})
    return json.dumps(body).encode()


def listen(topic: str, call: Callable[[], object]) -> None:
    """Have a function called with what is published; where a page would be."""
    from agents import asyncio_bridge
    from agents.live.publisher import subscribe

    def listener(events: list[Any]) -> None:
        call()

    async def subscribed() -> None:
        subscribe(topic, listener)

    asyncio.run_coroutine_threadsafe(subscribed(), asyncio_bridge.loop()).result()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(int(sys.argv[1]))
