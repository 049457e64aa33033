"""What all processes count together, by Redis: attempts to log in, and each person's requests."""

from __future__ import annotations

import logging
import time
from typing import Any

from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache, RedisCacheClient
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)
PAUSE = 5.0  # seconds that a Redis which failed is left alone
COUNTED_SECONDS = 120  # that a count of requests is kept

_clients: dict[str, RedisCacheClient] = {}


class PooledRedis(RedisCache):
    """Redis, with one pool of connections a process. Django's makes one for each context of an
    event loop, so each command of a socket would connect anew."""

    def __init__(self, server: Any, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        vars(self)["_cache"] = _clients.setdefault(f"{server} {params}", self._cache)


class RequestCounters(PooledRedis):
    """Counters that begin by themselves."""

    def incr(self, key: str, delta: int = 1, version: int | None = None) -> int:
        """Count, by one message to Redis; Django's asks first whether there is such a counter."""
        name = self.make_and_validate_key(key, version=version)
        with self._cache.get_client(name, write=True).pipeline(transaction=False) as pipeline:
            pipeline.incr(name, delta)
            pipeline.expire(name, COUNTED_SECONDS)
            return int(pipeline.execute()[0])


class SharedCounters(PooledRedis):
    """Redis; while it fails, each process counts by itself, so that people can log in and nobody
    may guess passwords without end.
    """

    _failed_at = float("-inf")  # of this process, whose threads each have a connection

    def __init__(self, server: Any, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        options = {**params, "OPTIONS": {"MAX_ENTRIES": 100_000}}
        self._alone = LocMemCache("attempts counted without Redis", options)

    def add(self, *args: Any, **named: Any) -> Any:
        return self._call("add", *args, **named)

    def get(self, *args: Any, **named: Any) -> Any:
        return self._call("get", *args, **named)

    def set(self, *args: Any, **named: Any) -> Any:
        return self._call("set", *args, **named)

    def delete(self, *args: Any, **named: Any) -> Any:
        return self._call("delete", *args, **named)

    def _call(self, method: str, *args: Any, **named: Any) -> Any:
        if time.monotonic() - SharedCounters._failed_at > PAUSE:
            try:
                return getattr(super(), method)(*args, **named)
            except RedisError as error:
                SharedCounters._failed_at = time.monotonic()
                logger.warning(
                    "Redis fails (%s): until it is back, each process counts the attempts to log in"
                    " by itself.",
                    error,
                )
        return getattr(self._alone, method)(*args, **named)
