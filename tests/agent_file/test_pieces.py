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
from tests.support.agent_file_samples import SOURCE, noted, sample
from tests.support.api_client import Api

STORED = (Agent, Block, BlockEdit, Compaction, Message, Passage, Run, Step, Tool)


def counts() -> dict[str, int]:
    return {model.__name__: model._default_manager.count() for model in STORED}


def message(number: int, text: str = "Hello") -> dict[str, Any]:
    role = "assistant" if number % 2 else "user"
    return {"type": "message", "role": role, "content": text, "id": f"message-{number}"}


def file(messages: int = 4, blocks: int = 2) -> dict[str, Any]:
    agent = {
        "id": "agent-0",
        "name": "Big",
        "agent_type": "letta_v1_agent",
        "messages": [message(number) for number in range(messages)],
        "block_ids": [f"block-{number}" for number in range(blocks)],
        "tool_ids": ["tool-0"],
    }
    held = [{"id": f"block-{n}", "label": f"b{n}", "value": f"V{n}"} for n in range(blocks)]
    tool = {"id": "tool-0", "name": "look_up_book", "source_code": SOURCE, "tool_type": "custom"}
    return {"agents": [agent], "blocks": held, "tools": [tool]}


# -- checked before anything is written ------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda f: f.update(blocks=[{}] * 1001), "1,001 blocks; 1,000 is the most"),
        (
            lambda f: f["agents"][0].update(memory_blocks=[{}] * 999),
            "1,001 blocks; 1,000 is the most",
        ),
        (lambda f: f.update(tools=[{}] * 501), "501 tools; 500 is the most"),
        (
            lambda f: f["agents"][0].update(messages=[{}] * 100_001),
            "100,001 messages; 100,000 is the most",
        ),
        (
            lambda f: f.update(own({"passages": [{}] * 100_001})),
            "100,001 passages; 100,000 is the most",
        ),
        (
            lambda f: f.update(own({"blocks": {"block-0": {"edits": [{}] * 100_001}}})),
            "100,001 edits of blocks; 100,000 is the most",
        ),
        (
            lambda f: f.update(own({"runs": [{"steps": [{}] * 100_001}]})),
            "100,001 steps; 100,000 is the most",
        ),
        (lambda f: f.update(agents=f["agents"] * 101), "101 agents; 1 to 100 can be"),
    ],
)
def test_a_file_that_holds_too_much_is_refused_by_what_and_how_much(
    change: Callable[[dict[str, Any]], None], said: str, alice: User
) -> None:
    given = file()
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
    given = file()
    given["memoryweb"] = {"version": 1, "agents": {"agent-0": {"passages": [{"text": " "}]}}}
    monkeypatch.setattr(rows, "piece", None)
    monkeypatch.setattr(importing, "piece", None)
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
    made = import_agent(alice, file(messages=1000, blocks=60)).agent
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
        import_agent(alice, file(messages=600))
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
        import_agent(alice, file())
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
    assert agent.name not in web.get("/", follow=True).content.decode()
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

    with pytest.raises(AgentFileError, match="'look_up_book' was made at the same moment"):
        import_agent(alice, file(), allow_tools=meanwhile)
    assert "See a" in Tool.objects.get().source
    assert not Agent.objects.exists()


def test_one_file_is_imported_at_a_time(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "SECONDS_TO_WAIT", 0.0)
    with importing.importing, pytest.raises(AgentFileError, match="Another agent file"):
        import_agent(alice, file())
    assert import_agent(alice, file())


def test_the_limits_are_no_smaller_than_what_an_agent_here_may_have(alice: User) -> None:
    most = file(blocks=limits.MOST_BLOCKS)
    made = import_agent(alice, most).agent
    assert len(import_agent(alice, export_agent(made)).agent.core_memory()) == limits.MOST_BLOCKS


# -- what can be sent again, and what came with a server -------------------------------------------


def called(*ids: str, name: str = "look_up_book") -> dict[str, Any]:
    """A file in which tools were called under these ids, one after the other."""
    given = file(messages=0)
    for number, key in enumerate(ids):
        call = {"id": key, "type": "function", "function": {"name": name, "arguments": "{"}}
        asked = message(2 * number + 1) | {"tool_calls": [call]}
        answer = {
            "type": "message",
            "role": "tool",
            "content": f"Return {number}",
            "id": f"t{number}",
        }
        given["agents"][0]["messages"] += [asked, answer | {"tool_call_id": key}]
    return given


