"""Endpoints that administrators define: who may use them, with which key, and from when on."""

from __future__ import annotations

from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from agents.llm import Endpoint, ModelError, available, default_endpoint, model_lists, resolve
from agents.llm.available import named_endpoints
from agents.llm.choices import check_choice
from agents.llm.prices import Price, price_of
from agents.llm.windows import window_of
from agents.models import EndpointModel, ModelEndpoint, PersonalKey
from tests.support.api_client import Api
from tests.support.defined_endpoints import URL, define
from tests.support.fake_openai import FakeOpenAI

pytestmark = pytest.mark.usefixtures("db")


def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time by which what is defined is kept, as in a process that is not a test's."""
    now = [100.0]
    monkeypatch.setattr(available, "KEPT_SECONDS", 5.0)
    monkeypatch.setattr(available, "time", SimpleNamespace(monotonic=lambda: now[0]))
    available.forget()
    return now


# -- what is defined ---------------------------------------------------------------------------


def test_an_endpoint_that_is_defined_is_there_at_once_and_gone_at_once(alice: User) -> None:
    with pytest.raises(ModelError, match="There is no model 'lab/qwen3' here"):
        resolve("lab/qwen3", alice.pk)
    row = define(key="sk-lab", options="ids=nine")
    endpoint, model = resolve("lab/qwen3", alice.pk)
    assert (endpoint.base_url, endpoint.api_key, model) == (URL, "sk-lab", "qwen3")
    assert endpoint.options == (("ids", "nine"),)
    assert not endpoint.is_own_key
    assert "sk-lab" not in repr(endpoint)
    row.enabled = False
    row.save()
    with pytest.raises(ModelError, match="the endpoints are: demo"):
        resolve("lab/qwen3", alice.pk)


