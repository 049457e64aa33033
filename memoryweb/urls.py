"""Where each address leads."""

from django.contrib import admin
from django.urls import include, path

from agents.api.urls import urlpatterns as api
from agents.views import tokens

urlpatterns = [
    path("v1/", include((api, "ninja"), namespace="api")),
    path("api/", tokens.operations, name="api_operations"),
    path("tokens/", tokens.index, name="tokens"),
    path("tokens/<int:token_id>/revoke/", tokens.revoke, name="token_revoke"),
    path("admin/", admin.site.urls),
    path("accounts/", include("allauth.account.urls")),
    path("", include("agents.urls")),
]
handler404 = "agents.views.pages.not_found"
