"""Endpoints in the admin: defined, given keys that are never shown, and tried out."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import path
from django.utils.decorators import method_decorator
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_noop, pgettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_post_parameters

from agents.llm.available import from_row
from agents.llm.dialects import WrongOption, parse_options
from agents.llm.trial import Trial
from agents.models import EndpointModel, ModelEndpoint, PersonalKey
from agents.models.model_endpoint import names_taken
from agents.models.sharing import groups_in_words, listed, people_in_words
from agents.text.stored import translated

from .shared import EndpointModelsTable, EndpointsAdmin, EndpointsForm, short

TESTED = gettext_noop("Tested.")
OwnKeys = ModelEndpoint.OwnKeys
# In the list, by whether people's own are taken: where none is stored, and where one is.
KEYS = {
    OwnKeys.NO: (pgettext_lazy("key", "none"), pgettext_lazy("key", "stored")),
    OwnKeys.ALLOWED: (_("none; own ones allowed"), _("stored; own ones allowed")),
    OwnKeys.REQUIRED: (_("none; own ones required"), _("stored; own ones required")),
}


class EndpointForm(EndpointsForm):
    """A key is taken in and never shown."""

    key = forms.CharField(
        label=_("API key"),
        required=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password", "size": 60}),
    )
    remove_key = forms.BooleanField(label=_("Remove the key"), required=False)

    class Meta:
        model = ModelEndpoint
        fields = [
            *("name", "base_url", "options", "enabled", "is_default", "default_model"),
            *("only_listed", "everyone", "users", "groups", "own_keys"),
        ]
        widgets = {
            name: forms.TextInput(attrs={"size": 60})
            for name in ("base_url", "options", "default_model")
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        key = self.instance.key()
        words = gettext(
            "A key is stored, encrypted. It is never shown; what you enter replaces it."
        )
        if key is None:
            words = gettext(
                "The key cannot be read with the server's present secret key. Enter it anew."
            )
        elif not key:
            words = gettext("No key is stored. It is stored encrypted, and never shown.")
        if "key" in self.fields:
            self.fields["key"].help_text = words
        if not self.instance.api_key:
            self.fields.pop("remove_key", None)

    def clean_options(self) -> str:
        options = str(self.cleaned_data["options"]).strip().removeprefix("#")
        try:
            parse_options(options, "")
        except WrongOption as error:
            words = gettext("The property '%(name)s' must be one of: %(choices)s.")
            if error.is_unknown:
                words = gettext("An unknown property '%(name)s'; known are: %(choices)s.")
            raise ValidationError(words % vars(error)) from None
        return options

    def _post_clean(self) -> None:
        """Take the key in before the row is checked: an address may need another key."""
        try:
            if self.cleaned_data.get("remove_key"):
                self.instance.api_key = ""
            if key := self.cleaned_data.get("key"):
                self.instance.set_key(key)
        except ValidationError as error:
            self.add_error("key", error)
        super()._post_clean()  # type: ignore[misc]


class EndpointModelsInline(EndpointModelsTable):
    model = EndpointModel
    extra = 1
    verbose_name = _("model")
    verbose_name_plural = _("models")


class TrialForm(forms.Form):
    model = forms.CharField(
        label=_("Model"),
        max_length=200,
        required=False,
        help_text=_("Empty: the one that would answer by default."),
    )


@admin.register(ModelEndpoint)
class ModelEndpointAdmin(EndpointsAdmin):
    form = EndpointForm
    inlines = [EndpointModelsInline]
    list_display = ["name", "base_url", "state", "who", "keys", "health_in_short"]
    list_filter = ["enabled", "own_keys"]
    search_fields = ["name", "base_url"]
    search_help_text = _("A name or an address.")
    filter_horizontal = ["users", "groups"]
    readonly_fields = ["health_noted", "people_with_keys"]
    change_form_template = "admin/model_endpoint.html"
    audited_fields = frozenset({"API key", "Remove the key"})
    fieldsets = [
        (None, {"fields": ["name", "base_url", "key", "remove_key", "enabled", "health_noted"]}),
        (_("Models"), {"fields": ["is_default", "default_model", "only_listed"]}),
        (_("Who may use it"), {"fields": ["everyone", "users", "groups"]}),
        (_("Keys of people's own"), {"fields": ["own_keys", "people_with_keys"]}),
        (_("Form of its requests"), {"fields": ["options"]}),
    ]

    def get_fieldsets(self, request: HttpRequest, obj: ModelEndpoint | None = None) -> Any:
        """Without what there is not yet."""
        absent = set() if obj else {"health_noted", "people_with_keys"}
        if obj is None or not obj.api_key:
            absent.add("remove_key")
        return [
            (title, {"fields": [name for name in each["fields"] if name not in absent]})
            for title, each in self.fieldsets
        ]

    @method_decorator(sensitive_post_parameters())
    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        return super().changeform_view(request, *args, **kwargs)

    def get_urls(self) -> list[Any]:
        test = self.admin_site.admin_view(self.test)
        return [path("<int:endpoint_id>/test/", test, name="endpoint_test"), *super().get_urls()]

    def test(self, request: HttpRequest, endpoint_id: int) -> HttpResponseBase:
        """Try the endpoint out as it is stored, and show what was found. POST: `model`."""
        row = get_object_or_404(ModelEndpoint, pk=endpoint_id)
        if not self.has_change_permission(request, row):
            raise PermissionDenied
        form = TrialForm(request.POST or None, initial={"model": self.first_model(row)})
        trial = None
        if request.method == "POST" and form.is_valid():
            own = None if row.api_key else self.own_key(request, row)
            model = form.cleaned_data["model"] or self.first_model(row)
            trial = Trial(from_row(row, own), model, request.user.pk or 0).carry_out()
            row.keep_health(trial.ok, trial.words)
            self.log_change(request, row, TESTED)
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("Test of %(endpoint)s") % {"endpoint": row},
            "endpoint": row,
            "form": form,
            "trial": trial,
            "with_own_key": not row.api_key and self.own_key(request, row) is not None,
            "models": row.listed.all(),
        }
        return render(request, "admin/model_endpoint_test.html", context)

    @staticmethod
    def first_model(row: ModelEndpoint) -> str:
        listed = row.listed.first()
        return row.default_model or (listed.name if listed else "")

    @staticmethod
    def own_key(request: HttpRequest, row: ModelEndpoint) -> PersonalKey | None:
        """The administrator's own key, where the endpoint has none."""
        return PersonalKey.objects.of(request.user.pk or 0).filter(endpoint=row).first()

    # -- what is shown -------------------------------------------------------------------------

    @admin.display(description=_("state"))
    def state(self, row: ModelEndpoint) -> str:
        if row.name in names_taken():
            return gettext("hidden by the environment's of this name")
        if row.is_default:
            return pgettext("endpoint", "default")
        return pgettext("endpoint", "enabled") if row.enabled else pgettext("endpoint", "disabled")

    @admin.display(description=pgettext_lazy("column", "for"))
    def who(self, row: ModelEndpoint) -> str:
        if row.everyone:
            return gettext("everyone")
        users, groups = row.users.count(), row.groups.count()
        counts = [people_in_words(users)] if users else []
        counts += [groups_in_words(groups)] if groups else []
        return listed(counts) or gettext("nobody")

    @admin.display(description=_("keys"))
    def keys(self, row: ModelEndpoint) -> str:
        return str(KEYS[OwnKeys(row.own_keys)][bool(row.api_key)])

    @admin.display(description=pgettext_lazy("column", "health"))
    def health_noted(self, row: ModelEndpoint) -> SafeString | str:
        if row.checked_at is None:
            return gettext("Nothing known yet")
        sign = "✓" if row.healthy else "✗"
        return format_html(
            "{} {} <br><small>{}</small>", sign, translated(row.health), in_utc(row.checked_at)
        )

    @admin.display(description=pgettext_lazy("column", "health"))
    def health_in_short(self, row: ModelEndpoint) -> str:
        if row.checked_at is None:
            return "–"
        if not row.healthy:
            return f"✗ {short(translated(row.health))}"
        return f"✓ {in_utc(row.checked_at)}"

    @admin.display(description=_("entered by"))
    def people_with_keys(self, row: ModelEndpoint) -> str:
        return people_in_words(row.personal_keys.count())


def in_utc(moment: datetime) -> str:
    return f"{date_format(moment, 'DATETIME_FORMAT')} UTC"
