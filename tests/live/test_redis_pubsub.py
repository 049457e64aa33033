"""Messages between processes, through a real Redis, also where it loses connections."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from queue import Queue
from typing import Any

import pytest
from django.conf import settings
from redis import Redis

from agents.live import redis_pubsub
from agents.live.redis_pubsub import Message, RedisPubSub
from tests.support.server import eventually

pytestmark = pytest.mark.hosted_only
EVENT = {"seq": 7, "kind": "text", "content": "<p>Hello</p>"}
PATIENCE = 20.0  # seconds


class Process:
    """One process of a site: what it hears, in order."""

    def __init__(self, url: str) -> None:
        self.heard: Queue[Message] = Queue()
        self.pubsub = RedisPubSub(url, self.hear)

    def hear(self, messages: list[Message]) -> None:
        for message in messages:
            self.heard.put(message)

    def next(self) -> Message:
        return self.heard.get(timeout=PATIENCE)

    def listen(self, topic: str) -> None:
        self.pubsub.subscribe(topic)
        assert self.next() == (topic, [])  # listening now: look into the log once


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Process]]:
    monkeypatch.setattr(redis_pubsub, "AGAIN_SECONDS", 0.05)
    started: list[Process] = []

    def start(url: str = settings.REDIS_URL) -> Process:
        started.append(Process(url))
        return started[-1]

    yield start
    for each in started:
        for task in (each.pubsub.sender, each.pubsub.receiver):
            if task:
                each.pubsub.loop.call_soon_threadsafe(task.cancel)


Start = Callable[..., Process]


def test_messages_arrive_in_order_where_somebody_listens(process: Start) -> None:
    one, other, deaf = process(), process(), process()
    one.listen("agent.a")
    other.listen("agent.a")
    deaf.listen("agent.b")
    for seq in range(500):
        deaf.pubsub.publish([("agent.a", [EVENT | {"seq": seq}])])
    for listener in (one, other):
        assert [listener.next()[1][0]["seq"] for _ in range(500)] == list(range(500))
    assert deaf.heard.empty()


def test_who_publishes_knows_whether_anybody_listens(process: Start) -> None:
    one, other = process(), process()
    assert not other.pubsub.heard(["agent.a"])
    one.listen("agent.a")
    other.pubsub.publish([("agent.a", [])])
    eventually(lambda: other.pubsub.heard(["agent.a"]))
    assert process().pubsub.heard(["agent.a", "agent.b"]) == {"agent.a"}  # before its first message
    one.pubsub.unsubscribe("agent.a")

    def gone() -> bool:
        other.pubsub.publish([("agent.a", [])])
        return not other.pubsub.heard(["agent.a"])

    eventually(gone)


def test_after_a_lost_connection_listeners_look_into_the_log_and_hear_again(process: Start) -> None:
    one, other = process(), process()
    one.listen("agent.a")
    Redis.from_url(settings.REDIS_URL).client_kill_filter(_type="pubsub", skipme=True)
    assert one.next() == ("agent.a", [])
    other.pubsub.publish([("agent.a", [EVENT])])
    assert one.next() == ("agent.a", [EVENT])


def test_what_redis_did_not_take_is_made_good_by_a_look_into_the_log(
    process: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = process(), process()
    one.listen("agent.a")

    async def broken(batch: Any) -> None:
        raise ConnectionError("Redis is away.")

    with monkeypatch.context() as away:
        away.setattr(other.pubsub, "_send", broken)
        other.pubsub.publish([("agent.a", [EVENT])])
        eventually(lambda: "agent.a" in other.pubsub.missed)
    assert one.next() == ("agent.a", [])
    other.pubsub.publish([("agent.a", [EVENT])])
    assert one.next() == ("agent.a", [EVENT])


def test_a_redis_that_is_not_there_holds_nobody_up(process: Start) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    alone = process(f"redis://127.0.0.1:{port}")
    alone.pubsub.subscribe("agent.a")
    alone.pubsub.publish([("agent.a", [EVENT])])
    eventually(lambda: alone.pubsub.missed == {"agent.a"})
    assert not alone.pubsub.heard(["agent.a"])
