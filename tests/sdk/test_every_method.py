"""Each method of the newest SDK is answered in the SDK's own type, or with what to use instead."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.sdk.interpreters import Interpreter
from tests.support.server import MemoryWeb

pytestmark = pytest.mark.sdk
NEWEST = "1.12.1"
METHODS, ANSWERED = 128, 85  # so many at least


@pytest.fixture(scope="module")
def with_demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryWeb]:
    """A server whose agents are answered by the demo model."""
    with MemoryWeb(tmp_path_factory.mktemp("every")) as server:
        yield server


def test_each_method_is_answered_in_its_type_or_told_what_to_use_instead(
    with_demo: MemoryWeb, interpreters: dict[str, Interpreter]
) -> None:
    told = interpreters[NEWEST].play("every_method", with_demo.url)
    wrong = {name: said for name, said in told.items() if said not in ("valid", "501")}
    assert wrong == {}
    answered = [name for name, said in told.items() if said == "valid"]
    assert len(told) >= METHODS
    assert len(answered) >= ANSWERED, f"Only {len(answered)}: {answered}"
