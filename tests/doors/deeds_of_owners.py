"""Deeds about rights, keys and exports, and in the admin."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any

from django.core.management import call_command
from django.urls import reverse

from agents.management import archive
from agents.management.commands import backup, restore
from agents.models import AgentShare, ModelEndpoint, Run, Token
from tests.conftest import browser
from tests.support.admin_forms import opened, saved
from tests.support.api_client import Api
from tests.support.defined_endpoints import define
from tests.support.visitor import PASSWORD

from .deeds import SECRET, Action, Cast, delete_chosen, leaves

# -- rights ----------------------------------------------------------------------------------------


@leaves(Action.SHARED)
def share_an_agent(cast: Cast) -> None:
    page = reverse("agent_sharing", args=[cast.agent.pk])
    assert cast.web.post(page, {"name": "bob", "role": "1"}).status_code == 302


@leaves(Action.SHARED)
def share_a_block_with_a_group(cast: Cast) -> None:
    page = reverse("share_add", args=[cast.block.pk])
    assert cast.web.post(page, {"name": "tutors", "access": "read"}).status_code == 302


@leaves(Action.SHARE_CHANGED, first=share_an_agent)
def change_a_role(cast: Cast) -> None:
    page = reverse("agent_sharing", args=[cast.agent.pk])
    assert cast.web.post(page, {"name": "bob", "role": "2"}).status_code == 302


def bob_gets_an_agent(cast: Any) -> None:
    share_an_agent(cast)
    cast.bobs_web = browser(cast.bob)


@leaves(Action.SHARE_ENDED, first=bob_gets_an_agent)
def leave_an_agent(cast: Any) -> None:
    bobs_web = cast.bobs_web
    assert bobs_web.post(reverse("agent_leave", args=[cast.agent.pk])).status_code == 302


@leaves(Action.SHARE_ENDED, first=share_an_agent)
def stop_sharing(cast: Cast) -> None:
    share = AgentShare.objects.get()
    cast.web.post(reverse("agent_share_stop", args=[cast.agent.pk, share.pk]))


@leaves(Action.GROUP_JOINED)
def put_into_a_group(cast: Cast) -> None:
    cast.edit_person(groups=[cast.tutors.pk])


@leaves(Action.GROUP_LEFT, first=lambda cast: cast.bob.groups.add(cast.tutors))
def take_out_of_a_group(cast: Cast) -> None:
    cast.edit_person(groups=None)


@leaves(Action.GROUP_LEFT, first=lambda cast: cast.bob.groups.add(cast.tutors))
def empty_a_group(cast: Cast) -> None:
    cast.tutors.user_set.clear()


@leaves(Action.RIGHTS_CHANGED)
def make_an_administrator(cast: Cast) -> None:
    cast.edit_person(is_staff="on", is_superuser="on")


@leaves(Action.RIGHTS_CHANGED)
def disable(cast: Cast) -> None:
    assert cast.desk.post(cast.of_person("person_leave", cast.bob), {"disable": "1"})


@leaves(Action.RIGHTS_CHANGED)
def let_a_group_see_runs(cast: Cast) -> None:
    page = reverse("admin:auth_group_change", args=[cast.tutors.pk])
    assert cast.desk.post(page, {"name": "tutors", "permissions": ["1"]}).status_code == 302


@leaves(Action.HANDED_OVER)
def hand_over(cast: Cast) -> None:
    page = cast.of_person("person_leave", cast.alice)
    assert cast.desk.post(page, {"to": cast.bob.pk}).status_code == 302


# -- keys ------------------------------------------------------------------------------------------


@leaves(Action.TOKEN_MADE)
def make_a_token(cast: Cast) -> None:
    page = cast.web.post(reverse("tokens"), {"name": "script", "scopes": ["read"]})
    cast.secrets.append(page.context["secret"])


@leaves(Action.TOKEN_DELETED, first=make_a_token)
def revoke_a_token(cast: Cast) -> None:
    cast.web.post(reverse("token_revoke", args=[Token.objects.get().pk]))


@leaves(Action.TOKEN_DELETED, Action.PASSWORD_CHANGED, first=make_a_token)
def revoke_with_the_password(cast: Cast) -> None:
    old, new = PASSWORD + SECRET, SECRET * 3
    form = {"oldpassword": old, "password1": new, "password2": new, "revoke_tokens": "on"}
    assert cast.web.post(reverse("account_change_password"), form).status_code == 302


@leaves(Action.SECRETS_PUT)
def store_a_secret(cast: Cast) -> None:
    page = reverse("secrets", args=[cast.agent.pk])
    assert cast.web.post(page, {"name": "KEY", "value": SECRET}).status_code == 302


@leaves(Action.SECRETS_PUT, first=lambda cast: setattr(cast, "script", Api(cast.alice)))
def make_an_agent_with_a_secret(cast: Any) -> None:
    cast.script.ask("POST", "/agents/", {"name": "Made", "secrets": {"KEY": SECRET}})


@leaves(Action.SECRETS_DELETED, first=store_a_secret)
def delete_a_secret(cast: Cast) -> None:
    cast.web.post(reverse("secret_delete", args=[cast.agent.pk]), {"name": "KEY"})


# -- keys of endpoints -----------------------------------------------------------------------------


def define_endpoint(cast: Cast) -> ModelEndpoint:
    return define(own_keys=ModelEndpoint.OwnKeys.ALLOWED)


def change_endpoint(cast: Cast, **changes: str) -> None:
    row = ModelEndpoint.objects.get()
    assert saved(cast.desk, row, opened(cast.desk, row), **changes).status_code == 302


@leaves(Action.ENDPOINT_KEY_PUT, first=define_endpoint)
def store_the_key_of_an_endpoint(cast: Cast) -> None:
    change_endpoint(cast, key=SECRET)


@leaves(Action.OWN_KEY_PUT, first=define_endpoint)
def store_own_key(cast: Cast) -> None:
    form = {"endpoint": ModelEndpoint.objects.get().pk, "key": SECRET}
    assert cast.web.post(reverse("model_keys"), form).status_code == 302


def store_both_keys(cast: Cast) -> None:
    define_endpoint(cast)
    store_the_key_of_an_endpoint(cast)
    store_own_key(cast)


@leaves(Action.OWN_KEY_DELETED, first=store_both_keys)
def delete_own_key(cast: Cast) -> None:
    address = reverse("model_key_delete", args=[ModelEndpoint.objects.get().pk])
    assert cast.web.post(address).status_code == 302


@leaves(Action.ENDPOINT_KEY_DELETED, first=store_both_keys)
def remove_the_key_of_an_endpoint(cast: Cast) -> None:
    change_endpoint(cast, remove_key="on")


@leaves(Action.CHANGED, first=define_endpoint)
def rename_an_endpoint(cast: Cast) -> None:
    change_endpoint(cast, name="other")


@leaves(Action.DELETED, first=store_both_keys)
def delete_an_endpoint(cast: Cast) -> None:
    delete_chosen(cast, "agents_modelendpoint", ModelEndpoint.objects.get())


@leaves(Action.KEYS_ROTATED)
def rotate(cast: Cast) -> None:
    call_command("rotate_keys", stdout=io.StringIO())


# -- exports ---------------------------------------------------------------------------------------


@leaves(Action.EXPORTED)
def export(cast: Cast) -> None:
    cast.agent.send(SECRET, "k")
    assert cast.web.get(reverse("agent_export", args=[cast.agent.pk])).status_code == 200


@leaves(Action.EXPORTED)
def export_a_conversation(cast: Cast) -> None:
    cast.agent.send(SECRET, "k")
    address = reverse("conversation_export", args=[cast.agent.pk, cast.agent.pk, "json"])
    assert cast.web.get(address).status_code == 200


@leaves(Action.EXPORTED, first=lambda cast: setattr(cast, "script", Api(cast.alice)))
def export_by_script(cast: Any) -> None:
    path = f"/v1/agents/agent-{cast.agent.pk}/export"
    assert cast.script.client.get(path, headers=cast.script.headers).status_code == 200


@leaves(Action.EXPORTED)
def export_by_command(cast: Cast) -> None:
    call_command(
        "export_agent", str(cast.agent.pk), str(cast.folder / "a.af"), stdout=io.StringIO()
    )


@leaves(Action.ACCOUNT_EXPORTED)
def export_all(cast: Cast) -> None:
    assert cast.desk.post(cast.of_person("person_export", cast.alice)).status_code == 200


@leaves(Action.BACKED_UP)
def back_up(cast: Cast) -> None:
    cast.patch.setattr(backup, "make", lambda *_, **__: None)
    call_command("backup", str(cast.folder / "b.backup"), stdout=io.StringIO())


@leaves(Action.RESTORED)
def put_back(cast: Cast) -> None:
    manifest = SimpleNamespace(made_at="2026-01-01T00:00:00", key_sha256="", has_key=True)
    cast.patch.setattr(archive, "unpack", lambda *_: manifest)
    cast.patch.setattr(restore.Command, "put", lambda *_, **__: None)
    cast.patch.setattr(restore.Command, "keep_key", lambda *_: "key")
    call_command("restore", str(cast.folder / "b.backup"), stdout=io.StringIO())


# -- runs ------------------------------------------------------------------------------------------


def act_on_a_run(cast: Cast, action: str, **state: Any) -> None:
    run = cast.agent.send(SECRET, "k")
    Run.objects.filter(pk=run.pk).update(**state)
    chosen = {"action": action, "_selected_action": run.pk}
    assert cast.desk.post(reverse("admin:agents_run_changelist"), chosen).status_code == 302


@leaves(Action.RUN_STOPPED)
def stop_a_run(cast: Cast) -> None:
    act_on_a_run(cast, "stop")


@leaves(Action.RUN_RETRIED)
def retry_a_run(cast: Cast) -> None:
    act_on_a_run(cast, "retry", status="failed", reason="error")


# -- the admin -------------------------------------------------------------------------------------


@leaves(Action.ADDED)
def add_a_group(cast: Cast) -> None:
    cast.desk.post(reverse("admin:auth_group_add"), {"name": "writers"})


@leaves(Action.CHANGED)
def write_a_block(cast: Cast) -> None:
    form = opened(cast.desk, cast.block)
    assert saved(cast.desk, cast.block, form, value=SECRET).status_code == 302


@leaves(Action.CHANGED)
def change_an_address(cast: Cast) -> None:
    cast.edit_person(email="bob@example.com", first_name="Bob")


@leaves(Action.DELETED)
def delete_a_group(cast: Cast) -> None:
    page = reverse("admin:auth_group_delete", args=[cast.tutors.pk])
    assert cast.desk.post(page, {"post": "yes"}).status_code == 302


@leaves(Action.DELETED)
def delete_a_block(cast: Cast) -> None:
    delete_chosen(cast, "agents_block", cast.block)
