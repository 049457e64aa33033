"""The engine: no rows of runs, jobs and approvals are such that nothing leads on from them."""

from __future__ import annotations

import itertools
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings as configured
from django.db import connection
from django.utils import timezone

from agents.models import Agent, Approval, Message, Run, Step
from agents.runs import engine
from agents.runs.loop import run_agent
from tests.support.fake_openai import FakeOpenAI
from tests.support.stored import of

Status = Run.Status
CALLS = [{"id": "call_1", "name": "core_memory_append", "arguments": "{"}]
ENDED = {Status.DONE, Status.STOPPED, Status.FAILED}
JOBS = ["none", "todo", "doing", "orphaned", "succeeded", "failed"]
STEPS = ["none", "streaming", "calling", "returned", "done", "failed"]


def states() -> list[Any]:
    """Every way that a run that has not ended may stand in the tables."""
    steps: list[tuple[str, str | None]] = [(step, None) for step in STEPS]
    steps += [("calling", approval) for approval in Approval.Status.values]
    seen, stop = ["never", "long ago"], [False, True]
    active = itertools.product([Status.RUNNING, Status.WAITING], seen, stop, steps, ["none"])
    jobs = JOBS[1:] if configured.HOSTED else []
    with_jobs = itertools.product([Status.RUNNING, Status.QUEUED], seen, stop, steps[:1], jobs)
    found = [*active, *with_jobs, (Status.QUEUED, "never", False, steps[0], "none")]
    return [pytest.param(*state, id="-".join(map(str, state))) for state in found]


@pytest.fixture
def handed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The runs that the engine was given to execute."""
    given: list[int] = []
    monkeypatch.setattr(engine, "submit", lambda run: given.append(run.pk))
    return given


@pytest.mark.parametrize(("status", "seen", "stop", "stepped", "job"), states())
def test_a_run_is_taken_up_whatever_state_its_rows_were_left_in(
    agent: Agent,
    model: FakeOpenAI,
    handed: list[int],
    status: str,
    seen: str,
    stop: bool,
    stepped: tuple[str, str | None],
    job: str,
) -> None:
    run = Run.objects.create(**of(agent), key="k", text="Hello", status=status, stop_requested=stop)
    behind = Run.objects.create(**of(agent), key="behind", text="And this?")
    if seen == "long ago":
        Run.objects.filter(pk=run.pk).update(seen_at=timezone.now() - timedelta(hours=1))
    leave(run, *stepped)
    put_job(run, job)
    for _ in range(6):
        engine.take_up()
        execute_all(handed)
        for approval in Approval.objects.pending():
            approval.decide(Approval.Status.REFUSED)
        statuses = {Run.objects.get(pk=each.pk).status for each in (run, behind)}
        if statuses <= ENDED:
            return
    pytest.fail(f"They are {statuses}.")


def execute_all(handed: list[int]) -> None:
    """Do what workers do: the jobs that wait, and what was handed over."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE procrastinate_jobs SET status = 'doing' WHERE status = 'todo'"
                " AND task_name = 'execute_run' RETURNING (args ->> 'run_id')::bigint"
            )
            handed += [run_id for (run_id,) in cursor.fetchall()]
            cursor.execute("UPDATE procrastinate_workers SET last_heartbeat = '2000-01-01'")
    while handed:
        run_agent(handed.pop(0))


def leave(run: Run, step: str, approval: str | None) -> None:
    """What a worker that died had stored of a step."""
    if step == "none":
        return
    status = "calling" if step == "returned" else step
    row = Step.objects.create(run=run, number=1, model="m", endpoint="e", status=status)
    said = Message.Status.DRAFT if step == "streaming" else Message.Status.COMPLETE
    calls = [] if step == "streaming" else CALLS
    number = run.agent.record(messages=2)
    message = Message(**of(run.agent), run=run, step=row, number=number - 1, role="assistant")
    message.status, message.tool_calls = said, calls
    message.save()
    if step == "returned":
        Message.objects.create(
            **of(run.agent), run=run, step=row, number=number, role="tool", tool_call_id="call_1"
        )
    if approval:
        Approval.objects.create(
            step=row,
            tool_call_id="call_1",
            status=approval,
            expires_at=timezone.now(),
            returned={"tool_return": "x", "status": "success"} if approval == "returned" else None,
        )


def put_job(run: Run, job: str) -> None:
    """The job of the run, if there is one: of a worker that lives, died, or is done with it."""
    if job == "none":
        return
    fetched = job in ("doing", "orphaned")
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO procrastinate_workers (last_heartbeat)"
            " VALUES (now() - make_interval(hours => %s)) RETURNING id",
            [int(job == "orphaned")],
        )
        worker = cursor.fetchone()[0]
        cursor.execute(
            "INSERT INTO procrastinate_jobs (queue_name, task_name, args, status, worker_id)"
            " VALUES ('runs', 'execute_run', jsonb_build_object('run_id', %s), %s, %s)",
            [run.pk, {"orphaned": "doing"}.get(job, job), worker if fetched else None],
        )


def test_a_run_that_is_being_executed_is_left_alone(agent: Agent, handed: list[int]) -> None:
    run = agent.send("Hello", "k")
    handed.clear()
    with engine._handing:
        engine._handed[run.pk] += 1
    Run.objects.filter(pk=run.pk).update(seen_at=timezone.now())
    try:
        assert engine.take_up() == 0
    finally:
        del engine._handed[run.pk]
    assert not handed


def test_a_message_of_a_deleted_agent_waits_until_it_is_restored(
    agent: Agent, handed: list[int]
) -> None:
    run = Run.objects.create(**of(agent), key="k", text="Hello")
    agent.trash()
    assert engine.take_up() == 0
    agent.restore()
    assert handed == [run.pk]
