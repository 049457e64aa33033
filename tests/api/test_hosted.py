"""The API of a team's site: what one web process is asked, a worker does, and another tells."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.support.api_script import Script, events
from tests.support.fake_openai import FakeOpenAI, gated, text
from tests.support.server import eventually
from tests.support.site import Site, own_site

pytestmark = [pytest.mark.hosted_only, pytest.mark.slow]


@pytest.fixture(scope="module")
def model() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as scripted:
        yield scripted


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory, model: FakeOpenAI) -> Iterator[Site]:
    with own_site(tmp_path_factory.mktemp("hosted"), model) as site:
        yield site


@pytest.fixture
def site(started: Site, model: FakeOpenAI) -> Iterator[Site]:
    """The site with one worker, of which nothing was asked yet."""
    model.forget()
    started.worker()
    yield started
    started.clear()


def test_a_message_is_answered_by_a_worker_and_streamed_by_any_process(
    site: Site, model: FakeOpenAI
) -> None:
    one, two = (Script(web) for web in site.web)
    path = one.agent()
    model.script(text("Hello"))
    assert one.ask("POST", f"{path}/messages", {"input": "Hi"})["messages"][0]["content"] == "Hello"
    gate = gated(text("One two three four", chunk=4))
    model.script(gate)
    run = one.ask("POST", f"{path}/messages/async", {"input": "Count"})["id"]
    gate.release(2)
    connection, response = two.open("POST", f"/runs/{run}/stream", {"starting_after": 1})
    with closing(connection):
        coming = events(response)
        assert next(coming)["message_type"] == "ping"
        said = [next(coming)]
        assert said[0]["content"] != "One two three four", "the model is not done"
        gate.open()
        said += [each for each in coming if each["message_type"] == "assistant_message"]
    assert "".join(each["content"] for each in said) == "One two three four"


def test_a_scheduled_message_is_sent_once_by_several_workers(site: Site, model: FakeOpenAI) -> None:
    site.worker()
    model.default = text("Good morning")
    script = Script(site.web[0])
    path = script.agent()
    schedule = {"scheduled_at": int(time.time() * 1000)}
    messages = [{"role": "user", "content": "Wake up"}]
    body = {"messages": messages, "schedule": schedule}
    made = script.ask("POST", f"{path}/schedule", body)["id"]
    eventually(lambda: site.statuses() == ["done"])
    assert script.ask("GET", f"{path}/schedule/{made}")["next_scheduled_time"] is None
