"""What is audited of log-ins, accounts and rights: receivers of signals (`agents/wiring.py`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from allauth.account import signals as account
from allauth.account.models import EmailAddress
from allauth.mfa import signals as factor
from allauth.mfa.models import Authenticator
from allauth.socialaccount import signals as elsewhere
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.adapter import DefaultUserSessionsAdapter
from allauth.usersessions.models import UserSession
from django.contrib.auth import signals as login
from django.contrib.auth.models import Group, Permission, User
from django.db.models import Q
from django.db.models.signals import m2m_changed, post_delete, post_save, pre_save
from django.utils.translation import override

from agents.models import AuditEntry, PersonalKey, Token

Action = AuditEntry.Action
FLAGS = ("is_active", "is_staff", "is_superuser")
WATCHED = {*FLAGS, "username", "password"}

# -- log-ins ---------------------------------------------------------------------------------------


def logged_in(user: User, **signal: Any) -> None:
    AuditEntry.record(Action.LOGGED_IN, by=user)


def logged_out(user: User | None, **signal: Any) -> None:
    if user:
        AuditEntry.record(Action.LOGGED_OUT, by=user)


def login_failed(credentials: dict[str, Any], **signal: Any) -> None:
    """A wrong name or password. Only the name of an account is kept: some type their password in
    its place."""
    name, email = credentials.get("username"), credentials.get("email")
    known = Q(username__iexact=name) if name else Q(email__iexact=email) if email else Q(pk=None)
    person = User.objects.filter(known).first()
    AuditEntry.record(Action.LOGIN_FAILED, person, person=person)


def factor_failed(user: User, authenticator: Authenticator, **signal: Any) -> None:
    """A wrong code after the right password."""
    kind = kind_of(authenticator)
    AuditEntry.record(Action.LOGIN_FAILED, user, person=user, second_factor=kind)


class SessionsAdapter(DefaultUserSessionsAdapter):  # type: ignore[misc]
    """How allauth ends log-ins."""

    def end_sessions(self, sessions: Iterable[UserSession]) -> None:
        for session in sessions:
            end_session(session)


def end_session(session: UserSession) -> None:
    """Log somebody out of one browser; its pages are told within seconds."""
    AuditEntry.record(
        Action.SESSION_ENDED, session.user, person=session.user, from_address=session.ip
    )
    session.end()


# -- second factors, mail, accounts elsewhere ------------------------------------------------------


def factor_added(user: User, authenticator: Authenticator, **signal: Any) -> None:
    record_factor(user, added=kind_of(authenticator))


def factor_removed(user: User, authenticator: Authenticator, **signal: Any) -> None:
    record_factor(user, removed=kind_of(authenticator))


def factor_made_anew(user: User, authenticator: Authenticator, **signal: Any) -> None:
    record_factor(user, made_anew=kind_of(authenticator))


def kind_of(authenticator: Authenticator) -> str:
    """In English, as all that is stored."""
    with override("en"):
        return str(authenticator.get_type_display())


def record_factor(user: User, **details: Any) -> None:
    AuditEntry.record(Action.FACTOR_CHANGED, user, person=user, **details)


def email_added(email_address: EmailAddress, **signal: Any) -> None:
    record_email(email_address.user, added=email_address.email)


def email_removed(user: User, email_address: EmailAddress, **signal: Any) -> None:
    record_email(user, removed=email_address.email)


def email_confirmed(email_address: EmailAddress, **signal: Any) -> None:
    record_email(email_address.user, confirmed=email_address.email)


def email_changed(user: User, to_email_address: EmailAddress, **signal: Any) -> None:
    record_email(user, primary=to_email_address.email)


def record_email(user: User, **details: Any) -> None:
    AuditEntry.record(Action.EMAIL_CHANGED, user, person=user, **details)


def elsewhere_added(sociallogin: Any, **signal: Any) -> None:
    user = sociallogin.user
    account = str(sociallogin.account.provider)
    AuditEntry.record(Action.ELSEWHERE_CHANGED, user, person=user, connected=account)


def elsewhere_removed(socialaccount: SocialAccount, **signal: Any) -> None:
    user = socialaccount.user
    account = str(socialaccount.provider)
    AuditEntry.record(Action.ELSEWHERE_CHANGED, user, person=user, disconnected=account)


# -- accounts and their rights ---------------------------------------------------------------------


def account_changes(instance: User, update_fields: Any = None, **signal: Any) -> None:
    """Before a row is written: note what it was, unless only the time of a log-in is."""
    instance.was = None  # type: ignore[attr-defined]
    if instance.pk and (update_fields is None or WATCHED & set(update_fields)):
        rows = User.objects.filter(pk=instance.pk)
        instance.was = rows.values(*WATCHED).first()  # type: ignore[attr-defined]


def account_written(instance: User, created: bool, **signal: Any) -> None:
    """What of the account is another now. A password that is only hashed anew is the same."""
    if created:
        by = instance if AuditEntry.is_asked_by_nobody() else None  # who signs up
        rights = [flag.replace("_", " ") for flag in FLAGS[1:] if getattr(instance, flag)]
        AuditEntry.record(Action.ACCOUNT_MADE, instance, by=by, person=instance, rights=rights)
        return
    was = instance.was  # type: ignore[attr-defined]
    if was is None:
        return
    flags = {
        flag: getattr(instance, flag) for flag in FLAGS if getattr(instance, flag) != was[flag]
    }
    if flags:
        AuditEntry.record(Action.RIGHTS_CHANGED, instance, person=instance, **flags)
    if instance.username != was["username"]:
        AuditEntry.record(Action.ACCOUNT_RENAMED, instance, person=instance, was=was["username"])
    hashed_anew = instance._password is None and instance.has_usable_password()  # type: ignore[attr-defined]
    if instance.password != was["password"] and not hashed_anew:
        AuditEntry.record(Action.PASSWORD_CHANGED, instance, person=instance)


def account_deleted(instance: User, **signal: Any) -> None:
    entry = AuditEntry.record(Action.ACCOUNT_DELETED, instance)
    if entry.user_id == instance.pk:  # the names stay, and lead nowhere
        AuditEntry.objects.filter(user=instance.pk).update(user=None)


def groups_changed(
    instance: User | Group, action: str, pk_set: set[int] | None, **signal: Any
) -> None:
    """People are put into groups, or taken out, from either side."""
    done = {"post_add": Action.GROUP_JOINED, "post_remove": Action.GROUP_LEFT}.get(action)
    done = Action.GROUP_LEFT if action == "pre_clear" else done
    if done is None:
        return
    for person, group in pairs(instance, pk_set):
        AuditEntry.record(done, person, person=person, group=group.name)


def pairs(instance: User | Group, keys: set[int] | None) -> list[tuple[User, Group]]:
    """Each person and group of a change, which is about these keys, or about all there are."""
    if isinstance(instance, User):
        groups = instance.groups.all() if keys is None else Group.objects.filter(pk__in=keys)
        return [(instance, group) for group in groups]
    people = instance.user_set.all() if keys is None else User.objects.filter(pk__in=keys)
    return [(person, instance) for person in people]


def permissions_changed(
    instance: User | Group, action: str, pk_set: set[int] | None, **signal: Any
) -> None:
    """A person or a group may do other things in the admin."""
    what = {"post_add": "given", "post_remove": "taken", "pre_clear": "taken"}.get(action)
    if what is None:
        return
    person = instance if isinstance(instance, User) else None
    held = instance.user_permissions if isinstance(instance, User) else instance.permissions
    rows = held.all() if pk_set is None else Permission.objects.filter(pk__in=pk_set)
    names: dict[str, Any] = {what: sorted(rows.values_list("codename", flat=True))}
    AuditEntry.record(Action.RIGHTS_CHANGED, instance, person=person, **names)


# -- keys ------------------------------------------------------------------------------------------


def token_made(instance: Token, created: bool, **signal: Any) -> None:
    if created:
        owner = instance.owner
        AuditEntry.record(Action.TOKEN_MADE, instance, person=owner, scopes=instance.scopes)


def token_deleted(instance: Token, origin: Any, **signal: Any) -> None:
    """Not where its account is deleted, which has an entry."""
    if getattr(origin, "model", type(origin)) is Token:
        AuditEntry.record(Action.TOKEN_DELETED, instance, person=instance.owner)


def own_key_deleted(instance: PersonalKey, origin: Any, **signal: Any) -> None:
    """Not where its account or its endpoint is deleted, which has an entry."""
    if getattr(origin, "model", type(origin)) is PersonalKey:
        AuditEntry.record(Action.OWN_KEY_DELETED, instance, person=instance.user)


SIGNALS = (
    (login.user_logged_in, logged_in, None),
    (login.user_logged_out, logged_out, None),
    (login.user_login_failed, login_failed, None),
    (factor.authentication_failed, factor_failed, None),
    (factor.authenticator_added, factor_added, None),
    (factor.authenticator_removed, factor_removed, None),
    (factor.authenticator_reset, factor_made_anew, None),
    (account.email_added, email_added, None),
    (account.email_removed, email_removed, None),
    (account.email_confirmed, email_confirmed, None),
    (account.email_changed, email_changed, None),
    (elsewhere.social_account_added, elsewhere_added, None),
    (elsewhere.social_account_removed, elsewhere_removed, None),
    (pre_save, account_changes, User),
    (post_save, account_written, User),
    (post_delete, account_deleted, User),
    (m2m_changed, groups_changed, User.groups.through),
    (m2m_changed, permissions_changed, User.user_permissions.through),
    (m2m_changed, permissions_changed, Group.permissions.through),
    (post_save, token_made, Token),
    (post_delete, token_deleted, Token),
    (post_delete, own_key_deleted, PersonalKey),
)
