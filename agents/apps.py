"""The application: agents and everything they remember."""

from django.apps import AppConfig


class AgentsConfig(AppConfig):
    name = "agents"

    def ready(self) -> None:
        """Connect what has to happen after a change: which signal of a model calls what."""
        from django.conf import settings
        from django.contrib.auth.models import User
        from django.contrib.sessions.models import Session
        from django.db.models.signals import post_delete, post_migrate, post_save, pre_migrate

        from agents import accounts
        from agents.llm import prices
        from agents.search import index

        prices.load_prices(settings.PRICES)  # what cannot be read stops the start
        post_save.connect(accounts.person_changed, sender=User)
        post_delete.connect(accounts.person_changed, sender=User)
        post_delete.connect(accounts.session_ended, sender=Session)
        pre_migrate.connect(index.make_way, sender=self)
        post_migrate.connect(index.install_after_migrate, sender=self)
