"""User names: none can be taken for another person's."""

from __future__ import annotations

import html

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from tests.support.sign_up import sign_up
from tests.support.visitor import PASSWORD

pytestmark = pytest.mark.usefixtures("accounts")


MIXED = "аlice"  # the first letter is Cyrillic
BAD_NAMES = {
    "bob@example.com": "no '@'",
    "bob＠example.com": "no '@'",
    MIXED: "mixes letters of several scripts (Cyrillic and Latin)",
    "Αlice": "(Greek and Latin)",
    "alice\N{HANGUL FILLER}": "invisible letter",
    "ｏｗｎｅｒ": "taken",
}


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_name_that_could_be_taken_for_anothers_is_refused(
    name: str, alice: User, desk: Client
) -> None:
    _, page = sign_up(name)
    assert BAD_NAMES[name] in html.unescape(page.content.decode())
    form = {"username": name, "password1": PASSWORD, "password2": PASSWORD}
    page = desk.post(reverse("admin:auth_user_add"), form | {"usable_password": "true"})
    assert BAD_NAMES[name] in html.unescape(page.content.decode())
    assert set(User.objects.values_list("username", flat=True)) == {"alice", "olga"}


@pytest.mark.parametrize("name", ["alice", "Ａｌｉｃｅ", "ALICE", "ａlice"])
def test_another_way_to_write_a_name_is_the_same_name(name: str, alice: User) -> None:
    _, page = sign_up(name)
    assert "A user with that username already exists" in html.unescape(page.content.decode())
    assert User.objects.count() == 1


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("ｃａｒｏｌ", "carol"),
        ("ﬁona", "fiona"),
        ("josé.2", "josé.2"),
        ("Ольга-7", "Ольга-7"),
        ("佐々木ひなカ", "佐々木ひなカ"),
        ("김철수", "김철수"),
        ("Γιώργος", "Γιώργος"),
        ("x_+.-9", "x_+.-9"),
    ],
)
def test_a_name_of_one_script_is_kept_in_its_normal_form(given: str, kept: str, db: None) -> None:
    sign_up(given)
    assert User.objects.get().username == kept


def test_an_older_name_may_stay_but_is_not_changed_to_a_bad_one(desk: Client, alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(username="alice@example.com")
    address = reverse("admin:auth_user_change", args=[alice.pk])
    form = {"date_joined_0": "2026-01-01", "date_joined_1": "10:00:00"}
    assert desk.post(address, form | {"username": "alice@example.com"}).status_code == 302
    alice.refresh_from_db()
    assert not alice.is_active  # the box was not ticked
    assert "no '@'" in html.unescape(
        desk.post(address, form | {"username": "bob@example.com"}).content.decode()
    )
