"""Runs killed at each point in turn; a process of its own for test_kill.py.

    python -m tests.slow.killed_runs [waiting]

For n = 1, 2, 3 … a fresh agent gets a message, and a child process that executes the run kills
itself before the run's n-th transaction; the next child goes on with what was left. Ends when a
run has fewer transactions than that, and prints how many. What is killed within a transaction
leaves what was there before it, so these are all the states that a run can be left in. With
`waiting`, calls wait for approval and for the script whose tool is called, and are answered.
"""

from __future__ import annotations

import itertools
import os
import re
import signal
import sys
import traceback
from collections.abc import Callable
from typing import Any

import django

WAITING = "waiting" in sys.argv
GATED = "core_memory_replace"
MESSAGE = "I am Sarah and I like cherry pie."
BEGINS = re.compile("BEGIN")
WRITES = re.compile("INSERT|UPDATE|DELETE")
handed: list[int] = []  # the runs that the engine was given


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryweb.settings")
    django.setup()

    from django.core.management import call_command
    from django.db import connections

    import agents.runs.loop  # noqa: F401  (imported here, as each child would have to)
    from agents.accounts import owner
    from agents.llm import clients
    from agents.runs import engine

    call_command("migrate", verbosity=0)
    owner()
    connections.close_all()  # a connection must not be carried into a child
    clients._certificates()
    engine.submit = lambda run: handed.append(run.pk)
    for transaction in itertools.count(1):
        status = in_child(killed, transaction)
        if status == 0:
            break
        if status != -signal.SIGKILL:
            sys.exit(
                f"The child to be killed before transaction {transaction} ended with {status}."
            )
    print(transaction - 1)


def in_child(function: Callable[..., None], *args: Any) -> int:
    """Call a function in a child process; its exit status, or minus the signal that ended it."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            function(*args)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def killed(transaction: int) -> None:
    """Go on with what the last child left, then execute a run up to its n-th transaction."""
    from django.db import connection

    from agents.accounts import owner
    from agents.memory.classes import ChatMemory
    from agents.models import Agent, Run
    from agents.runs import engine

    engine.resume()
    handed.extend(run.pk for run in Run.objects.filter(status=Run.Status.WAITING))
    execute_all()
    agent = Agent.create(owner(), f"Agent {transaction}", ChatMemory(human="Name: Bob"))
    brought: dict[str, Any] = {}
    if WAITING:
        agent.configure(tool_rules=[{"type": "requires_approval", "tool_name": GATED}])
        brought = {"client_tools": [{"name": "read_file"}]}
    run = agent.first_conversation.start(MESSAGE, "key", **brought)
    handed[:] = [run.pk]
    countdown = itertools.count(1)

    def kill_before(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        begins = BEGINS.match(sql) or (WRITES.match(sql) and not connection.in_atomic_block)
        if begins and next(countdown) == transaction:
            os.kill(os.getpid(), signal.SIGKILL)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(kill_before):
        execute_all()


def execute_all() -> None:
    """Do what workers do with the runs that were handed over, and answer what they wait for."""
    from agents.models import Approval
    from agents.models.approval import Decision
    from agents.runs.loop import run_agent

    while handed:
        run_agent(handed.pop(0))
        for waiting in Approval.objects.pending():
            by_script = waiting.kind == Approval.Kind.CLIENT
            given = Decision.of_return("A cherry", "success")
            decision = given if by_script else Decision(Approval.Status.APPROVED)
            Approval.decide_all([(waiting, decision)])


if __name__ == "__main__":
    main()
