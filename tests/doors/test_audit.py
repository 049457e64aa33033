"""The audit: what somebody does at any door leaves one entry, which holds no secret.

A test walks the list of actions, and fails for one that nothing here does.
"""

from __future__ import annotations

import pytest

from agents.models import AuditEntry

from . import deeds_of_owners, deeds_of_people
from .deeds import BEFORE, BESIDE, DEEDS, Action, Cast, Deed

MODULES = (deeds_of_owners, deeds_of_people)  # they fill the table
pytestmark = pytest.mark.usefixtures("accounts", "db")

# -- the walk --------------------------------------------------------------------------------------

WALK = [(action, deed) for action, deeds in DEEDS.items() for deed in deeds]
ELSEWHERE = {Action.ELSEWHERE_CHANGED}  # done in tests/accounts/test_elsewhere.py


def test_every_action_is_done_here() -> None:
    assert {action for action in Action if not DEEDS[action]} == ELSEWHERE


@pytest.mark.parametrize(
    ("action", "deed"), WALK, ids=[f"{action}-{deed.__name__}" for action, deed in WALK]
)
def test_a_deed_leaves_one_entry_and_no_secret(
    action: Action, deed: Deed, request: pytest.FixtureRequest
) -> None:
    cast = Cast(request)
    BEFORE[deed](cast)
    AuditEntry.objects.all().delete()
    deed(cast)
    found = sorted(AuditEntry.objects.values_list("action", flat=True))
    assert found == sorted({action, *BESIDE[deed]})
    for row in AuditEntry.objects.values():
        assert not any(secret in str(row) for secret in cast.secrets)