def test_other_processes_see_a_change_after_some_seconds(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = clock(monkeypatch)
    row = define()
    resolve("lab/a", alice.pk)
    ModelEndpoint.objects.filter(pk=row.pk).update(name="elsewhere")  # tells nobody
    resolve("lab/a", alice.pk)
    now[0] += 5
    resolve("elsewhere/a", alice.pk)


def test_what_another_process_has_just_defined_is_not_refused(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock(monkeypatch)
    define()
    resolve("lab/a", alice.pk)
    ModelEndpoint.objects.bulk_create([ModelEndpoint(name="new", base_url=URL, everyone=True)])
    resolve("new/a", alice.pk)  # within the seconds for which the others are kept


def test_a_silent_endpoint_is_asked_once_before_a_model_is_refused(
    settings: Settings, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.OPENAI_BASE_URL = "http://127.0.0.1:9/v1"
    asked: list[str] = []

    def silent(endpoint: Endpoint, seconds: float) -> dict[str, dict[str, Any]]:
        asked.append(endpoint.base_url)
        raise ModelError("It is silent.")

    monkeypatch.setattr(model_lists, "list_models", silent)
    with pytest.raises(ModelError, match="There is no model 'lab/a' here"):
        resolve("lab/a", alice.pk)
    assert asked == [settings.OPENAI_BASE_URL]


def test_a_message_asks_the_database_for_endpoints_once_in_a_while(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock(monkeypatch)
    with CaptureQueriesContext(connection) as asked:
        for _ in range(10):
            default_endpoint(alice.pk)
            named_endpoints(alice.pk)
    assert len(asked) == 1
    define(everyone=False, own_keys="allowed").users.add(alice)
    with CaptureQueriesContext(connection) as asked:
        for _ in range(10):
            default_endpoint(alice.pk)
    assert len(asked) == 4  # endpoints, their models, whose they are, and own keys


def test_while_the_database_fails_what_was_read_last_holds(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    define()
    resolve("lab/a", alice.pk)
    monkeypatch.setattr(available, "KEPT_SECONDS", -1.0)

    def fail() -> None:
        raise DatabaseError("away")

    monkeypatch.setattr(available, "_rows", fail)
    assert resolve("lab/a", alice.pk)[0].base_url == URL


def test_what_is_said_of_a_model_comes_first(settings: Settings, alice: User) -> None:
    settings.PRICES = '{"qwen3": [9, 9]}'
    row = define()
    prices = {"prompt_price": Decimal("0.15"), "completion_price": Decimal("0.6")}
    EndpointModel.objects.create(endpoint=row, name="qwen3", context_window=9000, **prices)
    endpoint, model = resolve("lab/qwen3", alice.pk)
    assert price_of(model, endpoint) == Price(0.15, 0.6)
    assert window_of(endpoint, model, ask=False) == 9000
    assert price_of("qwen3-large", endpoint) == Price(9, 9)


def test_an_endpoint_may_be_for_some_models_only(
    alice: User, accounts: None, model: FakeOpenAI
) -> None:
    model.models = ["small", "large"]
    row = define(base_url=model.base_url)
    check_choice("lab/large", alice.pk)
    EndpointModel.objects.create(endpoint=row, name="small")
    row.only_listed = True
    row.save()
    check_choice("lab/small", alice.pk)
    with pytest.raises(ValidationError, match=r"no model 'large'.*that may are: small"):
        check_choice("lab/large", alice.pk)
    handles = [each["handle"] for each in Api(alice).get("/models/")]
    assert handles == ["openai/fake-model", "openai/small", "openai/large", "lab/small"]


def test_the_default_endpoint_answers_in_place_of_the_environments(
    settings: Settings, alice: User, model: FakeOpenAI
) -> None:
    row = define(is_default=True, default_model="qwen3")
    assert resolve("", alice.pk)[0].name == "lab"
    assert resolve("letta/letta-free", alice.pk)[1] == "qwen3"
    assert resolve("anything", alice.pk)[0].name == "lab"
    assert resolve("openai/fake-model", alice.pk)[0].base_url == model.base_url
    settings.OPENAI_BASE_URL = ""
    assert list(named_endpoints()) == ["lab"]  # and no demo model beside it
    row.delete()
    assert default_endpoint().is_demo


# -- what cannot be ----------------------------------------------------------------------------


def test_one_endpoint_is_the_default_and_that_is_everybodys() -> None:
    define(is_default=True)
    with pytest.raises(ValidationError, match="Another endpoint is the default one"):
        define("other", is_default=True)
    with pytest.raises(IntegrityError), transaction.atomic():
        ModelEndpoint.objects.create(name="other", base_url=URL, is_default=True)
    ModelEndpoint.objects.all().delete()
    with pytest.raises(ValidationError, match="has to be enabled, and for everyone"):
        define(is_default=True, everyone=False)


def test_a_name_that_is_taken_is_refused_and_the_environments_holds(
    settings: Settings, alice: User
) -> None:
    define("work")
    settings.ENDPOINTS = {"work": "http://work/v1", "home": "http://home/v1"}
    for name in ("demo", "letta", "home"):
        with pytest.raises(ValidationError, match="is the name of an endpoint of the environment"):
            define(name)
    define("openai")
    settings.OPENAI_API_KEY = "sk-x"
    available.forget()
    assert resolve("work/a", alice.pk)[0].base_url == "http://work/v1"
    assert resolve("openai/a", alice.pk)[0].base_url == "https://api.openai.com/v1"
    with pytest.raises(ValidationError, match="small letters"):
        define("Not/so")


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("ftp://lab/v1", "begins with http"),
        ("http://", "begins with http"),
        ("http://lab:99999/", "not an address"),
        ("http://me:secret@lab/v1", "no key or password may be in it"),
        ("http://lab/v1?key=secret", "no key or password may be in it"),
        ("http://lab/v1#ids=nine", "Options have a field of their own"),
    ],
)
def test_an_address_that_cannot_be_is_refused(url: str, words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        define(base_url=url)


def test_options_that_are_none_are_said_to_whoever_uses_the_endpoint(alice: User) -> None:
    define(options="colour=red")
    with pytest.raises(ModelError, match="has an unknown property 'colour'"):
        resolve("lab/a", alice.pk)


# -- who may use it ----------------------------------------------------------------------------


def test_an_endpoint_that_a_person_may_not_use_is_not_there(
    alice: User, bob: User, model: FakeOpenAI, accounts: None
) -> None:
    row = define(everyone=False, base_url=model.base_url)
    row.users.add(alice)
    resolve("lab/fake-model", alice.pk)
    check_choice("lab/fake-model", alice.pk)
    with pytest.raises(ModelError, match=r"no model 'lab/a' here; the endpoints are: openai\."):
        resolve("lab/a", bob.pk)
    with pytest.raises(ValidationError, match="the endpoints are: openai"):
        check_choice("lab/fake-model", bob.pk)
    for person, providers in ((alice, {"openai", "lab"}), (bob, {"openai"})):
        listed = Api(person).get("/models/")
        assert {each["provider_name"] for each in listed} == providers
    assert "lab" in named_endpoints()  # the deployment's own


def test_a_group_may_use_it_for_as_long_as_one_is_in_it(bob: User) -> None:
    tutors = Group.objects.create(name="tutors")
    define(everyone=False).groups.add(tutors)
    for _ in range(2):
        with pytest.raises(ModelError):
            resolve("lab/a", bob.pk)
        bob.groups.add(tutors)
        resolve("lab/a", bob.pk)
        bob.groups.remove(tutors)


# -- keys --------------------------------------------------------------------------------------


def test_a_persons_own_key_is_used_where_it_is_allowed(alice: User, bob: User) -> None:
    row = define(key="sk-lab", own_keys="allowed")
    PersonalKey.put(alice, row, "sk-alice")
    endpoint, _ = resolve("lab/a", alice.pk)
    assert (endpoint.api_key, endpoint.is_own_key) == ("sk-alice", True)
    endpoint, _ = resolve("lab/a", bob.pk)
    assert (endpoint.api_key, endpoint.is_own_key) == ("sk-lab", False)
    assert resolve("lab/a", None)[0].api_key == "sk-lab"
    PersonalKey.put(alice, row, "sk-new")
    assert resolve("lab/a", alice.pk)[0].api_key == "sk-new"
    row.own_keys = "no"
    row.save()
    assert resolve("lab/a", alice.pk)[0].api_key == "sk-lab"


def test_where_it_is_required_nobody_elses_key_is_used(alice: User, bob: User) -> None:
    row = define(key="sk-lab", own_keys="required")
    PersonalKey.put(alice, row, "sk-alice")
    assert resolve("lab/a", alice.pk)[0].is_own_key
    with pytest.raises(ModelError, match=r"only keys of people's own.*under Account, Model keys"):
        resolve("lab/a", bob.pk)


def test_a_key_that_cannot_be_read_is_said_and_no_other_is_used(
    alice: User, bob: User, settings: Settings
) -> None:
    row = define(key="sk-lab", own_keys="allowed")
    PersonalKey.put(alice, row, "sk-alice")
    settings.SECRET_KEY = "another key than before"
    available.forget()
    with pytest.raises(ModelError, match="own key for the endpoint 'lab' cannot be read"):
        resolve("lab/a", alice.pk)
    with pytest.raises(ModelError, match="An administrator has to enter it anew"):
        resolve("lab/a", bob.pk)


def test_no_key_goes_along_to_another_server(alice: User) -> None:
    row = define(key="sk-lab", own_keys="allowed")
    PersonalKey.put(alice, row, "sk-alice")
    row.base_url = "http://lab:8000/v2"
    row.full_clean()
    row.save()
    assert row.key() == "sk-lab"
    assert PersonalKey.objects.exists()
    row.base_url = "http://evil:8000/v1"
    with pytest.raises(ValidationError, match="must not get the key of the old one"):
        row.full_clean()
    row.save()  # whoever does not ask first
    row.refresh_from_db()
    assert row.key() == ""
    assert not PersonalKey.objects.exists()
