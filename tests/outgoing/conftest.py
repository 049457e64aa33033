"""What the tests of requests to other servers share."""

from __future__ import annotations

import pytest
from pytest_django import Settings


@pytest.fixture(autouse=True)
def this_machine_is_allowed(settings: Settings) -> None:
    settings.OUTGOING_ALLOW = ["127.0.0.0/8"]
