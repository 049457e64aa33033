"""Where each address leads."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
    path("accounts/", include("allauth.account.urls")),
    path("", include("agents.urls")),
]
handler404 = "agents.views.pages.not_found"
