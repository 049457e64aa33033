"""The admin speaks the language of whoever looks at it; what is stored or downloaded, English."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.admin.utils import flatten_fieldsets
from django.contrib.auth.models import User
from django.core.exceptions import FieldDoesNotExist
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import override
from pytest_django import Settings

from agents.admin.agents import SO_MANY
from agents.models import Agent, AuditEntry, Run

pytestmark = pytest.mark.django_db
GERMAN = {"accept-language": "de"}


@pytest.fixture(autouse=True)
def several(settings: Settings) -> None:
    settings.LANGUAGES = [("en", "English"), ("de", "Deutsch")]


@pytest.mark.parametrize(
    "address",
    [reverse(f"admin:agents_{name}_changelist") for name in ("agent", "run", "quota", "usage")]
    + [reverse(name) for name in ("admin:index", "storage", "storage_agents")],
)
def test_its_pages_are_drawn_in_any_language(desk: Client, agent: Agent, address: str) -> None:
    agent.send("Hello", "key")
    page = desk.get(address, headers=GERMAN)
    assert page.status_code == 200
    assert '<html lang="de"' in page.content.decode()


def test_what_is_noted_and_downloaded_is_english(desk: Client, agent: Agent) -> None:
    chosen = {"action": "trash", "_selected_action": [str(agent.pk)]}
    desk.post(reverse("admin:agents_agent_changelist"), chosen, headers=GERMAN)
    assert LogEntry.objects.get().change_message == "Deleted."
    assert AuditEntry.objects.get(action="changed").details == {"what": "Deleted."}
    file = desk.get(reverse("admin:audit_csv"), headers=GERMAN)
    assert ",agent " in b"".join(file.streaming_content).decode()  # type: ignore[attr-defined]
    history = reverse("admin:agents_agent_history", args=[agent.pk])
    assert "Deleted." in desk.get(history).content.decode()


def test_a_run_is_stopped_in_words_of_the_language(desk: Client, agent: Agent) -> None:
    run = agent.send("Hello", "key")
    Run.objects.filter(pk=run.pk).update(status="done")
    chosen = {"action": "stop", "_selected_action": [str(run.pk)]}
    address = reverse("admin:agents_run_changelist")
    page = desk.post(address, chosen, headers=GERMAN, follow=True)
    (words,) = [str(message) for message in page.context["messages"]]
    assert f"{run.pk}" in words
    assert "%(" not in words


def test_counts_are_in_words() -> None:
    with override("en"):
        assert {str(words % {"number": 1_000, "count": "1,000"}) for words in SO_MANY.values()} == {
            "1,000 deleted.",
            "1,000 restored.",
        }


def shown(request: Any, page: Any) -> set[str]:
    """The names of what a page of the admin has as columns, filters or fields."""
    filters = {each[0] if isinstance(each, tuple) else each for each in page.list_filter}
    sets = [*page.get_fieldsets(request, page.model()), *page.get_fieldsets(request)]
    return {*page.get_list_display(request), *filters, *map(str, flatten_fieldsets(sets))}


def test_all_that_has_a_name_in_the_admin_has_one_in_each_language(db: None) -> None:
    request = RequestFactory().get("/")
    request.user = User(is_staff=True, is_superuser=True, pk=1)
    for kind, page in admin.site._registry.items():
        if kind._meta.app_label != "agents":
            continue
        assert isinstance(kind._meta.verbose_name, Promise), kind
        assert isinstance(kind._meta.verbose_name_plural, Promise), kind
        for name in shown(request, page):
            with suppress(FieldDoesNotExist):
                field: Any = kind._meta.get_field(name)
                if not field.primary_key:
                    assert isinstance(field.verbose_name, Promise), (kind, name)


def test_what_a_run_does_and_died_of_is_said_in_the_language(
    desk: Client, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.admin.shared.translated", lambda words: words and f"«{words}»")
    run = agent.send("Hello", "key")
    Run.objects.filter(pk=run.pk).update(activity="Thinking", error="It broke.")
    address = reverse("admin:agents_run_changelist")
    assert "«Thinking»" in desk.get(address, {"now": "any"}).content.decode()
    shown = desk.get(reverse("admin:agents_run_change", args=[run.pk])).content.decode()
    assert "«It broke.»" in shown
    assert Run.objects.get(pk=run.pk).error == "It broke."
