"""Schedule: messages that are sent to an agent at a time, once or again and again."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Self
from zoneinfo import ZoneInfo

from croniter import croniter
from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.utils import timezone, translation
from django.utils.formats import date_format
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from agents.text.stored import stored

from .event import Event
from .limits import LimitReached, check_schedules
from .message import checked
from .run import Run

if TYPE_CHECKING:
    from .agent import Agent

MOST_MESSAGES = 20  # that are sent at one time
LONGEST_CRON = 100  # characters
FARTHEST = timedelta(days=3660)  # ahead
GRACE = timedelta(minutes=1)  # a time that passed while it was being sent is now
KEEPS_TRYING = timedelta(hours=1)  # while the agent's queue is full
MOST_AT_ONCE = 1000  # that fire at one turn of the periodic task
KEPT_WHEN_OVER = 20  # of an agent, of those that have no next time
NOT_SENT = stored(gettext_noop("Not sent: %(words)s"))
NOT_SENT_YET = stored(gettext_noop("Not sent yet, and tried again: %(words)s"))
CRON_FORM = gettext_noop(
    "A cron expression has five fields: minute, hour, day of the month, month, day of the week;"
    " '0 9 * * 1-5' is 9:00 from Monday to Friday."
)


class ScheduleQuerySet(models.QuerySet["Schedule"]):
    def due(self, now: datetime) -> Self:
        """Those whose time has come; a deleted agent's and a disabled person's wait."""
        due = self.filter(next_at__lte=now, agent__deleted_at=None, agent__owner__is_active=True)
        return due.select_related("agent").order_by("next_at")

    def fire_due(self, now: datetime | None = None) -> int:
        """Send what is due; how many schedules did. Called every few seconds."""
        now = now or timezone.now()
        due = list(self.due(now)[:MOST_AT_ONCE])
        return sum(schedule.fire(now) is not None for schedule in due)

    def skip_missed(self) -> None:
        """Leave out what was due while the agent was deleted; where it is restored."""
        now = timezone.now()
        for schedule in self.filter(next_at__lte=now):
            schedule.move_on(now, gettext_noop("Not sent: the agent was deleted at that time."))


class Schedule(models.Model):
    """Messages for an agent's first conversation, and when they are sent.

    `scheduled_at` is set for one time, `cron` for a recurring one. A time that was missed, as the
    server was down, is made up for once, however many there were.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    agent = models.ForeignKey("Agent", models.CASCADE, related_name="schedules")
    messages = models.JSONField(help_text=_("Role and content of each."))
    scheduled_at = models.DateTimeField(null=True, blank=True)
    cron = models.CharField(max_length=LONGEST_CRON, blank=True)
    timezone = models.CharField(max_length=64, default="UTC", help_text=_("In which cron is read."))
    most_steps = models.PositiveIntegerField(null=True, blank=True)
    callback_url = models.TextField(blank=True, help_text=_("Where the end of each run is told."))
    request_config = models.JSONField(
        default=dict, editable=False, help_text=_("How a script wants the answers shown.")
    )
    next_at = models.DateTimeField(
        null=True, db_index=True, help_text=_("When it is due; empty where it is over.")
    )
    last_run = models.ForeignKey(
        Run, models.SET_NULL, null=True, blank=True, related_name="+", help_text=_("The newest.")
    )
    error = models.TextField(blank=True, help_text=_("Why the messages were not sent last time."))
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ScheduleQuerySet.as_manager()

    class Meta:
        ordering = ["created_at"]

    def __str__(self) -> str:
        return f"{self.when}: {self.text[:60]}"

    @classmethod
    @transaction.atomic
    def create(
        cls,
        agent: Agent,
        messages: Sequence[tuple[str, str]],
        *,
        at: datetime | None = None,
        cron: str = "",
        now: datetime | None = None,
        **options: Any,
    ) -> Schedule:
        """Have messages, each a role and a text, sent `at` a time, or again and again by `cron`.

        `cron` is read in the agent's time zone as it is now. `options` are `most_steps`,
        `callback_url` and `request_config`, as of a run. ValidationError for a message that cannot
        be sent and a time that does not come; LimitReached where the agent has as many schedules as
        it may.
        """
        now, agent = now or timezone.now(), agent.locked()
        if not 0 < len(messages) <= MOST_MESSAGES:
            words = gettext("Give from one to %(most)s messages; these are %(count)s.")
            raise ValidationError(words % {"most": MOST_MESSAGES, "count": len(messages)})
        kept = [{"role": role, "content": checked(text)} for role, text in messages]
        schedule = cls(agent=agent, messages=kept, scheduled_at=at, **options)
        schedule.cron, schedule.timezone = " ".join(cron.split()), agent.timezone
        schedule.next_at = schedule.time_after(now) if cron else checked_time(at, now)
        check_schedules(agent)
        schedule.save(force_insert=True)
        schedule._tell()
        return schedule

    @property
    def text(self) -> str:
        """What is said last, which the agent answers."""
        return str(self.messages[-1]["content"])

    @property
    def when(self) -> str:
        """Its rule in words."""
        if self.cron:
            return f"{self.cron} ({self.timezone})"
        return gettext("once")

    def time_after(self, moment: datetime) -> datetime:
        """The next time by `cron`; ValidationError where there is none."""
        if len(self.cron.split()) != 5 or len(self.cron) > LONGEST_CRON:
            words = gettext("'%(cron)s' is not a cron expression.") % {"cron": self.cron[:60]}
            raise ValidationError(f"{words} {gettext(CRON_FORM)}")
        try:
            local = moment.astimezone(ZoneInfo(self.timezone))
            times = croniter(self.cron, local)
            following: datetime = times.get_next(datetime)
            if following.fold and "*" not in self.cron.split()[1]:
                following = times.get_next(datetime)  # the hour that comes twice in autumn
        except (ValueError, LookupError, TypeError, ArithmeticError):
            words = gettext("No time fits '%(cron)s'.") % {"cron": self.cron}
            raise ValidationError(f"{words} {gettext(CRON_FORM)}") from None
        return following

    # -- sending -----------------------------------------------------------------------------------

    @transaction.atomic
    def fire(self, now: datetime) -> Run | None:
        """Send the messages if they are due; None if they are not, or not any more.

        What is due is read again with the agent's row held, so that of several processes one sends
        it; with the run in the same transaction, it is sent once over a crash as well.
        """
        agent = type(self.agent).objects.select_for_update().filter(pk=self.agent_id).first()
        held = Schedule.objects.due(now).select_for_update(of=("self",), skip_locked=True)
        mine = held.filter(pk=self.pk).first()
        if agent is None or mine is None:
            return None
        mine.agent = agent
        return mine._send(now)

    def _send(self, now: datetime) -> Run | None:
        if self.last_run and self.last_run.status == Run.Status.QUEUED:
            self.move_on(now, gettext_noop("Not sent: the message of the time before still waits."))
            return None
        try:
            self.last_run = self._start()
        except LimitReached as limit:
            if self.next_at and now - self.next_at < KEEPS_TRYING:
                self.error = NOT_SENT_YET % {"words": limit}
                self.save(update_fields=["error"])
                self._tell()
            else:
                self.move_on(now, NOT_SENT % {"words": limit})
            return None
        self.move_on(now)
        return self.last_run

    def _start(self) -> Run:
        """The run of the time that is due; the same one, however often it is asked for."""
        assert self.next_at
        *before, last = self.messages
        return self.agent.first_conversation.start(
            last["content"],
            f"schedule:{self.pk}:{self.next_at.isoformat()}",
            role=last["role"],
            before=before,
            most_steps=self.most_steps,
            callback_url=self.callback_url,
            request_config=self.request_config,
        )

    def move_on(self, now: datetime, error: str = "") -> None:
        """Wait for the next time after `now`, if there is one; `error`: why nothing was sent."""
        self.next_at, self.error = None, error
        if self.cron:
            try:
                with translation.override("en"):  # it is stored
                    self.next_at = self.time_after(now)
            except ValidationError as refusal:
                self.error = " ".join(filter(None, [error, *refusal.messages]))
        self.save(update_fields=["next_at", "error", "last_run"])
        self._tell()
        if self.next_at is None:
            over = self.agent.schedules.filter(next_at=None).order_by("-created_at")
            oldest = over.values_list("pk", flat=True)[KEPT_WHEN_OVER:]
            self.agent.schedules.filter(pk__in=list(oldest)).delete()

    @transaction.atomic
    def stop(self) -> None:
        """Send nothing more; what was sent goes on."""
        self._tell()
        self.delete()

    def _tell(self) -> None:
        """Have open pages show the schedules as they are now."""
        self.agent.record(Event.of(Event.Kind.AGENT_CHANGED))


def checked_time(at: datetime | None, now: datetime) -> datetime:
    """A time, if it is one to come."""
    if at is None:
        raise ValidationError(gettext("Say when: give a time, or a cron expression."))
    if at < now - GRACE:
        words = gettext("The time %(time)s UTC has passed; give one to come.")
        passed = date_format(at.astimezone(ZoneInfo("UTC")), "DATETIME_FORMAT")
        raise ValidationError(words % {"time": passed})
    if at > now + FARTHEST:
        words = gettext("The time is more than ten years ahead; give an earlier one.")
        raise ValidationError(words)
    return at
