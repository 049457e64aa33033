"""An import is checked before it writes, written in pieces, and seen by nobody until it is done."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.utils import timezone

from agents.agent_file import AgentFileError, export_agent, import_agent, importing, limits, rows
from agents.models import Agent, Block, BlockEdit, Compaction, Message, Passage, Run, Step, Tool
from agents.models.agent_queryset import UNFINISHED
from tests.support.agent_file_samples import SOURCE, sample, small_file
from tests.support.api_client import Api

STORED = (Agent, Block, BlockEdit, Compaction, Message, Passage, Run, Step, Tool)


def counts() -> dict[str, int]:
    return {model.__name__: model._default_manager.count() for model in STORED}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda f: f.update(blocks=[{}] * 1001), "1,001 blocks; at most 1,000 are allowed"),
        (
            lambda f: f["agents"][0].update(memory_blocks=[{}] * 999),
            "1,001 blocks; at most 1,000 are allowed",
        ),
        (lambda f: f.update(tools=[{}] * 501), "501 tools; at most 500 are allowed"),
        (
            lambda f: f["agents"][0].update(messages=[{}] * 100_001),
            "100,001 messages; at most 100,000 are allowed",
        ),
        (
            lambda f: f.update(own({"passages": [{}] * 100_001})),
            "100,001 passages; at most 100,000 are allowed",
        ),
        (
            lambda f: f.update(own({"blocks": {"block-0": {"edits": [{}] * 100_001}}})),
            "100,001 edits of blocks; at most 100,000 are allowed",
        ),
        (
            lambda f: f.update(own({"runs": [{"steps": [{}] * 100_001}]})),
            "100,001 steps; at most 100,000 are allowed",
        ),
        (lambda f: f.update(agents=f["agents"] * 101), "101 agents; import 1 to 100"),
    ],
)
def test_a_file_that_holds_too_much_is_refused_by_what_and_how_much(
    change: Callable[[dict[str, Any]], None], said: str, alice: User
) -> None:
    given = small_file()
    change(given)
    with pytest.raises(AgentFileError, match=said):
        import_agent(alice, given)
    assert not any(counts().values())


def own(part: dict[str, Any]) -> dict[str, Any]:
    return {"memoryweb": {"version": 1, "agents": {"agent-0": part}}}


def test_nothing_is_written_before_all_of_a_file_was_checked(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last thing in the file is wrong; no transaction is begun before that is seen."""
    given = small_file()
    given["memoryweb"] = {"version": 1, "agents": {"agent-0": {"passages": [{"text": " "}]}}}
    monkeypatch.setattr(rows, "batch", None)
    monkeypatch.setattr(importing, "batch", None)
    monkeypatch.setattr(transaction, "atomic", None)
    with pytest.raises(AgentFileError, match="The passage is empty"):
        import_agent(alice, given)


# -- in pieces, unseen -----------------------------------------------------------------------------


@pytest.fixture
def halfway(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], None]]:
    """What to do after each piece of an import."""
    looks: list[Callable[[], None]] = []

    def between(seconds: float) -> None:
        for look in looks:
            look()

    monkeypatch.setattr("agents.agent_file.rows.rest", between)
    return looks


@pytest.mark.django_db(transaction=True)
def test_between_the_pieces_others_write_and_see_nothing_of_it(
    alice: User, halfway: list[Callable[[], None]]
) -> None:
    agents: list[int] = []
    seen: set[int] = set()

    def look() -> None:
        assert not connection.in_atomic_block
        agents.append(Agent.objects.count())
        mine = Agent.objects.visible_to(alice)
        theirs = Agent.objects.trashed_by(alice)
        seen.update({mine.count(), theirs.count(), Block.objects.usable_by(alice).count()})
        seen.add(len(Api(alice).get("/blocks/")))
        seen.add(Tool.objects.count())
        Agent.objects.purge_expired()  # leaves it be, as it only began

    halfway.append(look)
    made = import_agent(alice, small_file(messages=1000, blocks=60)).agent
    assert seen == {0}
    assert agents.count(1) > 10
    assert made in Agent.objects.visible_to(alice)
    assert (made.messages.count(), len(made.core_memory())) == (1000, 60)
    assert Block.objects.usable_by(alice).count() == 60
    assert [block.label for block in made.core_memory()][:3] == ["b0", "b1", "b2"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("failing", [1, 4, 7])
def test_an_import_that_fails_halfway_leaves_nothing(
    failing: int, alice: User, halfway: list[Callable[[], None]]
) -> None:
    pieces: list[int] = []

    def fail() -> None:
        pieces.append(1)
        if len(pieces) == failing:
            raise OSError("The disk is full.")

    halfway.append(fail)
    with pytest.raises(OSError, match="full"):
        import_agent(alice, small_file(messages=600))
    assert not any(counts().values())


@pytest.mark.django_db(transaction=True)
def test_what_a_killed_import_left_is_deleted_with_what_is_past_keeping(
    alice: User, halfway: list[Callable[[], None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def die() -> None:
        if Block.objects.exists():
            raise KeyboardInterrupt

    halfway.append(die)
    monkeypatch.setattr(importing, "discard", lambda agents: None)  # the process is gone
    with pytest.raises(KeyboardInterrupt):
        import_agent(alice, small_file())
    assert counts()["Agent"] == 1
    assert counts()["Block"] > 0
    Agent.objects.purge_expired()
    assert counts()["Agent"] == 1  # it might still go on
    Agent.objects.update(created_at=timezone.now() - timedelta(hours=2))
    Agent.objects.purge_expired()
    assert not any(counts().values())


def test_an_agent_that_is_being_imported_is_in_no_list(agent: Agent, web: Any, api: Api) -> None:
    Agent.objects.update(deleted_at=UNFINISHED)
    assert web.get(f"/agents/{agent.pk}/").status_code == 404
    assert f"/agents/{agent.pk}/" not in web.get("/", follow=True).content.decode()
    assert api.get("/agents/") == api.get("/blocks/") == []
    api.get(f"/agents/agent-{agent.pk}", expect=404)


@pytest.fixture
def api(alice: User) -> Api:
    return Api(alice)


def test_a_tool_that_somebody_makes_meanwhile_is_not_overwritten(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def meanwhile(names: list[str]) -> None:
        Tool.from_source(alice, SOURCE.replace("Look a", "See a"))

    with pytest.raises(AgentFileError, match="'look_up_book' was created at the same time"):
        import_agent(alice, small_file(), allow_tools=meanwhile)
    assert "See a" in Tool.objects.get().source
    assert not Agent.objects.exists()


def test_one_file_is_imported_at_a_time(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "SECONDS_TO_WAIT", 0.0)
    with importing.importing, pytest.raises(AgentFileError, match="Another agent file"):
        import_agent(alice, small_file())
    assert import_agent(alice, small_file())


def test_the_limits_are_no_smaller_than_what_an_agent_here_may_have(alice: User) -> None:
    most = small_file(blocks=limits.MOST_BLOCKS)
    made = import_agent(alice, most).agent
    assert len(import_agent(alice, export_agent(made)).agent.core_memory()) == limits.MOST_BLOCKS


def test_the_projects_own_samples_are_imported_as_before(alice: User) -> None:
    for name in ("single.af", "lists.af"):
        assert import_agent(alice, sample(name)).agent.messages.exists()
