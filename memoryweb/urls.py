"""Where each address leads."""

from django.contrib import admin
from django.urls import URLResolver, include, path
from django.urls.resolvers import RoutePattern
from django.views.generic import RedirectView
from django.views.i18n import set_language

from agents.admin import dashboard, storage
from agents.pages import account, model_keys, sign_up, tokens, usage


class Later(URLResolver):
    """Addresses that are loaded when one of them is asked for, and whose names no page needs."""

    def _populate(self) -> None:
        """Nothing to find by name."""


urlpatterns = [
    Later(RoutePattern("v1/"), "agents.api.urls", app_name="ninja", namespace="api"),
    path("api/", tokens.operations, name="api_operations"),
    path("tokens/", tokens.index, name="tokens"),
    path("tokens/<int:token_id>/revoke/", tokens.revoke, name="token_revoke"),
    path("admin/password_change/", RedirectView.as_view(pattern_name="account_change_password")),
    path("admin/", admin.site.admin_view(dashboard.show), name="dashboard"),
    path("admin/storage/", admin.site.admin_view(storage.show), name="storage"),
    path("admin/storage/agents/", admin.site.admin_view(storage.agents), name="storage_agents"),
    path("admin/", admin.site.urls),
    path(
        "accounts/first/<str:secret>/",
        sign_up.SignUpByLink.as_view(kind="first"),
        name="sign_up_first",
    ),
    path("accounts/invited/<str:secret>/", sign_up.SignUpByLink.as_view(), name="sign_up_invited"),
    path("accounts/password/reset/", sign_up.reset_password, name="account_reset_password"),
    path("accounts/", account.index, name="account"),
    path("accounts/activity/", account.activity, name="activity"),
    path("accounts/usage/", usage.index, name="usage"),
    path("accounts/model-keys/", model_keys.index, name="model_keys"),
    path(
        "accounts/model-keys/<int:endpoint_id>/delete/",
        model_keys.delete,
        name="model_key_delete",
    ),
    path("accounts/sessions/<int:session_id>/end/", account.end_session, name="session_end"),
    path("language/", set_language, name="set_language"),
    path("accounts/", include("allauth.urls")),
    path("", include("agents.urls")),
]
handler403 = "agents.pages.errors.forbidden"
handler404 = "agents.pages.errors.not_found"
handler500 = "agents.pages.errors.server_error"
