"""Forms that share a block or an agent with a person or a group."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from agents.accounts import OWNER
from agents.models import Agent, AgentShare, Block, BlockShare, Role
from agents.models.role import SHARED_ROLES


class WithWhomForm(forms.Form):
    """The name of a person or a group; `found` is which."""

    name = forms.CharField(
        label=_("User or group"),
        max_length=150,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none"}),
    )

    def __init__(self, shared: Agent | Block, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.shared = shared

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"].strip()
        people = User.objects.filter(is_active=True).exclude(username=OWNER)
        self.found: User | Group | None = people.filter(username=name).first()
        self.found = self.found or Group.objects.filter(name=name).first()
        if self.found is None:
            words = gettext("There is no user and no group '%(name)s'.")
            raise ValidationError(words % {"name": name})
        if isinstance(self.found, User) and self.found.pk == self.shared.owner_id:
            raise ValidationError(gettext("This is yours already; share it with somebody else."))
        return name


class BlockShareForm(WithWhomForm):
    """With whom a block is shared, and how."""

    access = forms.ChoiceField(
        label=_("They and their agents may"),
        choices=[("read", _("read it")), ("write", _("read and write it"))],
    )

    def share(self) -> BlockShare:
        """Share the block."""
        assert isinstance(self.shared, Block)
        assert self.found is not None
        can_write = self.cleaned_data["access"] == "write"
        return BlockShare.share(self.shared, self.found, can_write=can_write)


class AgentShareForm(WithWhomForm):
    """With whom an agent is shared, and in which role."""

    role = forms.TypedChoiceField(
        label=_("They"), coerce=int, choices=SHARED_ROLES, initial=Role.CHATTER
    )

    def share(self) -> AgentShare:
        """Share the agent."""
        assert isinstance(self.shared, Agent)
        assert self.found is not None
        return AgentShare.share(self.shared, self.found, Role(self.cleaned_data["role"]))
