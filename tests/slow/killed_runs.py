"""Runs killed at each point in turn; a process of its own for test_kill.py.

    python -m tests.slow.killed_runs

For n = 1, 2, 3 … a fresh agent gets a message, and a child process that executes the run kills
itself before the run's n-th transaction; the next child goes on with what was left. Ends when a
run has fewer transactions than that, and prints how many. What is killed within a transaction
leaves what was there before it, so these are all the states that a run can be left in.
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
    from agents.models import Agent
    from agents.runs import engine
    from agents.runs.loop import run_agent

    engine.resume()
    for run_id in handed:
        run_agent(run_id)
    agent = Agent.create(owner(), f"Agent {transaction}", ChatMemory(human="Name: Bob"))
    run = agent.send(MESSAGE, "key")
    countdown = itertools.count(1)

    def kill_before(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        begins = BEGINS.match(sql) or (WRITES.match(sql) and not connection.in_atomic_block)
        if begins and next(countdown) == transaction:
            os.kill(os.getpid(), signal.SIGKILL)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(kill_before):
        run_agent(run.pk)


if __name__ == "__main__":
    main()
