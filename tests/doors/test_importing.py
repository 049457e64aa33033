"""An agent file is a door too: it makes blocks of its own, by the verbs, and changes no others."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User

from agents.agent_file import export_agent, import_agent
from agents.models import Agent, Block, BlockShare, Editor
from tests.doors.doors import Log


def imported(agent: Agent, owner: User, **changes: Any) -> Block:
    """The block `human` of an agent made of another's file, in which it was changed."""
    file = export_agent(agent) | {"memoryweb": None}
    for block in file["blocks"]:
        if block["label"] == "human":
            block |= changes
    block = import_agent(owner, file).agent.block("human")
    assert block is not None
    return block


@pytest.mark.parametrize("changes", [{}, {"value": "Name: Sarah"}, {"read_only": True}], ids=str)
def test_a_value_is_written_with_its_ledger_row(
    changes: dict[str, Any], agent: Agent, human: Block, bob: User
) -> None:
    log = Log()
    block = imported(agent, bob, **changes)
    (edit,) = block.edits.all()
    assert (edit.before, edit.after, block.version) == ("", block.value, 1)
    assert (edit.editor_kind, edit.editor_name) == (Editor.IMPORT, "bob")
    assert block.value == changes.get("value", "Name: Bob")
    human.refresh_from_db()
    assert (human.value, human.version, log.events(agent)) == ("Name: Bob", 0, [])


def test_a_limit_is_raised_to_a_value_that_is_over_it(agent: Agent, bob: User) -> None:
    block = imported(agent, bob, value="x" * 2001)
    assert (len(block.value), block.limit) == (2001, 2001)


def test_a_shared_block_becomes_the_importers_own(
    agent: Agent, human: Block, alice: User, bob: User, bobs: Agent
) -> None:
    BlockShare.share(human, bob, can_write=False)
    bobs.attach(human)
    block = imported(bobs, bob)
    assert (block.owner, block.pk != human.pk) == (bob, True)
    assert block.append("Likes pie", by=Editor.person(bob))
    human.refresh_from_db()
    assert human.value == "Name: Bob"
