"""Django admin: an operator reads and edits rows with the same methods as everyone else."""

from allauth.account.decorators import secure_admin_login
from django.contrib import admin

from . import (
    agents,
    announcements,
    audit,
    blocks,
    endpoints,
    invitations,
    model_endpoints,
    passages,
    people,
    quotas,
    rows,
    runs,
    sign_in,
    tools,
    usage,
)

__all__ = [
    "agents",
    "announcements",
    "audit",
    "blocks",
    "endpoints",
    "invitations",
    "model_endpoints",
    "passages",
    "people",
    "quotas",
    "rows",
    "runs",
    "sign_in",
    "tools",
    "usage",
]

admin.site.site_header = admin.site.site_title = "memoryweb"
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]
