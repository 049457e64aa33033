"""Limits: how much one person may have or ask for, so that nobody takes what is everybody's."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth.models import User
from django.core.cache import caches
from django.db.models import QuerySet, Sum
from django.utils.translation import gettext, ngettext

from agents.text.numbers import decimal, whole
from agents.text.stored import stored_plural

if TYPE_CHECKING:
    from .agent import Agent
    from .image import Image

MEGABYTE = 1024 * 1024
QUEUE_IS_FULL = stored_plural(
    "%(count)s message already waits in this conversation, and no more may. Send more when it is"
    " answered, or remove it from the queue.",
    "%(count)s messages already wait in this conversation, and no more may. Send more when some"
    " are answered, or remove some from the queue.",
)
logger = logging.getLogger(__name__)


class LimitReached(Exception):
    """A limit was reached; the message is a sentence that says what to do.

    `seconds` is how long to wait before the same may be tried again.
    """

    def __init__(self, message: str, seconds: int) -> None:
        super().__init__(message)
        self.seconds = seconds


def check_queue(waiting: int) -> None:
    """LimitReached where a conversation's queue, of so many messages, takes no more."""
    if waiting >= settings.QUEUE_LIMIT:
        raise LimitReached(
            ngettext(*QUEUE_IS_FULL, waiting) % {"count": waiting},
            seconds=10,
        )


def check_agents(owner: User, more: int = 1) -> None:
    """LimitReached where so many more agents are too many for a person; in the transaction that
    makes them. Holds the person's row, so that requests of the same moment count each other's.
    """
    if not settings.ACCOUNTS:
        return
    User.objects.select_for_update(no_key=True).get(pk=owner.pk)
    count, most = owner.agents.filter(deleted_at=None).count(), settings.AGENTS_LIMIT
    if count + more > most:
        raise LimitReached(
            ngettext(
                "You have %(count)s agent; one person may have at most %(most)s. Delete agents"
                " that you no longer need, then try again.",
                "You have %(count)s agents; one person may have at most %(most)s. Delete agents"
                " that you no longer need, then try again.",
                count,
            )
            % {"count": whole(count), "most": whole(most)},
            seconds=3600,  # an SDK that is told a minute sits and waits for it
        )


def check_conversations(agent: Agent) -> None:
    """LimitReached where an agent has as many conversations as it may, but for imported ones."""
    count, most = agent.conversations.filter(imported=None).count(), settings.CONVERSATIONS_LIMIT
    if count >= most:
        raise LimitReached(
            ngettext(
                "This agent has %(count)s conversation; an agent may have at most %(most)s. Delete"
                " conversations that you no longer need, then try again.",
                "This agent has %(count)s conversations; an agent may have at most %(most)s."
                " Delete conversations that you no longer need, then try again.",
                count,
            )
            % {"count": whole(count), "most": whole(most)},
            seconds=3600,
        )


def check_schedules(agent: Agent) -> None:
    """LimitReached where an agent has as many scheduled messages as it may; with its row held."""
    count, most = agent.schedules.exclude(next_at=None).count(), settings.SCHEDULES_LIMIT
    if count >= most:
        raise LimitReached(
            ngettext(
                "This agent has %(count)s scheduled message; an agent may have at most %(most)s."
                " Stop those that you no longer need, then try again.",
                "This agent has %(count)s scheduled messages; an agent may have at most %(most)s."
                " Stop those that you no longer need, then try again.",
                count,
            )
            % {"count": whole(count), "most": whole(most)},
            seconds=3600,
        )


def check_images(owned: QuerySet[Image], more: int) -> None:
    """LimitReached where so many more bytes are too many beside the images a person has."""
    if not settings.ACCOUNTS:
        return
    size = (owned.aggregate(size=Sum("size"))["size"] or 0) / MEGABYTE
    if size + more / MEGABYTE > settings.IMAGES_LIMIT:
        raise LimitReached(
            gettext(
                "Your images take %(size)s MB; one person’s may take at most %(most)s MB. Delete"
                " conversations or agents that have images, then try again."
            )
            % {"size": decimal(size, 0), "most": whole(settings.IMAGES_LIMIT)},
            seconds=3600,
        )


def check_requests(user_id: int) -> None:
    """Count a request of a person; LimitReached where it is one too many within this minute.

    Counted by this process alone, or with Redis by all of them. While Redis fails nobody is held
    up.
    """
    if not settings.ACCOUNTS:
        return
    minute, second = divmod(int(time.time()), 60)
    if counted(f"{user_id}.{minute}") > settings.REQUESTS_LIMIT:
        raise LimitReached(
            ngettext(
                "You made more than %(most)s request within a minute; that is the limit for one"
                " person. Try again in %(seconds)s s.",
                "You made more than %(most)s requests within a minute; that is the limit for one"
                " person. Try again in %(seconds)s s.",
                settings.REQUESTS_LIMIT,
            )
            % {"most": whole(settings.REQUESTS_LIMIT), "seconds": 60 - second},
            seconds=60 - second,
        )


def counted(name: str) -> int:
    """How often this was called with that name in the last minute or two."""
    try:
        try:
            return int(caches["requests"].incr(name))
        except ValueError:  # the first of its minute
            caches["requests"].add(name, 0, timeout=120)
            return int(caches["requests"].incr(name))
    except Exception:
        logger.warning("Requests cannot be counted.", exc_info=True)
        return 0
