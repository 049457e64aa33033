"""What changed lately in a block: what is marked, and what Undo and Redo take."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from agents.ledger import recent
from agents.ledger.recent import add_recent
from agents.models import Agent, Block, Editor, Run, Step
from tests.conftest import edit_of
from tests.support.ledger import step_of


@pytest.fixture
def step(agent: Agent) -> Step:
    """A step of a run that goes on."""
    step = step_of(agent)
    Run.objects.filter(pk=step.run_id).update(started_at=timezone.now())
    return step


def shown(block: Block) -> Block:
    block.refresh_from_db()
    add_recent([block])
    return block


def test_all_that_changed_since_the_run_began_is_marked(
    human: Block, by: Editor, step: Step
) -> None:
    human.append("Likes pie", by=by)
    started = timezone.now()
    Run.objects.filter(pk=step.run_id).update(started_at=started)
    human.append("Likes tea", by=Editor.agent(step, "call-1"))
    human.append("Likes jam", by=by)
    human.append("Likes figs", by=Editor.agent(step, "call-2"))
    block = shown(human)
    assert (block.marked_since, block.marked_from) == (1, "Name: Bob\nLikes pie")


def test_an_edit_by_hand_after_the_run_stands_by_itself(
    human: Block, by: Editor, step: Step
) -> None:
    human.append("Likes tea", by=Editor.agent(step, "call-1"))
    human.append("Likes jam", by=by)
    assert shown(human).marked_since == 0
    ended = timezone.now() - timedelta(seconds=1)
    Run.objects.filter(pk=step.run_id).update(finished_at=ended)
    assert (shown(human).marked_since, human.marked_from) == (1, "Name: Bob\nLikes tea")


def test_no_more_edits_than_a_few_are_looked_at(
    human: Block, by: Editor, step: Step, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recent, "MOST_EDITS", 3)
    for number in range(5):
        human.append(f"Likes {number}", by=Editor.agent(step, f"call-{number}"))
    assert shown(human).marked_since == 2


def test_undo_and_redo_go_back_and_forth_one_edit_at_a_time(human: Block, by: Editor) -> None:
    values = ["Name: Bob"]
    for word in ("pie", "tea", "jam"):
        edit_of(human.append(f"Likes {word}", by=by))
        values.append(human.value)

    def press(which: str) -> str:
        edit = human.edits.get(pk=getattr(shown(human), which))
        human.undo(edit, by=by)
        return human.value

    assert shown(human).to_redo is None
    assert [press("to_undo") for _ in range(3)] == values[2::-1]
    assert shown(human).to_undo is None
    assert [press("to_redo") for _ in range(3)] == values[1:]
    assert shown(human).to_redo is None
    assert press("to_undo") == values[2]
    human.append("Likes figs", by=by)
    assert shown(human).to_redo is None  # something else was written since
