"""People in the admin; their names follow the same rules as at sign-up."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.forms import AdminUserCreationForm, UserChangeForm
from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext, gettext_noop, ngettext, override
from django.utils.translation import gettext_lazy as _

from agents.accounts import checked_name, people
from agents.accounts.leaving import HandedOver, hand_over
from agents.agent_file.download import download_all
from agents.models import Agent, AuditEntry, Block
from agents.models.sharing import listed
from agents.pages.forms.password import PasswordByOperatorForm
from agents.text.numbers import whole

from .shared import GroupsAdmin, PeopleAdmin, deleted_with

DISABLED = gettext_noop("Disabled.")


class NewPersonForm(AdminUserCreationForm):
    def clean_username(self) -> str:
        return checked_name(str(super().clean_username()))


class PersonForm(UserChangeForm):
    """An existing name is only checked if it is changed."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "is_active" in self.fields:
            self.fields["is_active"].help_text = gettext(
                "Whether the person may log in. Unselect this instead of deleting accounts: their"
                " open pages end and their API tokens are revoked."
            )

    def clean_username(self) -> str:
        name = str(self.cleaned_data["username"])
        return checked_name(name) if "username" in self.changed_data else name


class HandOverForm(forms.Form):
    """To whom all that a person has is handed over."""

    to = forms.ModelChoiceField(User.objects.none(), label=_("Hand everything over to"))

    def __init__(self, person: User, *args: Any) -> None:
        super().__init__(*args)
        self.person = person
        choices = people().filter(is_active=True).exclude(pk=person.pk).order_by("username")
        field = self.fields["to"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = choices

    def save(self) -> HandedOver | None:
        """None, and an error of the form, where it cannot be."""
        try:
            return hand_over(self.person, self.cleaned_data["to"])
        except ValidationError as error:
            self.add_error("to", ValidationError(error.messages))
            return None


admin.site.unregister(User)
admin.site.unregister(Group)


@admin.register(User)
class PersonAdmin(PeopleAdmin):
    """Django's own page, which shows in numbers what is deleted with a person."""

    add_form = NewPersonForm
    form = PersonForm
    change_password_form = PasswordByOperatorForm
    change_user_password_template = "admin/person_password.html"
    change_form_template = "admin/person.html"
    audited_itself = True
    audited_fields = frozenset(
        {
            *("Active", "Staff status", "Superuser status", "Groups", "User permissions"),
            *("Username", "password", "Password"),
        }
    )

    def get_urls(self) -> list[Any]:
        leave = self.admin_site.admin_view(self.leave)
        export = self.admin_site.admin_view(self.export)
        return [
            path("<int:person_id>/leave/", leave, name="person_leave"),
            path("<int:person_id>/export/", export, name="person_export"),
            *super().get_urls(),
        ]

    def leave(self, request: HttpRequest, person_id: int) -> HttpResponseBase:
        """What a person has is handed over, or exported; then the account is disabled."""
        person = self._leaving(request, person_id)
        form = HandOverForm(person, request.POST or None)
        if "disable" in request.POST:
            person.is_active = False
            person.save()
            self.log_change(request, person, DISABLED)
            words = gettext("%(person)s is disabled: logged out, and no token works.")
            messages.success(request, words % {"person": person})
            return redirect("admin:person_leave", person.pk)
        if form.is_valid() and (counts := form.save()):
            to = form.cleaned_data["to"]
            with override("en"):
                self.log_change(request, person, f"Handed {in_words(counts)} over to {to}.")
            words = gettext("%(counts)s now belong to %(person)s.")
            messages.success(request, words % {"counts": in_words(counts), "person": to})
            return redirect("admin:person_leave", person.pk)
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("%(person)s leaves") % {"person": person},
            "person": person,
            "form": form,
            "agents": person.agents.filter(deleted_at=None).count(),
            "deleted": person.agents.exclude(deleted_at=None).count(),
            "blocks": person.blocks.count(),
            "tools": person.tools.count(),
        }
        return render(request, "admin/person_leave.html", context)

    def export(self, request: HttpRequest, person_id: int) -> HttpResponseBase:
        """All agents of a person that are not deleted, as a zip of agent files."""
        person = self._leaving(request, person_id)
        agents = person.agents.filter(deleted_at=None).order_by("created_at")
        self.log_change(request, person, f"Exported {agents.count()} agents.")
        exported = AuditEntry.Action.ACCOUNT_EXPORTED
        AuditEntry.record(exported, person, person=person, agents=agents.count())
        return download_all(request, agents, f"agents-of-{person.pk}.zip")

    def _leaving(self, request: HttpRequest, person_id: int) -> User:
        """The person; 403 for anybody who is not an administrator."""
        if not (request.user.is_active and request.user.is_superuser):
            raise PermissionDenied
        return get_object_or_404(User, pk=person_id)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        people = User.objects.filter(pk__in=[person.pk for person in objs])
        return deleted_with(
            people, Agent.objects.filter(owner__in=people), Block.objects.filter(owner__in=people)
        )


def in_words(counts: HandedOver) -> str:
    agents = ngettext("%(counter)s agent", "%(counter)s agents", counts.agents)
    blocks = ngettext("%(counter)s block", "%(counter)s blocks", counts.blocks)
    tools = ngettext("%(counter)s tool", "%(counter)s tools", counts.tools)
    numbered = zip((agents, blocks, tools), counts, strict=True)
    return listed([words % {"counter": whole(count)} for words, count in numbered])


@admin.register(Group)
class AuditedGroupAdmin(GroupsAdmin):
    """Django's own page; who may do what by a group has entries of its own in the audit."""

    audited_fields = frozenset({"Permissions"})
