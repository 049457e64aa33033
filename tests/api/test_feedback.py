"""What a person thinks of a step, as scripts say it and read it."""

from __future__ import annotations

from django.contrib.auth.models import User

from agents.models import Event
from tests.support.api_client import Api, chat
from tests.support.fake_openai import FakeOpenAI


def test_a_step_is_judged_and_found_by_its_feedback(
    api: Api, path: str, model: FakeOpenAI, bob: User
) -> None:
    chat(api, path, model, 2)
    second, first = (step["id"] for step in api.get("/steps/"))
    assert api.get(f"/steps/{first}")["feedback"] is None
    judged = api.patch(f"/steps/{first}/feedback", {"feedback": "negative", "tags": ["rude"]})
    assert (judged["feedback"], judged["tags"]) == ("negative", ["rude"])
    assert api.get(f"/steps/{first}") == judged
    api.patch(f"/steps/{second}/feedback", {"feedback": "positive"})

    def found(query: str) -> list[str]:
        return [step["id"] for step in api.get(f"/steps/?{query}")]

    assert found("feedback=negative") == [first]
    assert found("feedback=positive") == [second]
    assert found("has_feedback=true") == [second, first]
    api.patch(f"/steps/{first}/feedback", {"feedback": None})
    assert found("has_feedback=true") == [second]
    assert found("has_feedback=false") == [first]
    assert api.get(f"/steps/{first}")["tags"] == []
    Api(bob).patch(f"/steps/{first}/feedback", {"feedback": "positive"}, expect=404)


def test_feedback_is_positive_or_negative(api: Api, path: str, model: FakeOpenAI) -> None:
    chat(api, path, model, 1)
    (step,) = api.get("/steps/")
    before = Event.objects.count()
    for wrong in (
        {"feedback": "great"},
        {"tags": ["rude"]},
        {"feedback": "positive", "tags": [""]},
    ):
        api.patch(f"/steps/{step['id']}/feedback", wrong, expect=422)
    assert Event.objects.count() == before
    assert api.get(f"/steps/{step['id']}") == step


def test_a_fork_and_an_agent_file_keep_feedback(api: Api, path: str, model: FakeOpenAI) -> None:
    chat(api, path, model, 1)
    (step,) = api.get("/steps/")
    api.patch(f"/steps/{step['id']}/feedback", {"feedback": "positive", "tags": ["kind"]})
    file = api.get(f"{path}/export")
    (entry,) = file["memoryweb"]["agents"]["agent-0"]["runs"][0]["steps"]
    assert entry["feedback"] == {"verdict": "positive", "tags": ["kind"]}
    agent = path.rpartition("/")[2]
    forked = api.post(f"/conversations/conv-{agent.removeprefix('agent-')}/fork")["id"]
    runs = api.get(f"/runs/?conversation_id={forked}")
    (copied,) = api.get(f"/runs/{runs[0]['id']}/steps")
    assert (copied["feedback"], copied["tags"]) == ("positive", ["kind"])
