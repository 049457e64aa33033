"""The wiring of the rooms: which signal of a model calls what in the rooms above.

Imported when the application is ready, as no model can be imported earlier.
"""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models.signals import (
    m2m_changed,
    post_delete,
    post_migrate,
    post_save,
    pre_delete,
    pre_migrate,
)

from . import accounts, outgoing
from .accounts import audited
from .live import announcements, fragments, publisher
from .llm import available, prices, spending
from .models import (
    Announcement,
    EndpointModel,
    ModelEndpoint,
    PersonalKey,
    Quota,
    quota,
    quota_checks,
    signals,
)
from .runs import engine, reflection
from .search import index
from .tools.custom import store

Connection = tuple[Any, Any, Any]  # a signal, what it calls, and the model that it is of


def connect(app: AppConfig) -> None:
    """Check what is set, and connect all signals."""
    prices.load_prices(settings.PRICES)  # what cannot be read stops the start
    outgoing.check_settings()
    publisher.set_renderer(fragments.render_published)
    quota_checks.set_pricing(spending.is_free)
    migrations = [
        (pre_migrate, index.make_way, app),
        (post_migrate, index.install_after_migrate, app),
    ]
    for signal, receiver, sender in (*OF_AGENTS, *OF_PEOPLE, *OF_ENDPOINTS, *migrations):
        signal.connect(receiver, sender=sender, weak=False)


def publish(agent: Any, events: Any, **_: Any) -> None:
    publisher.publish(agent, events)


def publish_text(message: Any, pieces: Any, blocks: Any, **_: Any) -> None:
    publisher.publish_text(message, pieces, blocks)


def publish_purged(agent_id: Any, **_: Any) -> None:
    publisher.publish_deleted(agent_id)


def publish_access(agent_id: Any, user_ids: Any, **_: Any) -> None:
    publisher.publish_access(agent_id, user_ids)


def publish_list(user_id: Any, **_: Any) -> None:
    publisher.publish_list(user_id)


def submit(run: Any, **_: Any) -> None:
    engine.submit(run)


def endpoints_changed(**_: Any) -> None:
    available.forget()
    transaction.on_commit(available.forget)  # others may have read in between


OF_AGENTS: tuple[Connection, ...] = (
    (signals.events_recorded, publish, None),
    (signals.text_streamed, publish_text, None),
    (signals.access_changed, publish_access, None),
    (signals.list_changed, publish_list, None),
    (signals.agent_purged, publish_purged, None),
    (signals.run_ready, submit, None),
    (signals.run_ended, reflection.reflect_after, None),
    (signals.tool_checked, store.read_off, None),
)
OF_PEOPLE: tuple[Connection, ...] = (
    *audited.SIGNALS,
    (post_save, announcements.changed, Announcement),
    (post_delete, announcements.changed, Announcement),
    (post_save, accounts.person_changed, User),
    (post_delete, accounts.person_changed, User),
    (post_delete, accounts.session_ended, Session),
    (m2m_changed, accounts.groups_changed, User.groups.through),
    (pre_delete, accounts.group_ends, Group),
    (post_save, quota.forget, Quota),
    (post_delete, quota.forget, Quota),
    (m2m_changed, quota.forget, User.groups.through),
)
OF_ENDPOINTS: tuple[Connection, ...] = (
    *(
        (signal, endpoints_changed, model)
        for signal in (post_save, post_delete)
        for model in (ModelEndpoint, EndpointModel, PersonalKey)
    ),
    (m2m_changed, endpoints_changed, ModelEndpoint.users.through),
    (m2m_changed, endpoints_changed, ModelEndpoint.groups.through),
    (m2m_changed, endpoints_changed, User.groups.through),
)
