"""A worker that was asked to end: a step in hand ends, the run goes on elsewhere, nothing twice."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agents.models import Agent, Run, leaving
from agents.models.lease import RunLost
from agents.runs import engine
from agents.runs.loop import run_agent
from tests.support.fake_openai import FakeOpenAI, calls, stall, text
from tests.support.stored import acquired

pytestmark = pytest.mark.django_db
APPEND = ("core_memory_append", {"label": "human", "content": "Likes pie"})


@pytest.fixture(autouse=True)
def handed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The runs that are handed to workers; afterwards this process stays."""
    runs: list[int] = []
    monkeypatch.setattr(engine, "submit", lambda run: runs.append(run.pk))
    yield runs
    leaving.stay()


def test_no_further_step_is_begun_and_no_try_is_counted(
    model: FakeOpenAI, agent: Agent, handed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    model.script(calls(APPEND), text("Noted."))
    run = agent.send("I like pie", "key")
    renew = Run.renew_or_stop

    def told_once_asked(run: Run, activity: str | None = None) -> None:
        if model.requests:
            leaving.leave()
        renew(run, activity)

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(Run, "renew_or_stop", told_once_asked)
        run_agent(run.pk)
    run.refresh_from_db()
    assert (run.status, run.seen_at, run.tries) == (Run.Status.RUNNING, None, 0)
    assert handed == [run.pk, run.pk]
    assert [step.status for step in run.steps.all()] == ["done"]
    assert len(model.requests) == 1

    leaving.stay()
    run_agent(run.pk)
    run.refresh_from_db()
    assert run.status == Run.Status.DONE
    assert [edit.after for edit in run.edits()] == ["Name: Bob\nLikes pie"]


def test_a_silent_model_is_not_waited_for_and_asked_again_elsewhere(
    model: FakeOpenAI, agent: Agent, handed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    model.script(stall("Once upon"), text("Here I am again."))
    run = agent.send("Tell me a story", "key")
    monkeypatch.setattr("agents.models.lease.is_overdue", lambda: bool(model.requests))
    run_agent(run.pk)
    run.refresh_from_db()
    assert (run.status, run.seen_at) == (Run.Status.RUNNING, None)
    assert handed == [run.pk, run.pk]
    monkeypatch.setattr("agents.models.lease.is_overdue", lambda: False)
    run_agent(run.pk)
    run.refresh_from_db()
    assert run.status == Run.Status.DONE
    said = run.messages.filter(role="assistant").order_by("pk").values_list("content", "status")
    assert said[0][1] == "broken"
    assert said[1] == ("Here I am again.", "complete")


def test_a_run_that_another_worker_has_is_not_taken_from_it(
    model: FakeOpenAI, agent: Agent, handed: list[int]
) -> None:
    run = agent.send("Hello", "key")
    mine = acquired(run)
    Run.objects.filter(pk=run.pk).update(attempt=7)
    with pytest.raises(RunLost):
        mine.hand_on()
    assert handed == [run.pk]
