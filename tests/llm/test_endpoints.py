"""Which server and which model a handle means."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from pytest_django import Settings

from agents.llm import ModelError, default_endpoint, resolve
from tests.support.api_client import Api
from tests.support.fake_openai import FakeOpenAI


def named(handle: str) -> tuple[str, str]:
    endpoint, model = resolve(handle, None)
    return endpoint.name, model


@pytest.mark.parametrize(
    "handle", ["", "letta/letta-free", "letta/auto", "memoryweb-demo", "demo/memoryweb-demo"]
)
def test_with_nothing_set_the_demo_model_answers(handle: str) -> None:
    assert named(handle) == ("demo", "memoryweb-demo")


@pytest.mark.usefixtures("db")  # the endpoints are looked at once more
@pytest.mark.parametrize("handle", ["gpt-4o", "openai/gpt-4o", "demo/other", "letta/other"])
def test_the_demo_model_answers_in_no_other_models_name(handle: str) -> None:
    with pytest.raises(ModelError, match=f"There is no model '{handle}' here.*OPENAI_API_KEY"):
        resolve(handle, None)


def test_with_a_key_alone_openai_answers(settings: Settings) -> None:
    settings.OPENAI_API_KEY = "sk-x"
    assert default_endpoint().base_url == "https://api.openai.com/v1"
    assert named("") == ("openai", "gpt-4o-mini")
    assert named("letta/letta-free") == ("openai", "gpt-4o-mini")
    assert named("openai/gpt-4o") == ("openai", "gpt-4o")
    assert named("gpt-4o") == ("openai", "gpt-4o")


def test_a_server_of_ones_own_answers_with_the_first_model_it_lists(
    settings: Settings, model: FakeOpenAI
) -> None:
    settings.MODEL = ""
    model.models = ["qwen3", "meta-llama/Llama-3-8B"]
    assert resolve("", None)[1] == "qwen3"
    assert resolve("letta/letta-free", None)[1] == "qwen3"
    settings.MODEL = "chosen"
    assert resolve("", None)[1] == "chosen"


def test_a_handle_as_the_list_of_models_has_it_reaches_that_model(
    settings: Settings, model: FakeOpenAI, alice: User
) -> None:
    settings.MODEL, settings.ACCOUNTS = "", True
    model.models = ["qwen3", "meta-llama/Llama-3-8B", "openai/gpt-oss-20b"]
    listed = {each["handle"]: each["name"] for each in Api(alice).get("/models/")}
    assert list(listed.values()) == model.models
    assert {handle: resolve(handle, None)[1] for handle in listed} == listed


@pytest.mark.usefixtures("db")  # the endpoints are looked at once more
def test_a_model_of_a_server_of_ones_own_may_be_named_without_the_endpoint(
    settings: Settings, model: FakeOpenAI
) -> None:
    model.models = ["qwen3", "meta-llama/Llama-3-8B", "openai/gpt-oss-20b"]
    for handle in ("anything", *model.models):
        assert resolve(handle, None)[1] == handle
    assert resolve("openai/gpt-4o-mini", None)[1] == "gpt-4o-mini"
    with pytest.raises(ModelError, match="There is no model 'anthropic/claude' here"):
        resolve("anthropic/claude", None)


@pytest.mark.parametrize(
    ("fragment", "words"),
    [
        ("colour=red", "has an unknown property 'colour'"),
        ("ids=ten", "ids must be one of: any, nine"),
    ],
)
def test_a_property_of_an_endpoint_that_cannot_be_is_refused(
    fragment: str, words: str, settings: Settings
) -> None:
    settings.ENDPOINTS = {"lab": f"http://lab:8000/v1#{fragment}"}
    with pytest.raises(ImproperlyConfigured, match=words):
        resolve("lab/qwen3", None)


def test_a_server_without_models_is_named_with_what_to_do(
    settings: Settings, model: FakeOpenAI
) -> None:
    settings.MODEL = ""
    model.models = []
    with pytest.raises(ModelError, match="name one in MEMORYWEB_MODEL"):
        resolve("", None)


def test_further_endpoints_are_named_by_the_part_before_the_slash(settings: Settings) -> None:
    settings.ENDPOINTS = {"lab": "http://lab:8000/v1"}
    settings.ENDPOINT_KEYS = {"lab": "secret"}
    endpoint, model = resolve("lab/qwen3:8b", None)
    assert (endpoint.base_url, endpoint.api_key, model) == (
        "http://lab:8000/v1",
        "secret",
        "qwen3:8b",
    )
