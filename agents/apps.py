"""The application, and its wiring: which signal of a model calls what in the rooms above."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig


class AgentsConfig(AppConfig):
    """Agents and everything they remember."""

    name = "agents"

    def ready(self) -> None:
        """Connect the rooms. They are imported here, as no model can be imported earlier."""
        from django.conf import settings
        from django.contrib.auth.models import Group, User
        from django.contrib.sessions.models import Session
        from django.db.models.signals import (
            m2m_changed,
            post_delete,
            post_migrate,
            post_save,
            pre_delete,
            pre_migrate,
        )

        from agents import accounts, outgoing
        from agents.live import fragments, publisher
        from agents.llm import prices
        from agents.models import signals
        from agents.runs import engine, reflection
        from agents.search import index
        from agents.tools.custom import store

        def publish(agent: Any, events: Any, **_: Any) -> None:
            publisher.publish(agent, events)

        def publish_purged(agent_id: Any, **_: Any) -> None:
            publisher.publish_deleted(agent_id)

        def publish_access(agent_id: Any, user_ids: Any, **_: Any) -> None:
            publisher.publish_access(agent_id, user_ids)

        def submit(run: Any, **_: Any) -> None:
            engine.submit(run)

        prices.load_prices(settings.PRICES)  # what cannot be read stops the start
        outgoing.check_settings()
        publisher.set_renderer(fragments.render_published)
        connections = (
            (signals.events_recorded, publish, None),
            (signals.access_changed, publish_access, None),
            (signals.agent_purged, publish_purged, None),
            (signals.run_ready, submit, None),
            (signals.run_ended, reflection.reflect_after, None),
            (signals.tool_checked, store.read_off, None),
            (post_save, accounts.person_changed, User),
            (post_delete, accounts.person_changed, User),
            (post_delete, accounts.session_ended, Session),
            (m2m_changed, accounts.groups_changed, User.groups.through),
            (pre_delete, accounts.group_ends, Group),
            (pre_migrate, index.make_way, self),
            (post_migrate, index.install_after_migrate, self),
        )
        for signal, receiver, sender in connections:
            signal.connect(receiver, sender=sender, weak=False)
