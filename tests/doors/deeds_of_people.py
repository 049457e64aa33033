"""Deeds about log-ins and accounts."""

from __future__ import annotations

import io

from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from agents.models import AuditEntry, Invitation, Token
from tests.accounts.test_second_factor import set_up
from tests.support.sign_up import sign_up
from tests.support.visitor import PASSWORD

from .deeds import SECRET, Action, Cast, delete_chosen, leaves

# -- log-ins ---------------------------------------------------------------------------------------


@leaves(Action.LOGGED_IN)
def log_in(cast: Cast) -> None:
    assert "_auth_user_id" in cast.browser("alice").session


@leaves(Action.LOGIN_FAILED)
def guess(cast: Cast) -> None:
    cast.browser("alice", "wrong " + SECRET)


@leaves(Action.LOGIN_FAILED)
def type_the_password_as_the_name(cast: Cast) -> None:
    cast.browser(SECRET, "wrong")


@leaves(Action.LOGIN_FAILED, first=lambda cast: set_up_app(cast))
def mistype_the_code(cast: Cast) -> None:
    client = cast.browser("alice")
    client.post(reverse("mfa_authenticate"), {"code": "000000"})


@leaves(Action.LOGGED_OUT)
def log_out(cast: Cast) -> None:
    cast.web.post(reverse("account_logout"))


def come_in_again(cast: Cast) -> None:
    cast.browser("alice")


@leaves(Action.SESSION_ENDED, first=come_in_again)
def end_one(cast: Cast) -> None:
    other = UserSession.objects.filter(user=cast.alice).latest("pk")
    cast.web.post(reverse("session_end", args=[other.pk]))


@leaves(Action.SESSION_ENDED, first=come_in_again)
def end_all_others(cast: Cast) -> None:
    cast.web.post(reverse("usersessions_list"))


@leaves(Action.SESSION_ENDED)
def end_in_the_admin(cast: Cast) -> None:
    session = UserSession.objects.get(user=cast.alice)
    page = reverse("admin:usersessions_usersession_delete", args=[session.pk])
    assert cast.desk.post(page, {"post": "yes"}).status_code == 302


@leaves(Action.SESSION_ENDED)
def end_by_an_action_of_the_admin(cast: Cast) -> None:
    session = UserSession.objects.get(user=cast.alice)
    delete_chosen(cast, "usersessions_usersession", session)


# -- accounts --------------------------------------------------------------------------------------


@leaves(Action.PASSWORD_CHANGED)
def change_password(cast: Cast) -> None:
    form = {"oldpassword": PASSWORD + SECRET, "password1": SECRET * 3, "password2": SECRET * 3}
    assert cast.web.post(reverse("account_change_password"), form).status_code == 302


@leaves(Action.PASSWORD_CHANGED)
def set_a_password_in_the_admin(cast: Cast) -> None:
    page = cast.of_person("auth_user_password_change", cast.bob)
    form = {"usable_password": "true", "password1": SECRET * 3, "password2": SECRET * 3}
    assert cast.desk.post(page, form).status_code == 302


def set_up_app(cast: Cast) -> str:
    cast.patch.setattr("tests.accounts.test_second_factor.PASSWORD", PASSWORD + SECRET)
    return set_up(cast.web)


@leaves(Action.FACTOR_CHANGED, first=set_up_app)
def remove_the_app(cast: Cast) -> None:
    Authenticator.objects.filter(type=Authenticator.Type.RECOVERY_CODES).delete()
    assert cast.web.post(reverse("mfa_deactivate_totp")).status_code == 302


@leaves(Action.EMAIL_CHANGED)
def add_an_address(cast: Cast) -> None:
    form = {"email": "alice@example.com", "action_add": ""}
    assert cast.web.post(reverse("account_email"), form).status_code == 302


@leaves(Action.ACCOUNT_MADE, Action.LOGGED_IN)
def come_where_it_is_open(cast: Cast) -> None:
    cast.settings.SIGNUP = "open"
    sign_up("carol")


@leaves(Action.ACCOUNT_MADE)
def make_an_account_in_the_admin(cast: Cast) -> None:
    password = {"usable_password": "true", "password1": SECRET * 3, "password2": SECRET * 3}
    page = reverse("admin:auth_user_add")
    assert cast.desk.post(page, {"username": "carol", **password}).status_code == 302


@leaves(Action.ACCOUNT_MADE)
def make_an_administrator_by_command(cast: Cast) -> None:
    cast.patch.setattr("sys.stdin", io.StringIO(SECRET * 3))
    call_command("create_admin", "carol", stdout=io.StringIO())


@leaves(Action.ACCOUNT_RENAMED)
def rename(cast: Cast) -> None:
    cast.edit_person(username="robert")


@leaves(Action.ACCOUNT_DELETED)
def delete_an_account(cast: Cast) -> None:
    Token.make(cast.bob, "script", ["read"])
    AuditEntry.objects.filter(action=Action.TOKEN_MADE).delete()
    page = cast.of_person("auth_user_delete", cast.bob)
    assert cast.desk.post(page, {"post": "yes"}).status_code == 302


def invite_somebody(cast: Cast) -> str:
    cast.desk.post(reverse("admin:agents_invitation_add"), {"email": "", "role": "person"})
    return ""


@leaves(Action.INVITED)
def invite(cast: Cast) -> None:
    invite_somebody(cast)
    assert Invitation.objects.open().count() == 1


@leaves(Action.INVITATION_REVOKED, first=invite_somebody)
def revoke_an_invitation(cast: Cast) -> None:
    chosen = {"action": "revoke", "_selected_action": Invitation.objects.get().pk}
    cast.desk.post(reverse("admin:agents_invitation_changelist"), chosen)


@leaves(Action.INVITATION_USED, Action.ACCOUNT_MADE, Action.LOGGED_IN)
def come_by_invitation(cast: Cast) -> None:
    secret = Invitation().issue(cast.olga)
    AuditEntry.objects.filter(action=Action.INVITED).delete()
    form = {"username": "carol", "email": "", "password1": SECRET * 3, "password2": SECRET * 3}
    Client().post(reverse("sign_up_invited", args=[secret]), form)
