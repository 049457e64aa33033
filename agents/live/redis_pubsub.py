"""Messages between processes: Redis' publish and subscribe, on the process's background loop.

One connection publishes, one listens to the topics that somebody in this process listens to. Where
Redis fails, publishing drops the content and waits for nothing. As soon as it answers again, the
listeners of what was dropped look into the log, and so does each listener whose topic is subscribed
anew.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from agents import asyncio_bridge

logger = logging.getLogger(__name__)
Message = tuple[str, list[dict[str, Any]]]

PREFIX = "memoryweb."  # Redis has one set of channels for all its databases
ANSWER_SECONDS = 5.0  # that Redis may take to connect or to answer
QUIET_SECONDS = 10.0  # without a message, after which the connection is tried
AGAIN_SECONDS = 1.0  # before Redis is asked again after it failed
MOST_WAITING = 10_000  # messages that are kept until they are sent, the newest ones
COUNT_SECONDS = 0.5  # that a thread waits to know whether anybody listens
MOST_KNOWN = 50_000  # topics of which that is known


class RedisPubSub:
    """Its public methods are called from any thread but the loop's, and but for `heard` return at
    once."""

    def __init__(self, url: str, deliver: Callable[[list[Message]], None]) -> None:
        self.deliver = deliver
        self.redis = Redis.from_url(
            url,
            socket_timeout=ANSWER_SECONDS,
            socket_connect_timeout=ANSWER_SECONDS,
            retry=Retry(NoBackoff(), 0),
        )
        self.waiting: deque[tuple[str, str]] = deque(maxlen=MOST_WAITING)  # topic, JSON
        self.missed: set[str] = set()  # topics of messages that could not be sent
        self.reached: dict[str, bool] = {}  # topics: whether anybody listened of late
        self.topics: set[str] = set()  # what this process listens to
        self.subscription: PubSub | None = None  # while it is connected
        self.sender: asyncio.Task[None] | None = None
        self.receiver: asyncio.Task[None] | None = None
        self.to_send = asyncio.Event()
        self.loop = asyncio_bridge.loop()

    def publish(self, messages: Sequence[Message]) -> None:
        self.waiting.extend((topic, json.dumps(events)) for topic, events in messages)
        self.loop.call_soon_threadsafe(self._send_soon)

    def heard(self, topics: Sequence[str]) -> set[str]:
        """The topics that anybody listens to, as their last messages told; who came since then
        looks into the log. Of a topic that had no message yet Redis is asked."""
        here = self.topics if self.subscription else set()
        if new := [each for each in topics if each not in here and each not in self.reached]:
            counting = asyncio.run_coroutine_threadsafe(self._count_listeners(new), self.loop)
            with suppress(TimeoutError):
                counting.result(COUNT_SECONDS)
        return {each for each in topics if each in here or self.reached.get(each)}

    def subscribe(self, topic: str) -> None:
        asyncio.run_coroutine_threadsafe(self._subscribe(topic), self.loop)

    def unsubscribe(self, topic: str) -> None:
        asyncio.run_coroutine_threadsafe(self._unsubscribe(topic), self.loop)

    # -- the connection that publishes ---------------------------------------------------------

    def _send_soon(self) -> None:
        self.sender = self.sender or asyncio.create_task(self._send_all())
        self.to_send.set()

    async def _send_all(self) -> None:
        """Send what waits, for as long as the process lives."""
        while True:
            await self.to_send.wait()
            self.to_send.clear()
            while self.waiting or self.missed:
                batch = [(topic, "[]") for topic in self.missed]
                batch += [self.waiting.popleft() for _ in range(len(self.waiting))]
                try:
                    await self._send(batch)
                    self.missed.clear()
                except Exception:
                    logger.warning("Redis did not take what was published.", exc_info=True)
                    # render nothing until it does
                    self.reached.update(
                        dict.fromkeys([*self.reached, *(t for t, _ in batch)], False)
                    )
                    self.missed.update(topic for topic, _ in batch)
                    await asyncio.sleep(AGAIN_SECONDS)

    async def _send(self, batch: list[tuple[str, str]]) -> None:
        async with self.redis.pipeline(transaction=False) as pipeline:
            for topic, events in batch:
                pipeline.publish(PREFIX + topic, events)
            reached = await pipeline.execute()
        self._note({topic: bool(n) for (topic, _), n in zip(batch, reached, strict=True)})

    async def _count_listeners(self, topics: Sequence[str]) -> None:
        try:
            counted = await self.redis.pubsub_numsub(*(PREFIX + topic for topic in topics))
            counts = [count for _, count in counted]  # in the order of the topics
        except (RedisError, OSError):
            counts = [0] * len(topics)
        self._note({topic: count > 0 for topic, count in zip(topics, counts, strict=True)})

    def _note(self, reached: dict[str, bool]) -> None:
        if len(self.reached) > MOST_KNOWN:
            self.reached.clear()
        self.reached.update(reached)

    # -- the connection that listens -----------------------------------------------------------

    async def _subscribe(self, topic: str) -> None:
        if topic in self.topics:
            return
        self.topics.add(topic)
        self.receiver = self.receiver or asyncio.create_task(self._receive_all())
        if self.subscription:
            with suppress(RedisError, OSError):  # the receiver sees it too, and subscribes anew
                await self.subscription.subscribe(PREFIX + topic)

    async def _unsubscribe(self, topic: str) -> None:
        self.topics.discard(topic)
        if self.subscription:
            with suppress(RedisError, OSError):
                await self.subscription.unsubscribe(PREFIX + topic)

    async def _receive_all(self) -> None:
        """Hand on what comes in, for as long as the process lives."""
        while True:
            try:
                async with self.redis.pubsub() as subscription:
                    await self._receive(subscription)
            except Exception:
                logger.warning("Redis does not answer; pages read the log instead.", exc_info=True)
            finally:
                self.subscription = None
            await asyncio.sleep(AGAIN_SECONDS)

    async def _receive(self, subscription: PubSub) -> None:
        await subscription.subscribe(PREFIX + "alive")  # connects; topics may come meanwhile
        self.subscription = subscription
        if self.topics:
            await subscription.subscribe(*(PREFIX + topic for topic in self.topics))
        asked = False
        while True:
            message = await subscription.get_message(timeout=QUIET_SECONDS)
            if message is None and asked:
                raise TimeoutError("Redis does not answer.")
            if asked := message is None:
                await subscription.ping()
            elif message["type"] in ("subscribe", "message"):
                topic = message["channel"].decode().removeprefix(PREFIX)
                # once subscribed, a listener looks into the log: it hears all that comes after
                events = json.loads(message["data"]) if message["type"] == "message" else []
                if topic in self.topics:
                    self.deliver([(topic, events)])
