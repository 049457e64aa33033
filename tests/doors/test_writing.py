"""One table of cases, played through every door that writes a block: all keep the same promise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from agents.models import Agent, Block, BlockShare, Editor
from tests.doors.doors import AGENTS, ALL, DOORS, PEOPLE, Door, Log, at_first_lock

NEW = "Name: Sarah"


def nothing(block: Block) -> None: ...


def edit_by_alice(block: Block) -> None:
    block.append("Likes pie", by=Editor.person(block.owner))


@dataclass(frozen=True)
class Case:
    """Who writes Alice's block, what is done before and meanwhile, and which doors refuse."""

    name: str
    refused: set[str] = field(default_factory=set)
    by: str = "alice"
    share: bool | None = None  # with Bob: to write, to read, or not at all
    value: str = NEW
    before: Callable[[Block], object] = nothing  # the door is opened
    once_opened: Callable[[Block], object] = nothing
    at_the_lock: Callable[[Block], object] = nothing
    not_for: set[str] = field(default_factory=set)


CASES = [
    Case("one's own"),
    Case("up to the limit", value="x" * 2000),
    Case("over the limit", value="x" * 2001, refused=ALL),
    Case("read-only", before=lambda b: b.configure(read_only=True), refused=AGENTS),
    Case(
        "no JSON for a list",
        before=lambda b: b.configure(kind="list", value="[]", by=Editor.person(b.owner)),
        refused=ALL,
    ),
    Case("a version that is past", once_opened=edit_by_alice, refused=ALL - AGENTS),
    Case(
        "deleted before", once_opened=lambda b: Block.objects.filter(pk=b.pk).delete(), refused=ALL
    ),
    Case(
        "deleted meanwhile",
        at_the_lock=lambda b: Block.objects.filter(pk=b.pk).delete(),
        refused=ALL,
    ),
    Case("not shared", by="bob", refused=PEOPLE | AGENTS),
    Case("shared to write", by="bob", share=True),
    Case("shared to read", by="bob", share=False, refused=PEOPLE | AGENTS),
    Case(
        "no longer shared",
        by="bob",
        share=True,
        once_opened=lambda b: b.shares.get().stop(),
        refused=PEOPLE | AGENTS,
    ),
    Case(
        "no longer shared, a moment ago",
        by="bob",
        share=True,
        at_the_lock=lambda b: b.shares.all().delete(),
        refused=PEOPLE | AGENTS,
    ),
    Case(
        "to read only, a moment ago",
        by="bob",
        share=True,
        at_the_lock=lambda b: b.shares.update(can_write=False),
        refused=PEOPLE | AGENTS,
    ),
    Case(
        "of a deleted agent",
        once_opened=lambda b: b.agents.get().trash(),
        refused={"panel", "api by label"},
        not_for=AGENTS,
    ),
]


@pytest.fixture
def cast(
    settings: Settings, agent: Agent, bobs: Agent, alice: User, bob: User
) -> dict[str, tuple[User, Agent]]:
    settings.ACCOUNTS = True
    return {"alice": (alice, agent), "bob": (bob, bobs)}


TABLE = [(name, case) for name in DOORS for case in CASES if name not in case.not_for]


@pytest.mark.parametrize(
    ("name", "case"), TABLE, ids=[f"{name}: {case.name}" for name, case in TABLE]
)
def test_a_write_has_the_same_outcome_at_every_door(
    name: str,
    case: Case,
    cast: dict[str, tuple[User, Agent]],
    human: Block,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    user, agent = cast[case.by]
    case.before(human)
    if case.share is not None:
        BlockShare.share(human, user, can_write=case.share)
        agent.attach(human)
    human.refresh_from_db()
    door: Door = DOORS[name](user, agent, request)
    door.open(human)
    case.once_opened(human)
    now = Block.objects.filter(pk=human.pk).first() or human
    value, version, holders = now.value, now.version, now.holders()
    log = Log()
    if case.at_the_lock is not nothing:
        at_first_lock(monkeypatch, lambda: case.at_the_lock(human))
    written = door.write(human, case.value)
    now = Block.objects.filter(pk=human.pk).first() or now
    if name in case.refused:
        assert not written
        assert (now.value, now.version, log.new_edits()) == (value, version, [])
        assert [log.events(holder) for holder in holders] == [[] for _ in holders]
        return
    assert written
    assert (now.value, now.version) == (case.value, version + 1)
    (edit,) = log.new_edits()
    assert (edit.before, edit.after, edit.version) == (value, case.value, version + 1)
    assert (edit.editor_kind, edit.editor_name) == door.editor
    told = [{"block": str(human.pk), "edit": edit.pk}]
    assert [log.events(holder) for holder in holders] == [told for _ in holders]
