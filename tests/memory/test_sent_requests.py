"""The exact request: what was sent is put together again, byte for byte, and proven."""

from __future__ import annotations

import hashlib

from agents.memory import sent_requests
from agents.models import Agent, Block, BlockEdit, Editor, Message, RequestText, Step
from tests.conftest import Ask
from tests.support.fake_openai import FakeOpenAI, calls, text


def steps() -> list[Step]:
    return list(Step.objects.order_by("pk"))


def all_proven(model: FakeOpenAI) -> bool:
    """Whether each step's request is the one the endpoint got."""
    sent = [sent_requests.sent(step) for step in steps()]
    assert len(sent) == len(model.raw_bodies)
    return all(
        request is not None and request.proven and request.body == raw
        for request, raw in zip(sent, model.raw_bodies, strict=True)
    )


def test_every_request_is_put_together_as_it_was_sent(
    model: FakeOpenAI, agent: Agent, ask: Ask
) -> None:
    append = ("core_memory_append", {"label": "human", "content": "Likes pie — and ümlauts 日本"})
    model.script(text('Hello "you".'), calls(append, append), text("Noted."), text("Bye."))
    for words in ("Hi", "I like pie", "Bye"):
        ask(words)
    block = agent.block("persona")
    assert block is not None
    block.set_value("Another one", by=Editor.person(agent.owner))
    agent.configure(system_prompt="Another prompt.", tools=["core_memory_append"])
    ask("And now?")
    agent.detach(block)
    ask("And now?")
    assert all_proven(model)
    first = steps()[0]
    assert first.request_sha256 == hashlib.sha256(model.raw_bodies[0]).hexdigest()


def test_requests_around_a_compaction_are_proven_too(
    model: FakeOpenAI, agent: Agent, ask: Ask
) -> None:
    agent.configure(context_window=2000)
    model.default = text("I see. " * 60)
    for _ in range(12):
        ask("And then " * 40)
    answered = [raw for raw in model.raw_bodies if b'"stream_options"' in raw]
    sent = [sent_requests.sent(step) for step in steps()]
    assert len(answered) == len(sent) < len(model.raw_bodies)
    assert [request and request.body for request in sent] == answered


def test_what_was_changed_since_is_not_passed_off_as_what_was_sent(
    model: FakeOpenAI, agent: Agent, ask: Ask
) -> None:
    ask("Hello")
    Message.objects.filter(role="user").update(content="Something else")
    request = sent_requests.sent(steps()[0])
    assert request is not None
    assert not request.proven


def test_what_a_step_stores_does_not_grow_with_the_history(
    model: FakeOpenAI, agent: Agent, ask: Ask
) -> None:
    for _ in range(30):
        ask("Hello, tell me of the garden " * 10)
    kept = [len(str(step.request)) for step in steps()]
    assert max(kept) - min(kept) < 20
    assert (
        RequestText.objects.filter(agent=agent).count() == 5
    )  # prompt, template, blocks, metadata, tools


def test_the_versions_of_the_blocks_are_kept(model: FakeOpenAI, agent: Agent, ask: Ask) -> None:
    append = ("core_memory_append", {"label": "human", "content": "Likes pie"})
    model.script(calls(append), text("Noted."))
    ask("I like pie")
    held = [sent_requests.held_blocks(step) or [] for step in steps()]
    versions = [{block.label: block.version for block in blocks} for blocks in held]
    assert versions == [{"persona": 0, "human": 0}, {"persona": 0, "human": 1}]
    assert Block.objects.get(label="human").version == 1


def test_tokens_agree_with_what_the_endpoint_reports(
    model: FakeOpenAI, agent: Agent, ask: Ask
) -> None:
    model.default = text("A plain answer of the usual length, which goes on for a line or so.")
    for number in range(12):
        ask(f"Question {number}: what did I say of the garden, and what should I do this week?")
    reported = [step.prompt_tokens for step in steps()]
    estimated = [step.context_tokens for step in steps()]
    assert all(reported)
    for tokens, guess in list(zip(reported, estimated, strict=True))[1:]:
        assert tokens is not None
        assert abs(guess / tokens - 1) < 0.05


def test_what_becomes_of_the_blocks_later_does_not_change_what_was_sent(
    model: FakeOpenAI, agent: Agent, ask: Ask
) -> None:
    ask("Hello")
    human = agent.block("human")
    assert human
    human.set_value("Name: Zoe", by=Editor.person(agent.owner))
    human.configure(label="person", limit=900, description="Somebody else")
    agent.detach(human)
    agent.configure(prompt_template="{{ values|json }}", system_prompt="Be brief.")
    ask("And now?")
    assert all_proven(model)


def test_of_a_deleted_block_the_request_is_shown_without_it_and_not_passed_off_as_exact(
    model: FakeOpenAI, agent: Agent, ask: Ask
) -> None:
    ask("Hello")
    human = agent.block("human")
    assert human
    agent.detach(human)
    human.delete()
    request = sent_requests.sent(steps()[0])
    assert request
    assert not request.proven
    assert "<human" in request.context.core_memory
    assert "Bob" not in request.context.core_memory


def test_an_edit_leaves_its_value_behind_once(model: FakeOpenAI, agent: Agent, ask: Ask) -> None:
    human = agent.block("human")
    assert human
    human.configure(limit=20_000)
    human.set_value("gardens " * 1000, by=Editor.person(agent.owner))
    append = ("core_memory_append", {"label": "human", "content": "Likes pie"})
    model.script(calls(append), text("Noted."))
    ask("I like pie")
    rows = [*BlockEdit.plain.values_list("first_value", "after"), *kept_texts()]
    assert sum("gardens " * 1000 in str(row) for row in rows) == 2  # one a version


def kept_texts() -> list[object]:
    return [*RequestText.objects.values_list("text"), *Step.objects.values_list("request")]


def test_a_block_whose_ledger_does_not_reach_back_is_put_together_too(
    model: FakeOpenAI, agent: Agent, ask: Ask
) -> None:
    Block.objects.filter(label="human").update(version=5)  # as in a fork of a block now deleted
    ask("Hello")
    assert all_proven(model)
    human = agent.block("human")
    assert human
    human.set_value("Name: Zoe", by=Editor.person(agent.owner))
    ask("And now?")
    assert all_proven(model)
