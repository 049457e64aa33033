"""Time travel and fork: an agent as it was after one of its steps."""

from __future__ import annotations

import pytest

from agents.ledger.fork import fork
from agents.ledger.time_travel import blocks_at, number_of, step_at
from agents.memory import sent_requests
from agents.models import Agent, Block, BlockEdit, Editor, Message, Passage, Step
from tests.conftest import Ask
from tests.support.fake_openai import FakeOpenAI, calls, text


def append(content: str, label: str = "human") -> tuple[str, dict[str, str]]:
    return "core_memory_append", {"label": label, "content": content}


def values(step: Step | None) -> dict[str, str]:
    assert step is not None
    return {block.label: block.value for block in blocks_at(step)}


@pytest.fixture
def story(agent: Agent, model: FakeOpenAI, ask: Ask) -> Agent:
    """Five steps: pie is noted in the first, cake in the third; a person edits between them."""
    model.script(calls(append("Pie")), text("Noted."), calls(append("Cake")), text("Too."))
    ask("I like pie")
    block = agent.block("human")
    assert block is not None
    block.replace("Bob", "Rob", by=Editor.person(agent.owner))
    ask("And cake")
    ask("Bye")
    agent.refresh_from_db()
    return agent


def test_blocks_are_as_they_were_after_each_step(story: Agent) -> None:
    past = [values(step_at(story, number))["human"] for number in range(1, 6)]
    assert past == [
        "Name: Bob\nPie",
        "Name: Bob\nPie",
        "Name: Rob\nPie\nCake",
        "Name: Rob\nPie\nCake",
        "Name: Rob\nPie\nCake",
    ]
    first = step_at(story, 1)
    assert first is not None
    assert [block.changed for block in blocks_at(first)] == [False, True]
    assert number_of(first) == 1
    assert step_at(story, 0) is step_at(story, 6) is None


def test_a_detached_block_is_still_in_the_past(story: Agent) -> None:
    block = story.block("persona")
    assert block is not None
    story.detach(block)
    assert values(step_at(story, 2))["persona"] == "You are a helpful assistant"


def test_a_step_of_which_no_request_is_kept_goes_by_the_ledgers_times(story: Agent) -> None:
    Step.objects.update(request={})
    assert values(step_at(story, 2))["human"] == "Name: Bob\nPie"


def test_a_fork_has_memory_and_messages_as_of_then(story: Agent) -> None:
    step = step_at(story, 1)
    assert step is not None
    made = fork(step, "Fork", story.owner)
    assert [block.value for block in made.core_memory()] == [
        "You are a helpful assistant",
        "Name: Bob\nPie",
    ]
    said = list(made.messages.order_by("number").values_list("role", flat=True))
    assert said == ["user", "assistant", "tool"]
    assert (made.message_count, made.tools) == (3, story.tools)
    assert made.runs.get().reason == "forked"
    ledger = made.core_memory()[1].edits.get()
    assert (ledger.after, ledger.step) == ("Name: Bob\nPie", Step.objects.get(run__agent=made))
    original = story.messages.order_by("number").first()
    copy = made.messages.order_by("number").first()
    assert original is not None
    assert copy is not None
    assert copy.created_at == original.created_at


def test_a_fork_lives_apart(story: Agent, model: FakeOpenAI, ask: Ask) -> None:
    step = step_at(story, 4)
    assert step is not None
    made = fork(step, "Fork", story.owner)
    model.script(calls(append("Tea")), text("Noted."))
    ask("I like tea", of=made)
    assert "Tea" in made.core_memory()[1].value
    assert "Tea" not in story.core_memory()[1].value
    sent = [m["content"] for m in model.requests[-1]["messages"] if m["role"] == "user"]
    assert sent == ["I like pie", "And cake", "I like tea"]
    human = made.core_memory()[1]
    edit = human.edits.get(version=2)
    human.undo(human.edits.get(version=3), by=Editor.person(made.owner))
    assert edit.block_id == human.pk


def test_the_requests_of_copied_steps_are_still_proven(story: Agent) -> None:
    step = step_at(story, 5)
    assert step is not None
    made = fork(step, "Fork", story.owner)
    proofs = [sent_requests.sent(each) for each in Step.objects.filter(run__agent=made)]
    assert [proof and proof.proven for proof in proofs] == [True] * 5
    assert values(step_at(made, 1))["human"] == "Name: Bob\nPie"


def test_a_fork_takes_passages_and_undone_edits_along(story: Agent, ask: Ask) -> None:
    by = Editor.person(story.owner)
    human = story.block("human")
    assert human is not None
    first = human.edits.get(version=1)
    human.undo(first, by=by)
    Passage.insert(story, "In the archive", by=by)
    ask("One more")
    Passage.insert(story, "Too late", by=by)
    step = step_at(story, 6)
    assert step is not None
    made = fork(step, "Fork", story.owner)
    assert [passage.text for passage in made.passages.all()] == ["In the archive"]
    undo = BlockEdit.objects.get(block__agents=made, version=4)
    assert undo.undoes is not None
    assert (undo.undoes.version, undo.undoes.block) == (1, undo.block)


def test_a_fork_of_a_shared_block_is_a_copy(story: Agent) -> None:
    step = step_at(story, 5)
    assert step is not None
    made = fork(step, "Fork", story.owner)
    assert Block.objects.filter(label="human").count() == 2
    made.purge()
    assert story.block("human")
    assert Message.objects.filter(agent=story).count() == 10
