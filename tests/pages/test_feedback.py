"""What a person thinks of a step, said in the page."""

from __future__ import annotations

from django.test import Client
from django.urls import reverse

from agents.models import Agent, Step
from tests.conftest import Ask
from tests.support.fake_openai import FakeOpenAI, text


def test_a_step_is_called_good_or_bad_and_that_is_taken_back(
    web: Client, bobs_web: Client, agent: Agent, ask: Ask, model: FakeOpenAI
) -> None:
    model.script(text("Hi."))
    step = ask("Hello").steps.get()
    address = reverse("step_feedback", args=[agent.pk, step.pk])

    def say(verdict: str) -> str | None:
        assert web.post(address, {"verdict": verdict}).status_code == 302
        return Step.objects.get(pk=step.pk).verdict

    assert say("positive") == "positive"
    assert 'aria-pressed="true"' in web.get(f"/agents/{agent.pk}/").content.decode()
    assert say("negative") == "negative"
    assert not say("")
    assert web.post(address, {"verdict": "so-so"}).status_code == 422
    assert bobs_web.post(address, {"verdict": "positive"}).status_code == 404
