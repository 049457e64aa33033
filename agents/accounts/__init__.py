"""People: accounts with a log-in, or the one owner of a server that only this machine reaches."""

from .groups import group_ends, groups_changed
from .names import OWNER, checked_name
from .people import (
    make_administrator,
    owner,
    people,
    person_changed,
    session_ended,
    user_of_session,
)

__all__ = [
    "OWNER",
    "checked_name",
    "group_ends",
    "groups_changed",
    "make_administrator",
    "owner",
    "people",
    "person_changed",
    "session_ended",
    "user_of_session",
]
