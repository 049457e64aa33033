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


class RedisPubSub:
    """Its public methods are called from any thread and return at once."""

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
        self.delivered: set[str] = set()  # topics whose last message reached a listener
        self.topics: set[str] = set()  # what this process listens to
        self.subscription: PubSub | None = None  # while it is connected
        self.sender: asyncio.Task[None] | None = None
        self.receiver: asyncio.Task[None] | None = None
        self.to_send = asyncio.Event()
        self.loop = asyncio_bridge.loop()

    def publish(self, messages: Sequence[Message]) -> None:
        self.waiting.extend((topic, json.dumps(events)) for topic, events in messages)
        self.loop.call_soon_threadsafe(self._send_soon)

    def has_listeners(self, topic: str) -> bool:
        """Whether the topic's last message reached a listener; newer ones look into the log."""
        return topic in self.delivered

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
                    self.delivered.clear()  # render nothing until it does
                    self.missed.update(topic for topic, _ in batch)
                    await asyncio.sleep(AGAIN_SECONDS)

    async def _send(self, batch: list[tuple[str, str]]) -> None:
        async with self.redis.pipeline(transaction=False) as pipeline:
            for topic, events in batch:
                pipeline.publish(PREFIX + topic, events)
            reached = await pipeline.execute()
        for (topic, _), listeners in zip(batch, reached, strict=True):
            (self.delivered.add if listeners else self.delivered.discard)(topic)

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
