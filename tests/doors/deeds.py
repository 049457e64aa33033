"""Deeds that the audit notes: who does them, and the table that they are entered in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db import models
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from agents.models import Agent, AuditEntry, Block
from tests.support.admin_forms import FormOfPage
from tests.support.visitor import PASSWORD

Action = AuditEntry.Action
SECRET = "sesame-open"  # whatever must not be in the audit has this in it
FROM = "203.0.113.9"


class Cast:
    """Who does it: alice has an agent and a block, bob nothing, olga the admin."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        get = request.getfixturevalue
        self.alice: User = get("alice")
        self.bob: User = get("bob")
        self.olga: User = get("operator")
        for person in (self.alice, self.bob, self.olga):
            person.set_password(PASSWORD + SECRET)
            person.save()
        self.web, self.desk = self.browser("alice"), self.browser("olga")
        self.agent: Agent = get("agent")
        self.block: Block = get("team")
        self.tutors = Group.objects.create(name="tutors")
        self.patch: pytest.MonkeyPatch = get("monkeypatch")
        self.folder: Path = get("tmp_path")
        self.settings: Settings = get("settings")
        self.settings.SIGNUP = "invitation"
        self.secrets = [SECRET, "sesame"]

    def browser(self, name: str, password: str = PASSWORD + SECRET) -> Client:
        """Somebody who comes from elsewhere, logged in if the password is right."""
        client = Client(REMOTE_ADDR=FROM)
        client.post(reverse("account_login"), {"login": name, "password": password})
        return client

    def of_person(self, name: str, person: User) -> str:
        return reverse(f"admin:{name}", args=[person.pk])

    def edit_person(self, **changes: Any) -> None:
        """Bob's page in the admin."""
        page = self.of_person("auth_user_change", self.bob)
        form = FormOfPage(self.desk.get(page).content.decode()).fields
        form = {name: value for name, value in (form | changes).items() if value is not None}
        assert self.desk.post(page, form).status_code == 302


Deed = Callable[[Cast], Any]
DEEDS: dict[Action, list[Deed]] = {action: [] for action in Action}
BESIDE: dict[Deed, set[Action]] = {}  # what a deed leaves as well
BEFORE: dict[Deed, Deed] = {}  # what has to be done first


def leaves(action: Action, *beside: Action, first: Deed | None = None) -> Callable[[Deed], Deed]:
    def note(deed: Deed) -> Deed:
        DEEDS[action].append(deed)
        BESIDE[deed] = set(beside)
        BEFORE[deed] = first or (lambda cast: None)
        return deed

    return note


def delete_chosen(cast: Cast, name: str, row: models.Model) -> None:
    chosen = {"action": "delete_selected", "_selected_action": row.pk, "post": "yes"}
    assert cast.desk.post(reverse(f"admin:{name}_changelist"), chosen).status_code == 302
