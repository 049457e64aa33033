"""A run in which the model makes and lets go of blocks itself."""

from __future__ import annotations

from typing import Any

from agents.models import Agent, Approval, Block
from agents.runs.loop import run_agent
from tests.conftest import Ask
from tests.support.fake_openai import FakeOpenAI, calls, text

CREATE: dict[str, Any] = {
    "command": "create",
    "path": "/memories/pets",
    "description": "All animals",
    "file_text": "Rex",
}


def labels(agent: Agent) -> list[str]:
    return [block.label for block in agent.core_memory()]


def test_a_block_that_the_model_makes_is_seen_by_the_very_next_step(
    agent: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    agent.configure(tools=["memory"])
    insert = {"command": "insert", "path": "pets", "insert_text": "Tom"}
    model.script(calls(("memory", CREATE)), calls(("memory", insert)), text("Noted."))
    ask("I have a dog, Rex, and a cat, Tom.")

    first, second, third = (request["messages"][0]["content"] for request in model.requests)
    assert "<pets" not in first
    assert "Rex" in second.partition("<pets")[2]
    assert "Rex\nTom" in third.partition("<pets")[2]
    block = agent.block("pets")
    assert block is not None
    assert [(edit.version, edit.after) for edit in block.edits.order_by("version")] == [
        (1, "Rex"),
        (2, "Rex\nTom"),
    ]


def test_a_person_sees_what_a_new_block_would_hold_before_it_is_made(
    agent: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    rule = {"type": "requires_approval", "tool_name": "memory"}
    agent.configure(tools=["memory"], tool_rules=[rule])
    model.script(calls(("memory", CREATE)), text("Noted."))
    run = ask("I have a dog, Rex.")

    approval = Approval.objects.get(step__run=run)
    assert approval.changes == [{"label": "pets", "before": "", "after": "Rex"}]
    assert labels(agent) == ["persona", "human"]
    assert not Block.objects.filter(label="pets").exists()

    approval.decide(Approval.Status.APPROVED, agent.owner)
    run_agent(run.pk)
    assert labels(agent) == ["persona", "human", "pets"]


def test_a_patch_of_which_one_part_does_not_fit_changes_nothing(
    agent: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    agent.configure(tools=["memory_apply_patch"])
    patch = "*** Add Block: pets\n+Rex\n*** Update Block: human\n-Name: Eve"
    model.script(calls(("memory_apply_patch", {"label": "", "patch": patch})), text("No."))
    ask("I have a dog, Rex.")

    assert labels(agent) == ["persona", "human"]
    assert not Block.objects.filter(label="pets").exists()
    assert "copy them exactly" in model.requests[-1]["messages"][-1]["content"]
