"""What the tests of search share."""

from __future__ import annotations

import pytest

from agents.models import Agent, Passage
from tests.support.searching import BY, TEXTS


@pytest.fixture
def passages(agent: Agent) -> dict[str, Passage]:
    return {name: Passage.insert(agent, text, by=BY) for name, text in TEXTS.items()}
