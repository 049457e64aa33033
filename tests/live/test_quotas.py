"""What an open page is told of its person's quotas."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from django.contrib.auth.models import User

from agents.asyncio_bridge import in_thread
from agents.live.fragments import drawn
from agents.models import Agent, Quota, Run
from agents.models.quota_checks import lowest_meter
from tests.support.fake_openai import FakeOpenAI, text
from tests.support.followed_page import Open
from tests.support.quotas import use

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("runs_are_executed_here", "runs_end", "list_comes_soon"),
]
LINE = re.compile(r'<p class="quota-line">.*?</p>', re.DOTALL)


async def test_a_message_that_is_too_much_is_refused_and_stays_in_the_page(
    agent: Agent, alice: User, model: FakeOpenAI, open_page: Open
) -> None:
    await in_thread(use, alice, 5_000)
    await in_thread(lambda: Quota.objects.create(tokens_a_day=5_000))
    page = await open_page(agent)
    await page.say(command="send", agent=str(agent.pk), text="Hello", key="k")
    frame = await page.hear_refusal()
    assert frame["refused"] == "k"
    assert "You have used up your 5,000 tokens a day." in frame["content"]
    assert not await in_thread(Run.objects.exists)


async def test_a_page_says_when_little_is_left_as_a_reload_does(
    agent: Agent, alice: User, model: FakeOpenAI, open_page: Open
) -> None:
    await in_thread(lambda: Quota.objects.create(tokens_a_day=10_000))
    model.script(replace(text("Hi"), usage=(8_900, 100)))
    page = await open_page(agent)
    await page.send(agent, "Hello")
    frame = await page.hear_until(lambda frame: "quota-line" in frame.get("content", ""))
    sent = LINE.findall(frame["content"])
    assert "1,000 of 10,000 tokens a day are left." in re.sub(r"\s+", " ", sent[0])
    left = await in_thread(lowest_meter, alice.pk)  # as the page's view has it
    assert LINE.findall(drawn("agents/_quota.html", quota=left)) == sent