@pytest.mark.parametrize(
    "ids",
    [
        ["call_1", "call_1", "call_1"],
        ["x" * 41, "x" * 41, "x" * 200],
        ["functions.look:0", "functions.look:1", "ü"],
        ["x" * 40, "x" * 40, "x" * 40],
        ["call_1", "call_1_2", "call_1"],
    ],
)
def test_ids_of_calls_become_such_that_any_endpoint_takes_them(ids: list[str], alice: User) -> None:
    imported = import_agent(alice, called(*ids))
    asked = [
        call for each in imported.agent.messages.filter(role="assistant") for call in each.calls()
    ]
    returns = list(imported.agent.messages.filter(role="tool"))
    here = [call.id for call in asked]
    assert len(set(here)) == len(ids)
    assert all(key.replace("_", "").isalnum() and key.isascii() and len(key) <= 40 for key in here)
    assert [(each.tool_call_id, each.content) for each in returns] == [
        (key, f"Return {number}") for number, key in enumerate(here)
    ]
    assert [call.arguments for call in asked] == ["{"] * 3  # stored as it was said
    assert noted(imported.notes, "got another id here")


def test_many_calls_under_one_id_are_told_apart_at_once(alice: User) -> None:
    imported = import_agent(alice, called(*["call"] * 3000))
    ids = imported.agent.messages.filter(role="tool").values_list("tool_call_id", flat=True)
    assert len(set(ids)) == 3000


@pytest.mark.parametrize(
    ("name", "here"), [("look up.book!", "look_up_book_"), ("x" * 65, "x" * 64), ("§", "_")]
)
def test_names_of_calls_become_such_that_any_endpoint_takes_them(
    name: str, here: str, alice: User
) -> None:
    imported = import_agent(alice, called("call_1", name=name))
    (asked,) = imported.agent.messages.filter(role="assistant")
    assert [call.name for call in asked.calls()] == [here]
    assert noted(imported.notes, "names that no endpoint takes")


def test_what_edited_a_block_is_found_under_the_new_id(agent: Agent, bob: User) -> None:
    given = export_agent(agent)
    block = given["memoryweb"]["agents"]["agent-0"]["blocks"]["block-0"]
    block["edits"] = [{"after": "New", "step": 0, "tool_call_id": "a.b"}]
    given["blocks"][0]["value"] = "New"
    call = {"id": "a.b", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    given["agents"][0]["messages"].append(message(1) | {"tool_calls": [call]})
    run = {"kind": "message", "text": "", "status": "done", "reason": "end_turn", "role": "user"}
    its = given["memoryweb"]["agents"]["agent-0"]
    its["runs"] = [run | {"steps": [{"status": "done"}]}]
    its["messages"] = [{"id": "message-1", "run": 0, "step": 0}]
    made = import_agent(bob, given).agent
    (asked,) = made.messages.filter(role="assistant")
    edit = BlockEdit.objects.get(step__run__agent=made)
    assert edit.tool_call_id == asked.calls()[0].id != "a.b"


@pytest.mark.parametrize("kind", ["letta_core", "letta_memory_core", "letta_sleeptime_core"])
def test_a_tool_of_a_server_stays_built_in_though_its_source_is_in_the_file(
    kind: str, alice: User
) -> None:
    given = file()
    source = SOURCE.replace("look_up_book", "send_message")
    given["tools"][0] |= {"name": "send_message", "source_code": source, "tool_type": kind}
    assert import_agent(alice, given, overwrite_tools=True).agent.tools == ["send_message"]
    given["tools"][0] |= {"name": "open_files"}
    imported = import_agent(alice, given)
    assert imported.agent.tools == []
    assert noted(imported.notes, "open_files", "part of the server")
    assert not Tool.objects.exists()


def test_no_file_takes_the_approval_from_a_tool_that_needs_it(alice: User) -> None:
    Tool.from_source(alice, SOURCE, default_requires_approval=True)
    given = file()
    given["tools"][0] |= {
        "source_code": SOURCE.replace("Look a", "See a"),
        "default_requires_approval": False,
    }
    import_agent(alice, given, overwrite_tools=True)
    assert "See a" in Tool.objects.get().source
    assert Tool.objects.get().default_requires_approval


def test_the_projects_own_samples_are_imported_as_before(alice: User) -> None:
    for name in ("single.af", "lists.af"):
        assert import_agent(alice, sample(name)).agent.messages.exists()
