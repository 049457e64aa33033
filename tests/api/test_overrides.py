"""What a script says for one message only: another model, another system message."""

from __future__ import annotations

from agents.models import Run
from tests.support.api_client import Api
from tests.support.fake_openai import FakeOpenAI, text


def send(api: Api, path: str, model: FakeOpenAI, **given: object) -> dict[str, object]:
    """A message, answered; what the model was sent, which is proven."""
    model.script(text("Hello."))
    api.post(f"{path}/messages", {"input": "Hi", **given})
    step = api.get("/steps/?limit=1")[0]
    assert api.get(f"/steps/{step['id']}/trace")["proven"]
    return dict(model.requests[-1])


def test_another_model_answers_one_message(api: Api, plain: str, model: FakeOpenAI) -> None:
    model.models += ["large", "small"]
    usual = send(api, plain, model)["model"]
    assert send(api, plain, model, override_model="openai/small")["model"] == "small"
    assert send(api, plain, model)["model"] == usual
    assert api.get(plain)["model"] != "openai/small"


def test_another_system_message_is_sent_with_one_message(
    api: Api, plain: str, model: FakeOpenAI
) -> None:
    asked = send(api, plain, model, override_system="You are a pirate.")
    messages = asked["messages"]
    assert isinstance(messages, list)
    assert messages[0] == {"role": "system", "content": "You are a pirate."}
    assert asked["tools"], "its tools stay"
    again = send(api, plain, model)["messages"]
    assert isinstance(again, list)
    assert "pirate" not in again[0]["content"]


def test_a_scripts_skills_are_listed_in_the_system_message(
    api: Api, plain: str, model: FakeOpenAI
) -> None:
    skills = [
        {"name": "pdf", "description": "Read PDFs.\nAt length.", "location": "/s/pdf/SKILL.md"},
        {"name": "csv", "description": "Read\ttables.", "location": "/s/csv/SKILL.md"},
    ]
    asked = send(api, plain, model, client_skills=skills)["messages"]
    assert isinstance(asked, list)
    listed = (
        "<available_skills>\n- csv (/s/csv/SKILL.md): Read tables.\n"
        "- pdf (/s/pdf/SKILL.md): Read PDFs.\n</available_skills>\n\n<memory_metadata>"
    )
    assert listed in asked[0]["content"], "after its system prompt"
    again = send(api, plain, model)["messages"]
    assert isinstance(again, list)
    assert "skills" not in again[0]["content"]


def test_the_same_key_with_another_model_is_another_request(
    api: Api, plain: str, model: FakeOpenAI
) -> None:
    model.script(text("Hello."))
    api.post(f"{plain}/messages", {"input": "Hi"}, Idempotency_Key="k")
    other = {"input": "Hi", "override_system": "You are a pirate."}
    api.post(f"{plain}/messages", other, Idempotency_Key="k", expect=409)
    assert Run.objects.count() == 1


def test_what_cannot_be_said_is_refused_by_name(api: Api, plain: str) -> None:
    for given in (
        {"messages": [{"role": "user", "content": "Hi"}]},
        {"top_logprobs": 3},
        {"client_skills": [{"name": "x", "description": "No location."}]},
        {"override_system": "x" * 100_001},
    ):
        detail = api.post(f"{plain}/messages", {"input": "Hi", **given}, expect=422)["detail"]
        assert detail[0]["loc"][1] in {*given, "input"}
