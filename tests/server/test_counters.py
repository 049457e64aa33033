"""What all processes count together, by a real Redis."""

from __future__ import annotations

from contextvars import Context
from typing import Any
from uuid import uuid4

import pytest
from django.core.cache import caches

from agents.models.limits import counted
from memoryweb.counters import COUNTED_SECONDS

pytestmark = pytest.mark.hosted_only


def test_a_counter_begins_by_itself_and_is_kept_for_a_while() -> None:
    name = uuid4().hex
    assert [counted(name) for _ in range(3)] == [1, 2, 3]
    requests: Any = caches["requests"]
    redis = requests._cache.get_client()
    assert 0 < redis.ttl(requests.make_key(name)) <= COUNTED_SECONDS


@pytest.mark.parametrize("name", ["requests", "default"])
def test_commands_of_an_event_loop_share_connections(name: str) -> None:
    def connections() -> object:
        cache: Any = caches[name]
        return cache._cache

    assert Context().run(connections) is Context().run(connections)
