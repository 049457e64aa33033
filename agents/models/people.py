"""What requests ask of the accounts each time."""

from __future__ import annotations

from django.contrib.auth.models import User

from .prepared_sql import read


def user_named(name: str) -> User | None:
    """The account of that name."""
    users = read(User, "WHERE username = %s", name)
    return users[0] if users else None


def is_active(user_id: int) -> bool:
    """Whether the account is there and not disabled."""
    return bool(read(User, "WHERE id = %s AND is_active", user_id))
