"""Which agent holds which block, changed through every door: the same outcome, the same events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from agents.memory.classes import BasicBlockMemory
from agents.models import Agent, Block, BlockShare, Event
from tests.doors.doors import Log, at_first_lock
from tests.support.admin_forms import address
from tests.support.api_client import Api
from tests.support.pages import at

MEMORY = Event.Kind.MEMORY_CHANGED


pytestmark = pytest.mark.usefixtures("accounts")


def page(agent: Agent, verb: str, block: Block) -> int:
    web = Client()
    web.force_login(agent.owner)
    if verb == "attach":
        return web.post(at("block_attach", agent), {"block": block.pk}).status_code
    return web.post(at("block_detach", agent, block)).status_code


def script(agent: Agent, path: str, body: Any = None) -> int:
    address = f"/v1/agents/agent-{agent.pk}{path}"
    headers = Api(agent.owner).headers
    return Client().patch(address, body or {}, "application/json", headers=headers).status_code


def api(agent: Agent, verb: str, block: Block) -> int:
    return script(agent, f"/core-memory/blocks/{verb}/block-{block.pk}")


def api_all(agent: Agent, verb: str, block: Block) -> int:
    """By naming all blocks that the agent is to have."""
    named = [f"block-{each.pk}" for each in agent.core_memory() if each != block]
    return script(agent, "", {"block_ids": named + [f"block-{block.pk}"] * (verb == "attach")})


DOORS = {"page": page, "api": api, "api, all at once": api_all}
Door = Callable[[Agent, str, Block], int]


def nothing(block: Block, agent: Agent) -> None: ...


def label_taken(block: Block, agent: Agent) -> None:
    agent.attach(Block.objects.create(owner=agent.owner, label=block.label))


@dataclass(frozen=True)
class Case:
    """Alice's block and Bob's agent: what is done before, and at the moment the block is held."""

    name: str
    shared: bool = True
    before: Callable[[Block, Agent], object] = nothing
    at_the_lock: Callable[[Block], object] | None = None
    refused: bool = True


CASES = [
    Case("shared", refused=False),
    Case("not shared", shared=False),
    Case("no longer shared", before=lambda block, _: block.shares.get().stop()),
    Case("no longer shared, a moment ago", at_the_lock=lambda block: block.shares.all().delete()),
    Case("label taken", before=label_taken),
    Case("deleted meanwhile", at_the_lock=lambda b: Block.objects.filter(pk=b.pk).delete()),
    Case("of a deleted agent", before=lambda _, agent: agent.trash()),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
def test_attaching_has_the_same_outcome_at_every_door(
    door: Door,
    case: Case,
    agent: Agent,
    human: Block,
    bob: User,
    bobs: Agent,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if case.shared:
        BlockShare.share(human, bob, can_write=False)
    case.before(human, bobs)
    log = Log()
    if act := case.at_the_lock:
        at_first_lock(monkeypatch, lambda: act(human))
    status = door(bobs, "attach", human)
    told = [log.events(agent, MEMORY), log.events(bobs, MEMORY)]
    if case.refused:
        assert status in (404, 409, 422)
        assert not bobs.attachments.filter(block=human).exists()
        assert told == [[], []]
        return
    assert status == 200
    assert bobs.attachments.get(block=human).label == "human"
    assert told == [[{}], [{}]]
    assert door(bobs, "attach", human) == 200, "it is held already"
    assert bobs.attachments.count() == 1
    assert [log.events(agent, MEMORY), log.events(bobs, MEMORY)] == told


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
def test_detaching_is_told_once_to_each_holder_and_leaves_the_block(
    door: Door, agent: Agent, human: Block, alice: User
) -> None:
    second = Agent.create(alice, "Second", BasicBlockMemory())
    second.attach(human)
    log = Log()
    assert door(agent, "detach", human) in (200, 204)
    assert [block.label for block in agent.core_memory()] == ["persona"]
    assert [log.events(holder, MEMORY) for holder in (agent, second)] == [[{}], [{}]]
    assert Block.objects.filter(pk=human.pk, agents=second).exists()


@pytest.mark.parametrize("door", [api, api_all], ids=["api", "api, all at once"])
def test_detaching_what_is_not_held_changes_nothing(
    door: Door, agent: Agent, human: Block, team: Block
) -> None:
    log = Log()
    assert door(agent, "detach", team) == 200
    assert log.events(agent, MEMORY) == []


def test_an_agent_is_made_with_a_block_only_while_that_is_shared(
    human: Block, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    BlockShare.share(human, bob, can_write=True)
    at_first_lock(monkeypatch, lambda: human.shares.all().delete())
    body = {"name": "New", "block_ids": [f"block-{human.pk}"]}
    Api(bob).post("/agents/", body, expect=409)
    assert not Agent.objects.filter(owner=bob).exists()


# -- deleting a block ------------------------------------------------------------------------------


def delete_by(door: str, block: Block) -> int:
    if door == "api":
        client, headers = Client(), Api(block.owner).headers
        return client.delete(f"/v1/blocks/block-{block.pk}", headers=headers).status_code
    web = Client()
    if door == "admin":
        web.force_login(User.objects.create_superuser("olga"))
        return web.post(address(block, "delete"), {"post": "yes"}).status_code
    web.force_login(block.owner)
    return web.post(at("block_delete", block), {"sure": "1"}).status_code


@pytest.mark.parametrize("door", ["page", "api", "admin"])
def test_a_block_that_nobody_holds_is_deleted_at_every_door(door: str, team: Block) -> None:
    assert delete_by(door, team) in (200, 302)
    assert not Block.objects.filter(pk=team.pk).exists()


@pytest.mark.parametrize(
    ("door", "status"), [("page", 409), ("api", 409), ("admin", 302)]
)  # the operator deletes what others still use; who owns it does not
def test_a_block_that_somebody_elses_agent_holds(
    door: str, status: int, human: Block, agent: Agent, bob: User, bobs: Agent
) -> None:
    BlockShare.share(human, bob, can_write=False)
    bobs.attach(human)
    log = Log()
    assert delete_by(door, human) == status
    kept = Block.objects.filter(pk=human.pk).exists()
    assert kept == (status == 409)
    told: list[Any] = [] if kept else [{}]
    assert [log.events(holder, MEMORY) for holder in (agent, bobs)] == [told, told]


# -- settings --------------------------------------------------------------------------------------


def settings_by(door: str, user: User, agent: Agent, block: Block, **changes: Any) -> int:
    """Change settings, beginning from what the block is now."""
    web = Client()
    if door.startswith("api"):
        path = f"/agents/agent-{agent.pk}/core-memory/blocks/{block.label}"
        path = path if door == "api by label" else f"/blocks/block-{block.pk}"
        headers = Api(user).headers
        return web.patch(f"/v1{path}", changes, "application/json", headers=headers).status_code
    form = {"label": block.label, "description": "", "limit": str(block.limit), "kind": "text"}
    names: dict[str, tuple[Any, ...]] = {
        "page": ("block_configure", block),
        "panel": ("block_settings", agent, block),
    }
    web.force_login(user)
    return web.post(at(*names[door]), form | changes).status_code


SETTINGS_DOORS = ["page", "panel", "api", "api by label"]


@pytest.mark.parametrize("door", SETTINGS_DOORS)
def test_settings_are_changed_alike(
    door: str, alice: User, agent: Agent, shared: Agent, human: Block
) -> None:
    log = Log()
    assert settings_by(door, alice, agent, human, description="Who they are", limit=9) == 200
    human.refresh_from_db()
    assert (human.description, human.limit, human.version) == ("Who they are", 9, 0)
    assert log.new_edits() == []
    assert [log.events(each, MEMORY) for each in (agent, shared)] == [[{}], [{}]]


@pytest.mark.parametrize("door", SETTINGS_DOORS)
@pytest.mark.parametrize(
    "changes", [{"limit": 8}, {"label": "persona"}, {"label": "a\nb"}], ids=str
)
def test_settings_that_cannot_be_are_refused_alike(
    door: str, changes: dict[str, Any], alice: User, agent: Agent, human: Block
) -> None:
    log = Log()
    assert settings_by(door, alice, agent, human, **changes) == 422
    human.refresh_from_db()
    assert (human.label, human.limit) == ("human", 2000)
    assert log.events(agent, MEMORY) == []


@pytest.mark.parametrize("door", SETTINGS_DOORS)
def test_settings_are_the_owners_alone(
    door: str, bob: User, bobs: Agent, agent: Agent, human: Block
) -> None:
    BlockShare.share(human, bob, can_write=True)
    bobs.attach(human)
    log = Log()
    assert settings_by(door, bob, bobs, human, description="Mine") == 403
    human.refresh_from_db()
    assert human.description != "Mine"
    assert log.events(agent, MEMORY) == []


@pytest.mark.parametrize("door", SETTINGS_DOORS)
def test_settings_of_a_block_deleted_meanwhile_are_refused(
    door: str, alice: User, agent: Agent, human: Block, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_first_lock(monkeypatch, lambda: Block.objects.filter(pk=human.pk).delete())
    assert settings_by(door, alice, agent, human, description="New") in (404, 409, 422)


@pytest.mark.parametrize(("limit", "value"), [(5000, "x" * 4000), (5, "x")])
def test_value_and_limit_grow_and_shrink_together(
    limit: int, value: str, alice: User, agent: Agent, human: Block
) -> None:
    log = Log()
    assert settings_by("api", alice, agent, human, limit=limit, value=value) == 200
    human.refresh_from_db()
    assert (human.limit, human.value, human.version) == (limit, value, 1)
    assert [edit.after for edit in log.new_edits()] == [value]
    assert (len(log.events(agent)), log.events(agent, MEMORY)) == (1, [{}])
