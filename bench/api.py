"""How fast the REST API and the page are, with few agents and messages stored and with many.

`python -m bench.api` prints figures: name, unit, samples, aim. Each request goes over a connection
of its own client that stays open, as an SDK's does; the model is a stub without delay.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench import processes
from bench.processes import BenchError, Server

FEW, MANY_AGENTS, MANY_MESSAGES = 10, 10_000, 100_000
WARM_UP = 5
PAGES = 15  # samples
MOST_LINKS = 100.0
SEARCH = "/agents/list/?q=agent+9"
FILL_SECONDS = 300.0
Figure = tuple[str, str, list[float], float | None]
AIMS = {
    "GET agent": 4.0,
    "GET its blocks": 4.0,
    "list 20 messages": 4.0,
    "list 20 agents": None,
    "PATCH block": 6.0,
    "create agent": 10.0,
    "message of one step": 12.0,
}


class Client:
    """A script's connection."""

    def __init__(self, server: Server) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        headers = {} if body is None else {"Content-Type": "application/json"}
        sent = None if body is None else json.dumps(body)
        self.connection.request(method, f"/v1{path}", sent, headers)
        response = self.connection.getresponse()
        said = response.read()
        if response.status != 200:
            raise BenchError(f"{method} {path} gave {response.status}: {said[:300]!r}")
        return json.loads(said)

    def close(self) -> None:
        self.connection.close()


def figures(samples: int) -> list[Figure]:
    """Every figure, with few rows stored and with many."""
    found: list[Figure] = []
    for agents, messages in ((FEW, FEW), (MANY_AGENTS, MANY_MESSAGES)):
        with filled(agents, messages) as (server, agent):
            client = Client(server)
            calls = calls_on(client, agent)
            for name, call in calls.items():
                title = f"API, {agents:,} agents, {messages:,} messages: {name}"
                found.append((title, "ms", timed(call, samples), AIMS[name]))
            client.close()
            found += page_beside(server, agent, f"page beside a list of {agents:,} agents")
    return found


def page_beside(server: Server, agent: str, title: str) -> list[Figure]:
    """The page of an agent whose person has many: its list is loaded as one scrolls."""
    path = f"/agents/{agent}/"
    drawn = server.get(path).decode()
    links = set(re.findall(r'href="/agents/([0-9a-f-]{36})/"', drawn))
    return [
        (title, "ms", timed(lambda: server.get(path), PAGES), None),
        (f"{title}: agents that it links to", "", [len(links)], MOST_LINKS),
        (f"{title}: a search by name", "ms", timed(lambda: server.get(SEARCH), PAGES), None),
    ]


def calls_on(client: Client, agent: str) -> dict[str, Callable[[], Any]]:
    """What is measured, by name."""
    path, counter = f"/agents/agent-{agent}", iter(range(10**9))
    talks = client.ask("POST", "/agents/", {"agent_type": "letta_v1_agent"})["id"]
    block = f"{path}/core-memory/blocks/human"
    new = {
        "memory_blocks": [{"label": "human", "value": "Bob"}, {"label": "persona", "value": "Sam"}],
        "model": "openai/gpt-4o-mini",
    }
    return {
        "GET agent": lambda: client.ask("GET", path),
        "GET its blocks": lambda: client.ask("GET", f"{path}/core-memory/blocks"),
        "list 20 messages": lambda: client.ask("GET", f"{path}/messages?limit=20"),
        "list 20 agents": lambda: client.ask("GET", "/agents/?limit=20"),
        "PATCH block": lambda: client.ask("PATCH", block, {"value": f"Bob {next(counter)}"}),
        "create agent": lambda: client.ask("POST", "/agents/", new),
        "message of one step": lambda: client.ask(
            "POST", f"/agents/{talks}/messages", {"input": "How is the garden?"}
        ),
    }


def timed(call: Callable[[], Any], samples: int) -> list[float]:
    """Milliseconds of each call."""
    for _ in range(WARM_UP):
        call()
    times = []
    for _ in range(samples):
        began = time.perf_counter()
        call()
        times.append((time.perf_counter() - began) * 1000)
    return times


@contextlib.contextmanager
def filled(agents: int, messages: int) -> Iterator[tuple[Server, str]]:
    """A server with so many agents, one of which has said so much; and that one's id."""
    with tempfile.TemporaryDirectory(prefix="memoryweb-bench-") as name, processes.stub() as url:
        data = Path(name)
        settings = processes.environment(data, url)
        told = subprocess.run(
            [sys.executable, "-m", "bench.api", "--fill", str(agents), str(messages)],
            cwd=processes.ROOT,
            env=settings,
            stdout=subprocess.PIPE,
            check=True,
            timeout=FILL_SECONDS,
        )
        with processes.server(settings, data) as server:
            yield server, told.stdout.decode().strip()


def fill(agents: int, messages: int) -> str:
    """Write the rows; the id of the agent with the messages, whose context holds the newest 40."""
    from agents.accounts import owner
    from agents.models import Agent, Attachment, Block
    from bench.cast import BATCH, make_agent

    talker = make_agent("Talker", messages, in_context=min(messages, 40))
    made = [Agent(owner=owner(), name=f"Agent {n}", tools=talker.tools) for n in range(agents - 1)]
    Agent.objects.bulk_create(made, batch_size=BATCH)
    blocks = [Block(owner=owner(), label="human", value=f"I am {n}") for n in range(agents - 1)]
    Block.objects.bulk_create(blocks, batch_size=BATCH)
    held = [
        Attachment(agent=agent, block=block, label="human")
        for agent, block in zip(made, blocks, strict=True)
    ]
    Attachment.objects.bulk_create(held, batch_size=BATCH)
    return str(talker.pk)


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--fill"]:
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0, interactive=False)
        print(fill(*map(int, arguments[1:])))
        return
    for name, unit, times, aim in figures(int(arguments[0]) if arguments else 60):
        half = sorted(times)[len(times) // 2]
        aimed = "" if aim is None else f"  (aim ≤ {aim:g})"
        print(f"{name:70} {half:7.2f} {unit}{aimed}")


if __name__ == "__main__":
    main(sys.argv[1:])
