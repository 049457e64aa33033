"""How much a person may store: messages, blocks, passages, images and requests together."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from agents.agent_file import export_agent, import_agent
from agents.ledger.fork import fork
from agents.ledger.fork_conversation import fork as fork_conversation
from agents.models import (
    Agent,
    Image,
    LimitReached,
    MemoryRefusal,
    Passage,
    Quota,
    quota,
    stored_bytes,
)
from tests.conftest import Ask
from tests.support.api_client import Api
from tests.support.fake_openai import FakeOpenAI, calls, text
from tests.support.pictures import picture
from tests.support.searching import BY


@pytest.fixture
def full(accounts: None, agent: Agent, alice: User, monkeypatch: pytest.MonkeyPatch) -> Quota:
    """Alice has a passage of 600,000 bytes, and may store a megabyte."""
    for _ in range(6):
        Passage.insert(agent, "x" * 100_000, by=BY)
    return Quota.objects.create(storage=1)


def test_no_more_is_stored_than_may(full: Quota, agent: Agent, alice: User) -> None:
    for _ in range(4):
        Passage.insert(agent, "x" * 100_000, by=BY)
    with pytest.raises(MemoryRefusal, match=r"Your agents take 1\.0 MB; at most 1 MB may be"):
        Passage.insert(agent, "x" * 100_000, by=BY)
    with pytest.raises(LimitReached):
        agent.send("y" * 99_000, "key")
    file = export_agent(agent)
    with pytest.raises(LimitReached):
        import_agent(alice, file)
    told = Api(alice).post(
        f"/agents/{agent.pk}/archival-memory", {"text": "z" * 99_000}, expect=429
    )
    assert "Delete agents, conversations or passages" in told["detail"]
    assert Agent.objects.count() == 1


def test_where_there_is_no_room_nothing_is_forked(
    full: Quota, agent: Agent, alice: User, ask: Ask
) -> None:
    step = ask("Hello").steps.get()
    Quota.objects.update(storage=0)
    quota.forget()
    with pytest.raises(LimitReached):
        fork(step, "Fork", alice)
    with pytest.raises(LimitReached):
        fork_conversation(agent.first_conversation)
    assert Agent.objects.count() == 1


def test_an_agent_is_told_that_it_stores_no_more(
    full: Quota, agent: Agent, ask: Ask, model: FakeOpenAI
) -> None:
    full.storage = 0
    full.save()
    agent.configure(tools=["archival_memory_insert"])
    Quota.objects.update(storage=1)
    quota.forget()
    for _ in range(4):
        Passage.insert(agent, "x" * 100_000, by=BY)
    insert = ("archival_memory_insert", {"content": "z" * 60_000})
    model.script(calls(insert), text("No room."))
    run = ask("Keep this")
    returned = run.messages.get(role="tool")
    assert (run.status, returned.is_error) == ("done", True)
    assert "at most 1 MB may be stored" in returned.content


def test_what_was_deleted_makes_room_soon(
    full: Quota, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(4):
        Passage.insert(agent, "x" * 100_000, by=BY)
    agent.passages.all().delete()
    with pytest.raises(LimitReached):  # it was added up just now
        Passage.insert(agent, "x" * 100_000, by=BY)
    monkeypatch.setattr(stored_bytes, "RETRY_SECONDS", 0)
    Passage.insert(agent, "x" * 100_000, by=BY)


def test_images_and_blocks_count(accounts: None, agent: Agent, alice: User) -> None:
    image = Image.add(agent, picture())
    Passage.insert(agent, "Größe", by=BY)
    assert stored_bytes.agent_sizes() == {agent.pk: image.size + 7}
    blocks = sum(len(block.value) for block in agent.core_memory())
    assert stored_bytes.stored_by(alice.pk) == image.size + 7 + blocks
