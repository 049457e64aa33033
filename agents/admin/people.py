"""People in the admin; their names follow the same rules as at sign-up."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.forms import AdminUserCreationForm, UserChangeForm
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path

from agents.accounts import checked_name, people
from agents.accounts.leaving import HandedOver, hand_over
from agents.agent_file.download import download_all
from agents.models import Agent, Block
from agents.pages.forms.password import PasswordByOperatorForm

from .shared import PeopleAdmin, deleted_with


class NewPersonForm(AdminUserCreationForm):
    def clean_username(self) -> str:
        return checked_name(str(super().clean_username()))


class PersonForm(UserChangeForm):
    """An existing name is only checked if it is changed."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "is_active" in self.fields:
            self.fields["is_active"].help_text = (
                "Whether the person may log in. Unselect this instead of deleting accounts: their"
                " open pages end and their API tokens are revoked."
            )

    def clean_username(self) -> str:
        name = str(self.cleaned_data["username"])
        return checked_name(name) if "username" in self.changed_data else name


class HandOverForm(forms.Form):
    """To whom all that a person has is handed over."""

    to = forms.ModelChoiceField(User.objects.none(), label="Hand everything over to")

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


@admin.register(User)
class PersonAdmin(PeopleAdmin):
    """Django's own page, which shows in numbers what is deleted with a person."""

    add_form = NewPersonForm
    form = PersonForm
    change_password_form = PasswordByOperatorForm
    change_user_password_template = "admin/person_password.html"
    change_form_template = "admin/person.html"

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
            self.log_change(request, person, "Disabled.")
            messages.success(request, f"{person} is disabled: logged out, and no token works.")
            return redirect("admin:person_leave", person.pk)
        if form.is_valid() and (counts := form.save()):
            words = f"{counts.agents} agents, {counts.blocks} blocks and {counts.tools} tools"
            self.log_change(request, person, f"Handed {words} over to {form.cleaned_data['to']}.")
            messages.success(request, f"{words} now belong to {form.cleaned_data['to']}.")
            return redirect("admin:person_leave", person.pk)
        context = {
            **self.admin_site.each_context(request),
            "title": f"{person} leaves",
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
