"""Time travel of an agent with several conversations: through all steps, or those of one."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from agents.models import Agent, Conversation
from agents.runs.loop import run_agent
from tests.support.fake_openai import FakeOpenAI, text
from tests.support.pages import at, shown


@pytest.fixture
def second(agent: Agent, model: FakeOpenAI) -> Conversation:
    """Steps 1 and 3 are of the first conversation, 2 and 4 of this one."""
    model.script(*(text(f"Answer {n}.") for n in range(1, 5)))
    second = Conversation.create(agent, title="Pies")
    for number in range(1, 5):
        conversation = second if number % 2 == 0 else agent.first_conversation
        run_agent(conversation.send(f"Question {number}", f"key-{number}").pk)
    return second


def words(web: Client, address: str) -> str:
    return " ".join(shown(web.get(address)).split())


def test_each_step_says_of_which_conversation_it_is(
    web: Client, agent: Agent, second: Conversation
) -> None:
    page = words(web, at("past", agent.pk, 2))
    assert "after step 2 of 4" in page
    assert "In Pies · Only its steps" in page
    assert "In Question 1 · Only its steps" in words(web, at("past", agent.pk, 3))


def test_the_steps_of_one_conversation_are_gone_through_alone(
    web: Client, agent: Agent, second: Conversation
) -> None:
    one = at("past", agent.pk, second.pk, 2)
    assert one in web.get(at("past", agent.pk, 4)).content.decode()
    response = web.get(one)
    page = " ".join(shown(response).split())
    assert "after step 2 of 2" in page
    assert "Steps of Pies · All conversations" in page
    assert "Answer 4." in page
    assert "Answer 3." not in page
    html = response.content.decode()
    assert at("past", agent.pk, 4) in html
    assert f'action="{at("past_at", agent.pk, second.pk)}"' in html
    assert f'data-present="{second.get_absolute_url()}"' in html
    assert web.get(f"{at('past_at', agent.pk, second.pk)}?at=3")["Location"] == (
        second.get_absolute_url()
    )
    fragment = web.get(one, headers={"HX-Request": "true"}).content.decode()
    assert "All conversations" in fragment
    (address,) = {*re.findall(rf"{one}context/messages/", html)}
    assert "Question 4" in web.get(address).content.decode()


def test_a_fork_of_a_conversations_step_is_of_that_step(
    web: Client, agent: Agent, second: Conversation
) -> None:
    web.post(at("past_fork", agent.pk, second.pk, 1), {"name": "Fork"})
    said = Agent.objects.get(name="Fork").messages.values_list("content", flat=True)
    assert list(said) == ["Question 2", "Answer 2."]


def test_an_agent_with_one_conversation_is_not_asked_which(
    web: Client, agent: Agent, model: FakeOpenAI
) -> None:
    model.script(text("Yes."))
    run_agent(agent.send("Alone?", "key").pk)
    assert "Only its steps" not in words(web, at("past", agent.pk, 1))


def test_nobody_else_sees_it(
    bobs_web: Client, agent: Agent, second: Conversation, bob: User
) -> None:
    assert bobs_web.get(at("past", agent.pk, second.pk, 1)).status_code == 404
    other = Agent.objects.create(owner=bob, name="Other")
    assert bobs_web.get(at("past", other.pk, second.pk, 1)).status_code == 404
