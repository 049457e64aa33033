"""The agents that are measured, written straight into the database before the server starts.

`python -m bench.cast` prints a `Cast` as JSON.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from agents.models import Agent

SHORT, LONG, PAGE = 10, 10_000, 5_000  # stored messages
FEW_LINES, MANY_LINES, MANY_BLOCKS = 10, 1_000, 40  # of a core memory that is edited
FULL = 300  # stored messages, all in a window that they fill
FULL_WINDOW = 16_000  # tokens
FULL_AGENTS = 10
MANY = 8
BATCH = 2000  # rows written at once
PERSONA = "You are a helpful assistant who remembers what matters to the person."
ASKED = (
    "Could you tell me a little more about the garden we spoke of last week, and whether the"
    " cherry tree will need to be cut before the frost comes?"
)
ANSWERED = (
    "It is best to cut it **late in summer**, after the harvest; the wounds close well then, and"
    " the frost does no harm to the tree you planted by the wall."
)


@dataclass
class Cast:
    """Ids of agents, and the request that the first of them would send, without its message."""

    alone: str = ""
    editor: str = ""  # whose block has few lines
    lines: str = ""  # whose block has many
    blocks: str = ""  # who has many blocks
    short: str = ""
    long: str = ""
    lean: str = ""  # with as many messages as `long`, and as few in its context as `short`
    page: str = ""
    many: list[str] = field(default_factory=list)
    full: list[str] = field(default_factory=list)  # whose next message makes room
    request: dict[str, Any] = field(default_factory=dict)


def make() -> Cast:
    """All agents, with their histories."""
    from agents.memory.context import compile_context

    alone = make_agent("Alone")
    return Cast(
        alone=str(alone.pk),
        editor=str(make_editor("Editor", FEW_LINES).pk),
        lines=str(make_editor("Lines", MANY_LINES).pk),
        blocks=str(make_editor("Blocks", FEW_LINES, MANY_BLOCKS).pk),
        short=str(make_agent("Short", SHORT).pk),
        long=str(make_agent("Long", LONG).pk),
        lean=str(make_agent("Lean", LONG, in_context=SHORT).pk),
        page=str(make_agent("Page", PAGE).pk),
        many=[str(make_agent(f"One of {MANY}").pk) for _ in range(MANY)],
        full=[str(make_full(number).pk) for number in range(FULL_AGENTS)],
        request=json.loads(compile_context(alone.first_conversation).body("stub")),
    )


def make_agent(
    name: str, messages: int = 0, in_context: int | None = None, person: User | None = None
) -> Agent:
    """An agent with so many messages stored, of a person's, or of the one owner's."""
    from agents.accounts import owner
    from agents.memory.classes import ChatMemory
    from agents.memory.prompts import SYSTEM_PROMPT
    from agents.models import Agent

    memory = ChatMemory(human="Name: Bob", persona=PERSONA)
    agent = Agent.create(person or owner(), name, memory, system_prompt=SYSTEM_PROMPT)
    if messages:
        write_history(agent, messages // 2)
    if in_context is not None:
        first = messages - in_context + 1
        agent.conversations.filter(pk=agent.pk).update(context_from=first)
    return agent


def make_editor(name: str, lines: int, blocks: int = 2) -> Agent:
    """An agent whose block `human` has so many lines, and that has so many blocks."""
    from agents.models import Block, Editor

    agent = make_agent(name)
    human = agent.block("human")
    assert human
    human.configure(limit=200_000)
    by = Editor.person(agent.owner)
    human.set_value(
        "\n".join(f"Fact {n}: plot {n} of the garden is dug" for n in range(lines)), by=by
    )
    for number in range(blocks - 2):
        value = f"What is known of topic {number}. " * 10
        block = Block.objects.create(owner=agent.owner, label=f"topic_{number}", value=value)
        agent.attach(block)
    return agent


def make_full(number: int) -> Agent:
    """An agent whose window is full."""
    agent = make_agent(f"Full {number}", FULL)
    agent.configure(context_window=FULL_WINDOW)
    return agent


def write_history(agent: Agent, exchanges: int) -> None:
    """Runs of one step: a message of the person and an answer. Nobody reads their events again."""
    from django.db import transaction

    from agents.models import Agent, Message

    with transaction.atomic():
        runs = write_runs(agent, exchanges)
        steps = write_steps(runs)
        Message.objects.bulk_create(messages_of(agent, runs, steps), batch_size=BATCH)
        Agent.objects.filter(pk=agent.pk).update(message_count=2 * exchanges)


def write_runs(agent: Agent, count: int) -> list[Any]:
    from django.utils import timezone

    from agents.models import Run

    now = timezone.now()
    ended = {"status": Run.Status.DONE, "reason": Run.Reason.ANSWERED}
    times = {"seen_at": now, "started_at": now, "finished_at": now}
    runs = [
        Run(
            agent=agent,
            conversation_id=agent.pk,
            key=f"history-{n}",
            text=ASKED,
            attempt=1,
            **ended,
            **times,
        )
        for n in range(count)
    ]
    return Run.objects.bulk_create(runs, batch_size=BATCH)


def write_steps(runs: list[Any]) -> list[Any]:
    from django.utils import timezone

    from agents.models import Step

    done = {"status": Step.Status.DONE, "outcome": "answered", "finished_at": timezone.now()}
    tokens = {"context_tokens": 1000, "prompt_tokens": 1000, "completion_tokens": 40}
    model = {"model": "stub", "endpoint": "http://127.0.0.1/v1"}
    steps = [Step(run=run, number=1, **done, **tokens, **model) for run in runs]
    return Step.objects.bulk_create(steps, batch_size=BATCH)


def messages_of(agent: Agent, runs: list[Any], steps: list[Any]) -> list[Any]:
    from agents.models import Message

    messages = []
    for n, (run, step) in enumerate(zip(runs, steps, strict=True)):
        of = {"agent": agent, "conversation_id": agent.pk, "run": run}
        messages.append(Message(**of, number=2 * n + 1, role="user", content=ASKED))
        answer = f"{ANSWERED} ({n})"
        messages.append(
            Message(**of, step=step, number=2 * n + 2, role="assistant", content=answer)
        )
    return messages


if __name__ == "__main__":
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0, interactive=False)
    print(json.dumps(asdict(make())))
