"""How a model is asked: said by a script in every form, sent to the endpoint, returned."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.api_client import Api
from tests.support.fake_openai import FakeOpenAI, status, text

FORMAT = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}}
SETTINGS = {
    "provider_type": "openai",
    "temperature": 0.3,
    "top_p": 0.9,
    "max_output_tokens": 700,
    "parallel_tool_calls": False,
    "reasoning": {"reasoning_effort": "low"},
    "response_format": FORMAT,
}
ON_THE_WIRE = {
    "temperature": 0.3,
    "top_p": 0.9,
    "max_tokens": 700,
    "parallel_tool_calls": False,
    "reasoning_effort": "low",
    "response_format": FORMAT,
}


def asked(api: Api, model: FakeOpenAI, agent: str) -> dict[str, Any]:
    """What the model is asked when the agent is sent a message, and that it is proven."""
    model.script(text("Hello."))
    api.post(f"/agents/{agent}/messages", {"input": "Hi"})
    step = api.get("/steps/?limit=1")[0]
    assert api.get(f"/steps/{step['id']}/trace")["proven"]
    return {name: model.requests[-1].get(name) for name in ON_THE_WIRE}


@pytest.mark.parametrize(
    "given",
    [
        {"model_settings": SETTINGS},
        {
            "llm_config": {
                "temperature": 0.3,
                "top_p": 0.9,
                "max_tokens": 700,
                "reasoning_effort": "low",
                "parallel_tool_calls": False,
                "response_format": FORMAT,
            }
        },
        {
            "max_tokens": 700,
            "parallel_tool_calls": False,
            "response_format": FORMAT,
            "model_settings": {"temperature": 0.3, "top_p": 0.9, "effort": "low"},
        },
    ],
    ids=["settings", "config", "older"],
)
def test_settings_of_every_form_reach_the_endpoint(
    api: Api, model_at_once: FakeOpenAI, given: dict[str, Any]
) -> None:
    made = api.post("/agents/", {"agent_type": "letta_v1_agent", **given})
    assert made["model_settings"] == SETTINGS
    assert made["llm_config"]["max_tokens"] == 700
    assert made["response_format"] == FORMAT
    assert asked(api, model_at_once, made["id"]) == ON_THE_WIRE


def test_settings_are_changed_one_by_one_and_taken_back(
    api: Api, model_at_once: FakeOpenAI
) -> None:
    agent = api.post("/agents/", {"agent_type": "react_agent", "model_settings": SETTINGS})["id"]
    change = {"temperature": 1.5, "top_p": None, "response_format": None}
    changed = api.patch(f"/agents/{agent}", {"model_settings": change})["model_settings"]
    assert (changed["temperature"], "top_p" in changed) == (1.5, False)
    api.patch(f"/agents/{agent}", {"name": "Sam"})
    sent = asked(api, model_at_once, agent)
    assert sent == ON_THE_WIRE | {
        "temperature": 1.5,
        "top_p": None,
        "response_format": None,
        "parallel_tool_calls": None,  # it has no tools
    }


@pytest.mark.parametrize(
    "wrong",
    [
        {"model_settings": {"temperature": 3}},
        {"model_settings": {"top_p": -1}},
        {"model_settings": {"max_output_tokens": 0}},
        {"model_settings": {"reasoning": {"reasoning_effort": "enormous"}}},
        {"model_settings": {"effort": "enormous"}},
        {"model_settings": {"response_format": {"type": "xml"}}},
        {"model_settings": {"response_format": {"type": "json_schema"}}},
        {"llm_config": {"temperature": -1}},
        {"llm_config": {"verbosity": "loud"}},
        {"max_tokens": 0},
        {"response_format": {}},
    ],
)
def test_a_setting_that_no_model_can_have_is_refused_by_name(
    api: Api, wrong: dict[str, Any]
) -> None:
    (detail,) = api.post("/agents/", wrong, expect=422)["detail"]
    (field,) = wrong
    assert detail["loc"][:2] == ["body", field]
    assert "must be" in detail["msg"] or "needs" in detail["msg"]


def test_an_option_that_an_endpoint_refuses_is_left_out_from_then_on(
    api: Api, model_at_once: FakeOpenAI
) -> None:
    settings = {"temperature": 0.3, "top_p": 0.9, "max_output_tokens": 700}
    agent = api.post("/agents/", {"agent_type": "react_agent", "model_settings": settings})["id"]
    words = "Unsupported parameter: '{}' is not supported with this model."
    model_at_once.script(
        status(400, words.format("temperature")), status(400, words.format("top_p")), text("Hello.")
    )
    api.post(f"/agents/{agent}/messages", {"input": "Hi"})
    sent = [
        [name in body for name in ("temperature", "top_p", "max_tokens")]
        for body in model_at_once.requests
    ]
    assert sent == [[True, True, True], [False, True, True], [False, False, True]]
    assert asked(api, model_at_once, agent)["temperature"] is None, "it is remembered"
