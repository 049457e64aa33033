"""What the tests of tools that users write share."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from agents.memory.classes import TaskMemory
from agents.models import Agent


@pytest.fixture
def agent(alice: User) -> Agent:
    """Alice's agent, with a queue of tasks."""
    return Agent.create(alice, "Worker", TaskMemory(human="Bob", persona="I work", tasks=[]))
