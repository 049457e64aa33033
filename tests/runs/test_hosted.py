"""Postgres, Redis, two web processes and two workers: the same code, and nothing depends on one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.fake_openai import FakeOpenAI, calls, gated, text
from tests.support.own_postgres import own_postgres
from tests.support.server import eventually
from tests.support.site import Site, own_site

pytestmark = [pytest.mark.hosted_only, pytest.mark.slow]
APPEND = ("core_memory_append", {"label": "human", "content": "Likes cherry pie"})


@pytest.fixture(scope="module")
def model() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as scripted:
        yield scripted


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory, model: FakeOpenAI) -> Iterator[Site]:
    with own_site(tmp_path_factory.mktemp("hosted"), model) as site:
        yield site


@pytest.fixture
def site(started: Site) -> Iterator[Site]:
    """The site, on which no worker runs yet and nothing was asked."""
    yield started
    started.clear()


@pytest.fixture(autouse=True)
def nothing_asked_yet(model: FakeOpenAI) -> None:
    """Whatever the test before has left."""
    model.forget()


def test_a_message_sent_to_one_process_is_answered_in_the_pages_of_another(
    site: Site, model: FakeOpenAI
) -> None:
    site.worker()
    site.worker()
    model.script(calls(APPEND), text("Noted."))
    one, two = site.web
    agent = one.make_agent(human="Name: Bob")
    with one.page(agent) as here, two.page(agent) as there:
        here.send("I like cherry pie.")
        there.wait_for("Likes cherry pie")
        there.wait_for("ended done")
        last, _ = there.seen[-1]
        here.wait_until(last)
        assert here.seen[-1] == there.seen[-1]


def test_a_message_accepted_while_no_worker_runs_is_answered_by_the_first_that_starts(
    site: Site,
) -> None:
    agent = site.web[0].make_agent()
    with site.web[0].page(agent) as page:
        page.send("Hello")
        page.send("Again")
        assert site.statuses() == ["running", "queued"]
        site.worker()
        eventually(lambda: site.statuses() == ["done", "done"])


def test_a_dead_workers_run_is_taken_up_by_another(site: Site, model: FakeOpenAI) -> None:
    gate = gated(text("Hello there, my friend."))
    model.script(calls(APPEND), gate, text("Here I am again."))
    agent = site.web[0].make_agent(human="Name: Bob")
    with site.web[1].page(agent) as page:
        first = site.worker()
        page.send("I like cherry pie.")
        gate.wait(30)
        gate.release(2)
        site.worker()
        first.kill()
        page.wait_for("Here I am again.")
        page.wait_for("ended done")
    assert site.ask("SELECT value, version FROM agents_block WHERE label = 'human'") == [
        ("Name: Bob\nLikes cherry pie", 1)
    ]


def test_two_workers_run_one_agent_one_message_at_a_time(site: Site, model: FakeOpenAI) -> None:
    site.worker()
    site.worker()
    model.default = text("Yes.")
    agent = site.web[0].make_agent()
    said = [f"Message {number}" for number in range(6)]
    with site.web[0].page(agent) as page:
        for words in said:
            page.send(words)
        eventually(lambda: site.statuses() == ["done"] * 6)
    asked = [body["messages"][-1]["content"] for body in model.requests]
    assert asked == said


def test_messages_that_wait_are_all_answered_by_workers_that_begin_them(
    site: Site, model: FakeOpenAI
) -> None:
    site.worker()
    site.worker()
    model.default = text("Yes.")
    agents = [site.web[0].make_agent(f"Agent {number}") for number in range(5)]
    for agent in agents:
        with site.web[0].page(agent) as page:
            for number in range(12):
                page.send(f"Message {number}")
            page.wait_for("Message 11")
    eventually(lambda: site.statuses() == ["done"] * 60, within=120)


def test_web_processes_and_workers_outlive_a_restart_of_postgres(
    tmp_path: Path, model: FakeOpenAI
) -> None:
    gate = gated(text("Hello there, my friend."))
    model.script(calls(APPEND), gate, text("Here I am again."), text("Still here."))
    with own_postgres() as database, own_site(tmp_path, model, database.url) as site:
        workers = [site.worker(), site.worker()]
        agent = site.web[0].make_agent(human="Name: Bob")
        with site.web[0].page(agent) as page:
            page.send("I like cherry pie.")
            gate.wait(30)
            gate.release(2)
            page.wait_for("Hello")
        database.stop()
        gate.release(40)
        for answer in (
            site.web[0].get(f"/agents/{agent}/"),
            site.web[1].post(f"/agents/{agent}/messages/", text="Hello?", key="k"),
        ):
            assert answer.status == 503
            assert answer.getheader("Retry-After") == "5"
        database.start()
        assert [web.get(f"/agents/{agent}/").status for web in site.web * 20] == [200] * 40
        with site.web[1].page(agent) as page:
            eventually(lambda: site.statuses() == ["done"], within=90)
            page.send("Are you there?")
            page.wait_for("Still here.")
        assert [worker.poll() for worker in workers] == [None, None]
        assert site.ask("SELECT value, version FROM agents_block WHERE label = 'human'") == [
            ("Name: Bob\nLikes cherry pie", 1)
        ]
