"""Usage and quotas in the admin, and the agents that take most."""

from __future__ import annotations

import csv
import io
from datetime import date, timedelta
from typing import Any

from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from agents.admin.chart import NAMED
from agents.admin.usage_chart import usage_chart
from agents.models import Agent, AuditEntry, Passage, Quota, Usage
from agents.models.quota_checks import all_meters
from tests.conftest import browser
from tests.support.searching import BY

LIST = reverse("admin:agents_usage_changelist")


def use(user: User, model: str, tokens: int, days_ago: int = 0, **fields: Any) -> None:
    day = date(2026, 10, 31) - timedelta(days=days_ago)
    given = {"endpoint": "openai", "kind": "message", "calls": 1, **fields}
    Usage.objects.create(
        user=user, name=user.username, model=model, day=day, prompt_tokens=tokens, **given
    )


def test_usage_is_listed_filtered_drawn_and_downloaded(
    desk: Client, alice: User, bob: User
) -> None:
    use(alice, "gpt-4o", 1_000, cost=2_500_000, completion_tokens=10)
    use(alice, "tiny", 70, days_ago=3)
    use(bob, "=tiny", 300)
    page = desk.get(LIST)
    html = page.content.decode()
    assert "$2.50" in html
    assert "31 Oct 2026, gpt-4o: 1,010 tokens" in html
    assert "31 Oct 2026, bob: 300 tokens" in html
    for filtered in ({"person": "alice"}, {"day__month": "10", "q": "alice"}):
        assert desk.get(LIST, filtered).context["cl"].result_count == 2, filtered
    assert "bob" not in [name for name, *_ in charted(desk.get(LIST, {"person": "alice"}))]
    sent: Any = desk.get(reverse("admin:usage_csv"), {"person": "bob"})
    assert sent["Content-Disposition"] == 'attachment; filename="usage.csv"'
    (line,) = csv.DictReader(io.StringIO(b"".join(sent.streaming_content).decode()))
    assert (line["day"], line["person"], line["model"]) == ("2026-10-31", "bob", "'=tiny")
    assert (line["prompt_tokens"], line["cost_usd"]) == ("300", "0.000000")


def charted(page: Any) -> list[tuple[str, str, str]]:
    """The names of the chart by person."""
    names: list[tuple[str, str, str]] = page.context_data["charts"][1].names
    return names


def test_a_chart_has_a_bar_for_each_day_and_names_those_who_took_most(alice: User) -> None:
    for number in range(NAMED + 3):
        use(alice, f"model-{number}", 100 * (number + 1), days_ago=number)
    use(alice, "long ago", 5_000, days_ago=200)
    chart = usage_chart("Tokens", Usage.objects.all(), "model")
    assert chart is not None
    assert [name for name, *_ in chart.names] == [
        *(f"model-{number}" for number in range(NAMED + 2, 2, -1)),
        "others",
    ]
    assert len(chart.parts) == NAMED + 3
    assert chart.most == "1,000 tokens"
    assert min(part.y for part in chart.parts) == 0
    assert usage_chart("Tokens", Usage.objects.none(), "model") is None


def test_nobody_writes_usage_and_only_staff_with_the_right_look(
    desk: Client, alice: User, bob: User
) -> None:
    use(alice, "tiny", 10)
    row = Usage.objects.get()
    assert desk.post(reverse("admin:agents_usage_add"), {}).status_code == 403
    assert desk.post(reverse("admin:agents_usage_delete", args=[row.pk]), {}).status_code == 403
    User.objects.filter(pk=bob.pk).update(is_staff=True)
    for address in (LIST, reverse("admin:usage_csv")):
        assert browser(bob).get(address).status_code == 403
    bob.user_permissions.add(Permission.objects.get(codename="view_usage"))
    for address in (LIST, reverse("admin:usage_csv")):
        assert browser(bob).get(address).status_code == 200


def test_a_quota_is_made_in_the_admin_and_holds_at_once(desk: Client, alice: User) -> None:
    assert all_meters(alice.pk) == []
    add = reverse("admin:agents_quota_add")
    refused = desk.post(add, {"user": alice.pk})
    assert "Set at least one limit." in refused.content.decode()
    desk.post(add, {"user": alice.pk, "tokens_a_day": "5000", "dollars_a_month": "2.50"})
    assert [meter.whole for meter in all_meters(alice.pk)] == [
        "5,000 tokens a day",
        "$2.50 a month",
    ]
    again = desk.post(add, {"user": alice.pk, "storage": "5"})
    assert "There is a quota for them already" in again.content.decode()
    assert Quota.objects.count() == 1
    assert AuditEntry.objects.filter(subject__contains="alice").exists()
    shown = desk.get(reverse("admin:agents_quota_changelist")).content.decode()
    assert "alice" in shown
    desk.post(reverse("admin:agents_quota_delete", args=[Quota.objects.get().pk]), {"post": "yes"})
    assert all_meters(alice.pk) == []


def test_an_operator_sees_which_agents_take_most(desk: Client, agent: Agent, bobs: Agent) -> None:
    Passage.insert(agent, "x" * 10_240, by=BY)
    Passage.insert(bobs, "x" * 20_480, by=BY)
    page = desk.get(reverse("storage_agents")).content.decode()
    assert page.index("Planner") < page.index("Tutor")
    assert "20.0\xa0KB" in page
    assert reverse("storage_agents") in desk.get(reverse("storage")).content.decode()
