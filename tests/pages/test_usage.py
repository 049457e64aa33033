"""What a person sees of their usage and quotas."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from agents.live.frames import render_list
from agents.models import Agent, Quota, Usage
from tests.support.pages import at, shown

LOW = "15,000 of 100,000 tokens a day are left."


def use(user: User, tokens: int, cost: int = 0, model: str = "gpt-4o") -> None:
    spent = Usage(endpoint="openai", model=model, kind="message", prompt_tokens=tokens, cost=cost)
    Usage.add(user.pk, spent)


def line(html: str) -> str:
    """The line about quotas, from a page or from what a socket sends."""
    found = re.search(r'<p class="quota-line">.*?</p>', html, re.DOTALL)
    return re.sub(r"\s+", " ", found[0]) if found else ""


def test_the_page_has_what_is_left_and_what_was_used(web: Client, alice: User) -> None:
    team = Group.objects.create(name="Writers")
    team.user_set.add(alice)
    Quota.objects.create(tokens_a_day=100_000, messages_a_minute=20, runs_at_once=2, storage=50)
    Quota.objects.create(group=team, dollars_a_month=5)
    use(alice, 85_000, cost=4_250_000)
    use(alice, 100, model="tiny")
    page = shown(web.get(at("usage")))
    assert "100,000 tokens a day 14,900 tokens left 85.1 % 85,100 tokens used." in page
    assert "$5.00 a month of the group Writers $0.75 left" in page
    assert "50 MB of storage 0 % 0.0 MB used." in page
    assert "You may send 20 messages a minute and have 2 agents at work at once." in page
    assert "gpt-4o openai 1 85,000 0 $4.25" in page
    assert "Answering messages 2 85,100 0 $4.25" in page
    account = shown(web.get(at("account")))
    assert "Usage 85,100 tokens this month" in account


def test_without_quotas_the_page_says_so_and_nobody_sees_anothers(web: Client, bob: User) -> None:
    use(bob, 7_777)
    page = shown(web.get(at("usage")))
    assert "No quota limits you." in page
    assert "7,777" not in page


@pytest.mark.parametrize(
    ("used", "words"),
    [
        (79_000, ""),
        (85_000, LOW),
        (100_001, "100,000 tokens a day are used up."),
    ],
)
def test_the_chat_says_when_little_is_left(
    used: int, words: str, web: Client, agent: Agent, alice: User
) -> None:
    Quota.objects.create(tokens_a_day=100_000, tokens_a_month=10_000_000)
    use(alice, used)
    page = line(web.get(at("agent", agent)).content.decode())
    sent = line(render_list(alice, agent.pk, agent.pk))
    assert words in page
    assert page == sent, "a reload shows what a socket brought"
    assert bool(page) == bool(words)


def test_where_no_quota_applies_the_chat_asks_nothing_about_it(
    web: Client, agent: Agent, alice: User, bob: User
) -> None:
    Quota.objects.create(user=bob, tokens_a_day=10)
    web.get(at("agent", agent))
    with CaptureQueriesContext(connection) as caught:
        web.get(at("agent", agent))
        render_list(alice, agent.pk, agent.pk)
    asked = [each["sql"] for each in caught if "agents_usage" in each["sql"]]
    assert asked == [each["sql"] for each in caught if "agents_quota" in each["sql"]] == []
