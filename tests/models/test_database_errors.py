"""The database does not work for a while: that is said, nothing is lost, and runs go on."""

from __future__ import annotations

import itertools
import re
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.urls import reverse

from agents import asyncio_bridge
from agents.accounts import owner
from agents.memory.classes import ChatMemory
from agents.models import Agent, Block, Run
from agents.runs import engine
from tests.support.api_client import Api
from tests.support.fake_openai import FakeOpenAI, calls, text
from tests.support.followed_page import Page
from tests.support.openai_answers import Answer

pytestmark = [pytest.mark.sqlite_only, pytest.mark.django_db(transaction=True)]
APPEND = ("core_memory_append", {"label": "human", "content": "Likes cherry pie"})
LONG = "Likes cherry pie, and more. " * 500  # takes pages of its own
BEGINS = re.compile("BEGIN")
WRITES = re.compile("INSERT|UPDATE|DELETE")

Trouble = Callable[[], AbstractContextManager[None]]


@contextmanager
def locked() -> Iterator[None]:
    """Another program writes, for longer than anybody here waits."""
    before = ask("PRAGMA busy_timeout")
    ask("PRAGMA busy_timeout = 0")
    name = str(connection.settings_dict["NAME"])
    with closing(sqlite3.connect(name, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
    ask(f"PRAGMA busy_timeout = {before}")


@contextmanager
def full() -> Iterator[None]:
    """The disk is full: SQLite may not take one page more than it has."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM")  # leaves no free one
    most = ask("PRAGMA max_page_count")
    ask("PRAGMA max_page_count = 1")
    yield
    ask(f"PRAGMA max_page_count = {most}")


def ask(sql: str) -> int:
    with connection.cursor() as cursor:
        (value,) = cursor.execute(sql).fetchone()
    return int(value)


@pytest.fixture(params=[locked, full], ids=["locked", "full"])
def trouble(request: pytest.FixtureRequest) -> Trouble:
    found: Trouble = request.param
    return found


@pytest.fixture
def handed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The runs that the engine was given; a test executes them itself."""
    given: list[int] = []
    monkeypatch.setattr(engine, "_hand_to_thread", given.append)
    monkeypatch.setattr(engine, "_broken", {})
    return given


@pytest.fixture
def own() -> Agent:
    return Agent.create(owner(), "Own", ChatMemory(human="Name: Bob"))


def notes_one_fact(request: dict[str, Any]) -> Answer:
    """A tool call, then a long text."""
    return text(LONG, chunk=1000) if request["messages"][-1]["role"] == "tool" else calls(APPEND)


def test_a_run_that_the_database_fails_anywhere_goes_on_when_it_works_again(
    trouble: Trouble, model: FakeOpenAI, handed: list[int]
) -> None:
    model.default = notes_one_fact
    broken = 0
    for place in itertools.count(1):
        agent = Agent.create(owner(), f"Agent {place}", ChatMemory(human="Name: Bob"))
        run = agent.send("I like cherry pie", "k")
        handed.clear()
        if not executed_with(trouble, place, run):
            break
        broken += run_of(agent).status == "running"
        engine._broken.clear()  # as if some time had passed
        for run_id in handed_again(handed):
            engine.execute(run_id)
        assert (run_of(agent).status, run_of(agent).error) == ("done", "")
        assert human(agent).value == "Name: Bob\nLikes cherry pie"
        last = run.messages.filter(status="complete").last()
        assert last
        assert last.content == LONG
    assert place > 6
    assert broken > 0


def executed_with(trouble: Trouble, place: int, run: Run) -> bool:
    """Execute a run, with trouble from its n-th transaction on; False if it has fewer."""
    transactions = itertools.count(1)

    def watch(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        begins = BEGINS.match(sql) or (WRITES.match(sql) and not connection.in_atomic_block)
        if begins and next(transactions) == place:
            stack.enter_context(trouble())
        return execute(sql, params, many, context)

    with ExitStack() as stack, connection.execute_wrapper(watch):
        engine.execute(run.pk)
    return next(transactions) > place


def handed_again(handed: list[int]) -> list[int]:
    """What the engine takes up, which is each run once."""
    engine.take_up()
    return list(handed)


def run_of(agent: Agent) -> Run:
    return Run.objects.get(agent=agent)


def human(agent: Agent) -> Block:
    block = agent.block("human")
    assert block is not None
    return block


def test_a_run_is_not_taken_up_while_it_is_executed_or_rests(
    own: Agent, handed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = own.send("Hello", "k")
    handed.clear()
    monkeypatch.setitem(engine._handed, run.pk, 1)
    assert engine.take_up() == 0
    del engine._handed[run.pk]
    engine._broken[run.pk] = 3, float("inf")
    assert engine.take_up() == 0
    engine._broken[run.pk] = 3, 0.0
    assert engine.take_up() == 1
    assert handed == [run.pk]


def test_a_run_that_keeps_breaking_off_rests_longer_and_longer(
    own: Agent, handed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(engine, "time", SimpleNamespace(monotonic=lambda: now[0]))
    run = own.send("Hello", "k")
    rests = []
    with locked():
        for _ in range(9):
            engine.execute(run.pk)
            rests.append(engine._broken[run.pk][1])
    assert rests == [0, 5, 15, 35, 75, 155, 300, 300, 300]
    assert run_of(own).status == "running"


# -- what is said ----------------------------------------------------------------------------------


def test_a_message_is_refused_with_503_and_not_with_500(
    trouble: Trouble, own: Agent, client: Client, handed: list[int]
) -> None:
    client.raise_request_exception = False
    send = reverse("message_send", args=[own.pk])
    with trouble():
        page = client.post(send, {"text": LONG, "key": "k"})
        part = client.post(send, {"text": LONG, "key": "k"}, headers={"HX-Request": "true"})
        looked = client.get(reverse("agent", args=[own.pk]))
    for answer in (page, part):
        assert answer.status_code == 503
        assert answer["Retry-After"] == "5"
        assert re.search("The (database is locked|disk is full)", answer.content.decode())
    assert "<html" in page.content.decode()
    assert "<html" not in part.content.decode()
    assert looked.status_code == 200
    assert client.post(send, {"text": LONG, "key": "k"}).status_code == 302
    assert own.runs.count() == 1


@pytest.mark.parametrize(("target", "swap"), [("div#editor", "afterbegin"), ("button", "afterend")])
def test_what_is_typed_in_a_form_stays_beside_the_words(
    target: str, swap: str, own: Agent, client: Client
) -> None:
    client.raise_request_exception = False
    block = human(own)
    asked = {"HX-Request": "true", "HX-Source": "button", "HX-Target": target}
    form = {"value": "Name: Sarah", "version": 0}
    with locked():
        answer = client.post(f"/agents/{own.pk}/blocks/{block.pk}/", form, headers=asked)
    assert answer.status_code == 503
    assert answer["HX-Reswap"] == swap


def test_a_person_who_cannot_log_in_just_now_is_told_so(web: Client, alice: User) -> None:
    alice.set_password("correct horse")
    alice.save()
    web.logout()
    web.raise_request_exception = False
    with locked():
        answer = web.post("/accounts/login/", {"login": "alice", "password": "correct horse"})
    assert answer.status_code == 503


def test_a_script_is_told_when_to_ask_again(trouble: Trouble, alice: User) -> None:
    api = Api(alice)
    with trouble():
        told = api.post("/blocks/", {"label": "notes", "value": LONG}, expect=503)
        assert api.last["Retry-After"] == "5"
    assert re.match(r"The (database is locked|disk is full).*Try again\.$", told["detail"])
    assert api.post("/blocks/", {"label": "notes", "value": LONG})["value"] == LONG


async def test_a_page_is_told_over_its_socket_and_stays_connected(
    own: Agent, handed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    from asgiref.sync import sync_to_async

    monkeypatch.setitem(connection.settings_dict["OPTIONS"], "timeout", 0.01)
    monkeypatch.setattr(asyncio_bridge, "_threads", ThreadPoolExecutor(1))  # with new connections
    page = Page(await sync_to_async(owner)())
    await page.socket.connect()
    await page.follow(own)
    trouble = locked()
    await sync_to_async(trouble.__enter__)()
    await page.say(command="send", agent=str(own.pk), text="Hello", key="k")
    frame = await page.hear_refusal()
    await sync_to_async(trouble.__exit__)(None, None, None)
    assert frame["refused"] == "k"
    assert "The database is locked" in frame["content"]
    assert await page.send(own, "Hello", "k") == "k"
    await page.socket.disconnect()
