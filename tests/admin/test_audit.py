"""What an entry of the audit says, and who reads it where."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.urls import reverse

from agents.admin.audit import COLUMNS, rows
from agents.admin.audited import Audited
from agents.admin.csv_file import safe
from agents.models import AuditEntry, Token
from tests.conftest import browser
from tests.doors.deeds import FROM, Action, Cast
from tests.doors.deeds_of_owners import back_up, share_an_agent

pytestmark = pytest.mark.usefixtures("accounts", "db")

# -- what an entry says ----------------------------------------------------------------------------


def test_an_entry_says_who_did_what_to_whom_and_from_where(request: pytest.FixtureRequest) -> None:
    cast = Cast(request)
    share_an_agent(cast)
    entry = AuditEntry.objects.get(action=Action.SHARED)
    assert (entry.user, entry.name, entry.person) == (cast.alice, "alice", cast.bob)
    assert (entry.kind, entry.subject, entry.key) == ("agent", "Tutor", str(cast.agent.pk))
    assert (entry.address, entry.details) == (FROM, {"role": "viewer", "with": "bob"})
    assert str(entry) == "alice: shared agent Tutor"
    back_up(cast)
    assert AuditEntry.objects.latest("pk").name == "command line"


def test_what_is_not_done_is_not_noted(request: pytest.FixtureRequest) -> None:
    cast = Cast(request)
    AuditEntry.objects.all().delete()
    cast.web.get(reverse("account"))
    cast.edit_person()
    cast.web.post(reverse("secret_delete", args=[cast.agent.pk]), {"name": "NONE"})
    page = reverse("agent_sharing", args=[cast.agent.pk])
    assert cast.web.post(page, {"name": "nobody", "role": "1"}).status_code == 422
    assert not AuditEntry.objects.exists()


def test_names_stay_when_accounts_go(request: pytest.FixtureRequest) -> None:
    cast = Cast(request)
    share_an_agent(cast)
    cast.desk.post(cast.of_person("auth_user_delete", cast.alice), {"post": "yes"})
    cast.desk.post(cast.of_person("auth_user_delete", cast.bob), {"post": "yes"})
    entry = AuditEntry.objects.get(action=Action.SHARED)
    assert (entry.user, entry.person, entry.name) == (None, None, "alice")
    assert entry.details["with"] == "bob"
    cast.desk.post(cast.of_person("auth_user_delete", cast.olga), {"post": "yes"})
    entry = AuditEntry.objects.get(action=Action.ACCOUNT_DELETED, subject="olga")
    assert (entry.user, entry.name) == (None, "olga")


# -- where it is read ------------------------------------------------------------------------------


def test_the_admin_shows_filters_searches_and_hands_out_the_audit_and_changes_nothing(
    request: pytest.FixtureRequest,
) -> None:
    cast = Cast(request)
    AuditEntry.objects.all().delete()
    cast.agent.configure(name="=HYPERLINK(1)")
    share_an_agent(cast)
    cast.browser("bob")
    page = reverse("admin:agents_auditentry_changelist")
    everything = cast.desk.get(page).content.decode()
    assert "shared" in everything
    assert "with: bob" in everything
    assert cast.desk.get(page, {"action": "logged_in"}).context["cl"].result_count == 1
    assert cast.desk.get(page, {"name": "alice"}).context["cl"].result_count == 1
    for words in ("viewer", FROM, str(cast.agent.pk)):
        assert "shared" in cast.desk.get(page, {"q": words}).content.decode(), words
    sent: Any = cast.desk.get(reverse("admin:audit_csv"), {"action": "shared"})
    (line,) = csv.DictReader(io.StringIO(b"".join(sent.streaming_content).decode()))
    assert (line["who"], line["did"], line["whose"]) == ("alice", "shared", "bob")
    entry = AuditEntry.objects.get(action=Action.SHARED)
    assert (
        cast.desk.get(reverse("admin:agents_auditentry_change", args=[entry.pk])).status_code == 200
    )
    for name, args in (("add", []), ("delete", [entry.pk])):
        address = reverse(f"admin:agents_auditentry_{name}", args=args)
        assert cast.desk.post(address, {"post": "yes"}).status_code == 403
    User.objects.filter(pk=cast.bob.pk).update(is_staff=True)
    for address in (page, reverse("admin:audit_csv")):
        assert browser(cast.bob).get(address).status_code == 403


def test_no_cell_of_the_file_is_a_formula(alice: User) -> None:
    Token.make(alice, "=1+1", ["read"])
    AuditEntry.objects.filter(action=Action.TOKEN_MADE).update(name="@SUM(A1)")
    (cells,) = rows(AuditEntry.objects.filter(kind="token"))
    line = dict(zip(COLUMNS, map(safe, cells), strict=True))
    assert (line["who"], line["what"]) == ("'@SUM(A1)", "token =1+1")


def test_people_see_their_own_log_ins_and_rights(request: pytest.FixtureRequest) -> None:
    cast = Cast(request)
    share_an_agent(cast)
    page = browser(cast.bob).get(reverse("activity")).content.decode()
    assert "Shared: agent Tutor" in page
    assert "by alice" in page
    assert FROM not in page  # where somebody else was
    hers = cast.web.get(reverse("activity")).content.decode()
    assert FROM in hers
    assert (
        "olga"
        not in browser(User.objects.create_user("carol")).get(reverse("activity")).content.decode()
    )


def test_every_page_of_the_admin_that_changes_rows_is_audited() -> None:
    changing = [page for page in admin.site._registry.values() if not isinstance(page, Audited)]
    assert [str(page) for page in changing if page.model._meta.app_label != "procrastinate"] == []
