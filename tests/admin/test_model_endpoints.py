"""Endpoints in the admin: defined, changed and tried out."""

from __future__ import annotations

from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from agents.llm import resolve
from agents.llm.prices import Price, price_of
from agents.models import ModelEndpoint, PersonalKey, Usage
from tests.conftest import browser
from tests.support.admin_forms import FormOfPage, address, opened, saved
from tests.support.defined_endpoints import define
from tests.support.fake_openai import FakeOpenAI, calls, refuse_connection, status, text
from tests.support.pages import shown

NEW = reverse("admin:agents_modelendpoint_add")


def trial_of(desk: Client, row: ModelEndpoint, model: str = "") -> str:
    """The page after the button Test; the row is read anew."""
    page = desk.post(reverse("admin:endpoint_test", args=[row.pk]), {"model": model})
    row.refresh_from_db()
    return shown(page)


def test_an_administrator_defines_an_endpoint_and_agents_use_it(
    desk: Client, alice: User, model: FakeOpenAI
) -> None:
    form = FormOfPage(desk.get(NEW).content.decode()).fields
    form |= {
        "name": "lab",
        "base_url": f"{model.base_url}/",
        "key": "sk-lab",
        "options": "#ids=nine",
    }
    form |= {"listed-0-name": "fake-model", "listed-0-context_window": "9000"}
    form |= {"listed-0-prompt_price": "0.15", "listed-0-completion_price": "0.6"}
    assert desk.post(NEW, form).status_code == 302
    endpoint, name = resolve("lab/fake-model", alice.pk)
    assert (endpoint.base_url, endpoint.api_key) == (model.base_url, "sk-lab")
    assert endpoint.options == (("ids", "nine"),)
    assert price_of(name, endpoint) == Price(0.15, 0.6)
    row = ModelEndpoint.objects.get()
    page = desk.get(address(row)).content.decode()
    assert "A key is stored, encrypted. It is never shown" in page
    assert "sk-lab" not in page
    assert row.api_key not in page
    assert "lab" in shown(desk.get(reverse("admin:agents_modelendpoint_changelist")))


def test_a_key_stays_unless_another_one_is_entered_or_it_is_removed(desk: Client) -> None:
    row = define(key="sk-lab")
    form = opened(desk, row)
    assert form["key"] == ""
    saved(desk, row, form)
    assert row.key() == "sk-lab"
    saved(desk, row, form, key="sk-new")
    assert row.key() == "sk-new"
    refused = saved(desk, row, form, key="sk new")
    assert "no spaces within" in shown(refused)
    assert "sk new" not in refused.content.decode()
    refused = saved(desk, row, form, base_url="http://evil/v1")
    assert "must not get the key of the old one" in shown(refused)
    assert row.key() == "sk-new"
    saved(desk, row, form, remove_key="on")
    assert row.key() == ""
    changes = [each.get_change_message() for each in LogEntry.objects.order_by("pk")]
    assert changes == ["No fields changed.", "Changed API key.", "Changed Remove the key."]


def test_what_cannot_be_is_said_beside_the_field(desk: Client) -> None:
    row = define()
    define("other", is_default=True)
    form = opened(desk, row)
    for changes, words in (
        ({"options": "colour=red"}, "An unknown property 'colour'"),
        ({"name": "demo"}, "is the name of an endpoint of the environment, or reserved"),
        ({"is_default": "on"}, "Another endpoint is the default one. Unselect it there first."),
        ({"listed-0-name": "a", "listed-0-prompt_price": "1"}, "Enter both prices, or none."),
    ):
        assert words in shown(saved(desk, row, form, **changes)), changes


# -- the button Test ---------------------------------------------------------------------------


def test_the_button_says_what_was_tried_and_keeps_it_as_health(
    desk: Client, operator: User, model: FakeOpenAI
) -> None:
    row = define(base_url=model.base_url, key="sk-lab")
    model.script(text("1 2 3 4 5 6 7 8 9"), calls(("note_colour", {"colour": "blue"})))
    page = trial_of(desk, row, "fake-model")
    for words in (
        "It lists 1 model, after",
        "'fake-model' streams:",
        "'fake-model' calls tools.",
        "Its context window has 32,000 tokens, which is taken where nothing is known.",
        "Nobody has said what it costs",
        "all is well",
    ):
        assert words in page, words
    assert row.healthy
    assert "calls tools" in row.health
    assert row.checked_at
    asked = Usage.objects.get(user=operator)
    assert (asked.kind, asked.model) == (Usage.Kind.CHECK, "fake-model")
    assert "Tested." in shown(desk.get(address(row, "history")))
    assert "calls tools" in shown(desk.get(address(row)))


def test_a_model_that_cannot_do_what_agents_need_is_told(desk: Client, model: FakeOpenAI) -> None:
    row = define(base_url=model.base_url)
    model.script(text("1 2 3"), text("Blue it is"))
    page = trial_of(desk, row, "fake-model")
    assert "called no tool though it was asked to" in page
    assert "something is wrong" in page
    assert row.healthy is False
    model.unlisted = ["other"]
    assert "'other' is not among them" in trial_of(desk, row, "other")


def test_a_refusal_teaches_as_it_does_in_a_run(desk: Client, model: FakeOpenAI) -> None:
    row = define(base_url=model.base_url)
    refusal = status(400, "tool_choice is not supported by this model")
    model.script(text("1 2 3"), refusal, calls(("note_colour", {"colour": "blue"})))
    assert "calls tools." in trial_of(desk, row, "fake-model")
    assert "tool_choice" in model.requests[-2]
    assert "tool_choice" not in model.requests[-1]


def test_an_endpoint_that_does_not_answer_is_told(desk: Client, model: FakeOpenAI) -> None:
    row = define(base_url=refuse_connection())
    assert "Nothing answers at" in trial_of(desk, row)
    assert row.healthy is False
    row = define("broken", base_url=model.base_url)
    model.script(*[status(500, "Out of memory")] * 9)
    assert "failed (500: Out of memory)" in trial_of(desk, row, "fake-model")


def test_an_administrators_own_key_is_used_where_there_is_no_other(
    desk: Client, operator: User, model: FakeOpenAI
) -> None:
    row = define(base_url=model.base_url, own_keys="required")
    assert "takes only keys of people's own" in trial_of(desk, row)
    PersonalKey.put(operator, row, "sk-olga")
    model.script(text("1 2 3"), calls(("note_colour", {"colour": "blue"})))
    page = trial_of(desk, row)
    assert "your own key" in page
    assert "calls tools" in page


def test_only_whoever_may_change_endpoints_tests_them(accounts: None, bob: User) -> None:
    row = define()
    bob.is_staff = True
    bob.save()
    bob.user_permissions.add(Permission.objects.get(codename="view_modelendpoint"))
    page = browser(bob)
    assert page.get(address(row)).status_code == 200
    assert page.post(reverse("admin:endpoint_test", args=[row.pk])).status_code == 403
