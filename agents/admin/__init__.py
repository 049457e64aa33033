"""Django admin: an operator reads and edits rows with the same methods as everyone else."""

from allauth.account.decorators import secure_admin_login
from django.contrib import admin

from . import agents, blocks, endpoints, invitations, passages, people, rows, sign_in, tools

__all__ = [
    "agents",
    "blocks",
    "endpoints",
    "invitations",
    "passages",
    "people",
    "rows",
    "sign_in",
    "tools",
]

admin.site.site_header = admin.site.site_title = "memoryweb"
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]
