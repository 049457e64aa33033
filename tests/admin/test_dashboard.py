"""The dashboard of the admin: its numbers are those of the rows, and it asks for them by few
statements, however many rows there are."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from agents.admin.dashboard import DAYS, ENDS, NO_WORK, SHOWN
from agents.models import Agent, Run, Usage
from agents.models.usage import today
from tests.conftest import browser

pytestmark = pytest.mark.django_db
PAGE = reverse("admin:index")


def ended(agent: Agent, reason: str, days_ago: int = 0, count: int = 1, **fields: Any) -> None:
    """Runs of an agent that ended, so many days ago."""
    rows = [
        Run(
            agent=agent,
            conversation=agent.conversations.get(),
            key=f"{reason} {days_ago} {number} {fields}",
            status="failed" if reason == "error" else "done",
            reason=reason,
            **fields,
        )
        for number in range(count)
    ]
    made = Run.objects.bulk_create(rows)
    moment = timezone.now() - timedelta(days=days_ago)
    Run.objects.filter(pk__in=[run.pk for run in made]).update(created_at=moment)


def going_on(agent: Agent, status: str, **fields: Any) -> Run:
    run = agent.send("My secret wish", status)
    Run.objects.filter(pk=run.pk).update(status=status, **fields)
    return run


def shown(page: Any, title: str) -> tuple[dict[str, str], dict[str, list[str]]]:
    """A chart: the sums in its legend, and the rows of its table that are not all nothing."""
    (chart,) = [each for each in page.context["charts"] if each.title == title]
    table = {str(day): cells for day, cells in chart.table if set(cells) - {"0", "$0"}}
    return {name: words for name, _, words in chart.names}, table


def test_the_numbers_are_those_of_the_rows(desk: Client, agent: Agent, bobs: Agent) -> None:
    ended(agent, "end_turn", count=3)
    ended(bobs, "end_turn", days_ago=2)
    ended(agent, "error", days_ago=2, count=2, error="The endpoint refused the key (401).")
    ended(bobs, "error", error="The endpoint did not answer within 60 s.")
    ended(agent, "end_turn", days_ago=DAYS)  # too long ago
    ended(agent, "forked", count=5)  # copied, not run
    for day, model, tokens, cost in ((0, "big", 1_000, 2_500_000), (1, "free", 70, 0)):
        Usage.objects.create(
            day=today() - timedelta(days=day),
            name="alice",
            model=model,
            prompt_tokens=tokens,
            completion_tokens=10,
            cost=cost,
        )
    page = desk.get(PAGE)
    sums, table = shown(page, "Runs by how they ended")
    now, before = str(today()), str(today() - timedelta(days=2))
    assert sums == {"answered": "4", "failed": "3"}
    assert table == {now: ["3", "1"], before: ["1", "2"]}
    assert shown(page, "Tokens by model")[0] == {"big": "1,010", "free": "80"}
    assert shown(page, "Cost by model")[0]["big"] == "$2.50"
    failures = [(failure.error, failure.runs) for failure in page.context["failures"]]
    assert failures == [
        ("The endpoint refused the key (401).", 2),
        ("The endpoint did not answer within 60 s.", 1),
    ]
    html = page.content.decode()
    assert f"{today():%-d %b %Y}, answered: 3 runs" in html
    assert f"{today():%-d %b %Y}, failed: 1 run<" in html
    assert html.count("<table") >= 4  # one beside each chart, for who does not see it


def test_runs_that_wait_or_are_stuck_lead_to_where_one_acts(
    desk: Client, agent: Agent, bobs: Agent
) -> None:
    long_ago = timezone.now() - timedelta(hours=1)
    stuck = going_on(agent, "running", seen_at=long_ago, started_at=long_ago)
    waiting = going_on(bobs, "waiting")
    page = desk.get(PAGE)
    html = re.sub(r"\s+", " ", page.content.decode())
    for count, words, state in (
        (1, "running", "running"),
        (1, "waiting for a person or a script", "waiting"),
        (0, "queued", "queued"),
        (1, "stuck", "stuck"),
    ):
        link = (
            f'href="{reverse("admin:agents_run_changelist")}?now={state}"> <b>{count}</b> {words}'
        )
        assert link in html, words
    assert page.context["attention"] == [stuck, waiting]
    assert f'href="{reverse("admin:agents_run_change", args=[waiting.pk])}"' in html
    assert "My secret wish" not in html


def test_it_asks_by_few_statements_and_shows_few_rows(desk: Client, agent: Agent) -> None:
    ended(agent, "end_turn")
    ended(agent, "error", error="One.")
    Usage.objects.create(day=today(), model="one", prompt_tokens=1)
    with CaptureQueriesContext(connection) as few:
        desk.get(PAGE)
    for number in range(3 * SHOWN):
        ended(agent, "error", days_ago=number % DAYS, count=5, error=f"Error {number}.")
        Usage.objects.create(day=today(), model=f"model {number}", prompt_tokens=1)
    with CaptureQueriesContext(connection) as many:
        page = desk.get(PAGE)
    assert len(many) == len(few) <= 16, [each["sql"] for each in many]
    assert len(page.context["failures"]) == SHOWN
    assert all(len(chart.names) <= 8 for chart in page.context["charts"])


def test_each_reason_is_drawn_or_no_work() -> None:
    assert {*ENDS, *NO_WORK} == set(Run.Reason)


def test_staff_sees_what_it_has_the_right_to(web: Client, agent: Agent, bob: User) -> None:
    ended(agent, "end_turn")
    Usage.objects.create(day=today(), model="big", prompt_tokens=1)
    assert web.get(PAGE).status_code == 302
    User.objects.filter(pk=bob.pk).update(is_staff=True)
    page = browser(bob).get(PAGE)
    assert (page.status_code, page.context["charts"]) == (200, [])
    assert "now" not in page.context
    bob.user_permissions.add(Permission.objects.get(codename="view_usage"))
    assert [each.title for each in browser(bob).get(PAGE).context["charts"]] == ["Tokens by model"]
    bob.user_permissions.add(Permission.objects.get(codename="view_run"))
    assert len(browser(bob).get(PAGE).context["charts"]) == 2


def test_a_chart_is_drawn_in_any_language(desk: Client, agent: Agent, settings: Settings) -> None:
    settings.LANGUAGES = [("en", "English"), ("de", "Deutsch")]
    ended(agent, "end_turn", count=2)
    ended(agent, "error")
    html = desk.get(PAGE, headers={"accept-language": "de"}).content.decode()
    bars = re.findall(r'<rect x="([^"]*)"\s+y="([^"]*)"\s+width="([^"]*)"\s+height="([^"]*)"', html)
    assert len(bars) == 2
    assert all(re.fullmatch(r"-?\d+(\.\d+)?", number) for bar in bars for number in bar), bars
    assert re.search(r'<body class="[^"]*\boverview\b', html)
