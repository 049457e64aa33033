"""Which server and which model a handle means."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from agents.llm import ModelError, default_endpoint, resolve
from tests.fake_openai import FakeOpenAI


def named(handle: str) -> tuple[str, str]:
    endpoint, model = resolve(handle)
    return endpoint.name, model


@pytest.mark.parametrize("handle", ["", "gpt-4o", "openai/gpt-4o", "letta/letta-free"])
def test_with_nothing_set_the_demo_model_answers_for_everything(handle: str) -> None:
    assert named(handle) == ("demo", "memoryweb-demo")


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
    assert resolve("")[1] == "qwen3"
    assert resolve("letta/letta-free")[1] == "qwen3"
    assert resolve("openai/gpt-4o-mini")[1] == "qwen3"
    assert resolve("meta-llama/Llama-3-8B")[1] == "meta-llama/Llama-3-8B"
    assert resolve("anything")[1] == "anything"
    settings.MODEL = "chosen"
    assert resolve("openai/gpt-4o-mini")[1] == "chosen"


def test_a_server_without_models_is_named_with_what_to_do(
    settings: Settings, model: FakeOpenAI
) -> None:
    settings.MODEL = ""
    model.models = []
    with pytest.raises(ModelError, match="name one in MEMORYWEB_MODEL"):
        resolve("")


def test_further_endpoints_are_named_by_the_part_before_the_slash(settings: Settings) -> None:
    settings.ENDPOINTS = {"lab": "http://lab:8000/v1"}
    settings.ENDPOINT_KEYS = {"lab": "secret"}
    endpoint, model = resolve("lab/qwen3:8b")
    assert (endpoint.base_url, endpoint.api_key, model) == (
        "http://lab:8000/v1",
        "secret",
        "qwen3:8b",
    )
