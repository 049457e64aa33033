"""People in the admin; their names follow the same rules as at sign-up."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.auth.forms import AdminUserCreationForm, UserChangeForm
from django.contrib.auth.models import User
from django.http import HttpRequest

from agents.accounts import checked_name
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


admin.site.unregister(User)


@admin.register(User)
class PersonAdmin(PeopleAdmin):
    """Django's own page, which shows in numbers what is deleted with a person."""

    add_form = NewPersonForm
    form = PersonForm
    change_password_form = PasswordByOperatorForm
    change_user_password_template = "admin/person_password.html"

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        people = User.objects.filter(pk__in=[person.pk for person in objs])
        return deleted_with(
            people, Agent.objects.filter(owner__in=people), Block.objects.filter(owner__in=people)
        )
