"""What is kept secret is stored encrypted, and goes from one secret key to the next."""

from __future__ import annotations

from io import StringIO

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management import call_command
from pytest_django import Settings

from agents.models import Agent, ModelEndpoint, PersonalKey
from agents.models.encryption import ENDPOINT_KEYS, SECRETS, Under, encrypted_key
from agents.models.secrets import decrypted
from agents.operations.checks import database, machine

OLD, NEW = "the key of last year, which was long", "the key of this year, which is longer"


@pytest.fixture
def kept(settings: Settings, agent: Agent, alice: User) -> ModelEndpoint:
    """Something of each kind under the old key; the new one holds."""
    settings.SECRET_KEY = OLD
    agent.put_secrets({"A": "1", "B": "2"})
    lab = ModelEndpoint(name="lab", base_url="http://lab/v1", own_keys="allowed")
    lab.set_key("sk-lab")
    lab.save()
    ModelEndpoint.objects.create(name="open", base_url="http://open/v1")
    PersonalKey.put(alice, lab, "sk-alice")
    TOTP.activate(alice, "JBSWY3DPEHPK3PXP")
    settings.SECRET_KEY = NEW
    return lab


def rotated() -> tuple[str, int]:
    """What the command says, and how it ends."""
    told = StringIO()
    try:
        call_command("rotate_keys", stdout=told)
    except SystemExit as ended:
        return told.getvalue(), int(str(ended.code))
    return told.getvalue(), 0


def read(agent: Agent) -> tuple[object, ...]:
    agent.refresh_from_db()
    lab = ModelEndpoint.objects.get(name="lab")
    authenticator = Authenticator.objects.get()
    code = authenticator.wrap()
    return decrypted(agent.secrets), lab.key(), PersonalKey.objects.get().key(), code.validate_code


def test_what_was_stored_under_an_older_key_is_read_and_moved_to_the_present_one(
    kept: ModelEndpoint, agent: Agent, settings: Settings
) -> None:
    settings.SECRET_KEY_FALLBACKS = ["some other", OLD]
    assert machine.secret_key().state == "warning"
    before = read(agent)[:3]
    assert before == ({"A": "1", "B": "2"}, "sk-lab", "sk-alice")
    words, code = rotated()
    assert words.splitlines() == [
        "Secrets of agents: 2 of 2 encrypted anew.",
        "Keys of endpoints: 1 of 1 encrypted anew.",
        "Keys of people: 1 of 1 encrypted anew.",
        "Authenticator apps and recovery codes: 1 of 1 encrypted anew.",
        "All is under the present key; MEMORYWEB_SECRET_KEY_FALLBACKS can go.",
    ]
    assert code == 0
    settings.SECRET_KEY_FALLBACKS = []
    assert read(agent)[:3] == before
    assert database.secrets().state == "ok"
    assert "0 of 2" in rotated()[0]


def test_what_is_under_a_key_that_is_not_here_is_named_and_left_alone(
    kept: ModelEndpoint, agent: Agent, settings: Settings
) -> None:
    stored = Agent.objects.get(pk=agent.pk).secrets
    words, code = rotated()
    assert code == 1
    assert f"Secrets of agents in agents.Agent {agent.pk} cannot be read" in words
    assert f"Keys of endpoints in agents.ModelEndpoint {kept.pk} cannot" in words
    assert Agent.objects.get(pk=agent.pk).secrets == stored
    found = database.secrets()
    assert found.state == "warning"
    assert (
        "2 secrets of agents, 1 key of an endpoint, 1 key of a person, 1 authenticator app"
        in found.words
    )
    settings.SECRET_KEY = OLD
    assert read(agent)[1] == "sk-lab"


def test_each_purpose_has_keys_of_its_own(settings: Settings) -> None:
    token = SECRETS.encrypt("sesame")
    assert "sesame" not in token
    assert SECRETS.under(token) is Under.PRESENT
    assert ENDPOINT_KEYS.decrypt(token) is None
    settings.SECRET_KEY = NEW
    assert SECRETS.decrypt(token) is None


@pytest.mark.parametrize("key", ["two words", "line\nbreak", "schlüssel", "x" * 5_001])
def test_what_cannot_be_a_key_is_refused_without_being_repeated(key: str) -> None:
    with pytest.raises(ValidationError) as refused:
        encrypted_key(key)
    assert key not in str(refused.value)
    assert encrypted_key("  ") == ""
