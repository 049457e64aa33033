"""Usage: what each person's calls of models took, day by day; it outlives agents and people."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import connection, models, transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from agents.text.numbers import whole

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from .run import Run

EXPIRES = timedelta(minutes=15)  # after which a reservation nobody settled counts as spent
BATCH = 200  # of them settled at once
OF_MODEL = ("endpoint", "model", "kind", "own_key")
SUMS = ("prompt_tokens", "completion_tokens", "cost")

ADD = """
INSERT INTO agents_usage (day, user_id, name, endpoint, model, kind, own_key,
    calls, prompt_tokens, completion_tokens, cost)
SELECT %s, u.id, COALESCE(u.username, ''), %s, %s, %s, %s, %s, %s, %s, %s
FROM (SELECT %s AS id) paying LEFT JOIN auth_user u ON u.id = paying.id WHERE true
ON CONFLICT (user_id, day, endpoint, model, kind, own_key) DO UPDATE SET
    calls = agents_usage.calls + excluded.calls,
    prompt_tokens = agents_usage.prompt_tokens + excluded.prompt_tokens,
    completion_tokens = agents_usage.completion_tokens + excluded.completion_tokens,
    cost = agents_usage.cost + excluded.cost
"""


class Spent(models.Model):
    """What calls took: of which model, what for, how many tokens and how much money."""

    class Kind(models.TextChoices):
        MESSAGE = "message", _("answering messages")
        COMPACTION = "compaction", _("compactions")
        TITLE = "title", _("titles")
        REFLECTION = "reflection", _("reflections")
        EMBEDDING = "embedding", _("embeddings")
        CHECK = "check", _("tests of endpoints")

    endpoint = models.CharField(max_length=200)
    model = models.CharField(max_length=200)
    kind = models.CharField(_("purpose"), max_length=10, choices=Kind)
    own_key = models.BooleanField(
        _("own API key"), default=False, help_text=_("Paid for by the person's own API key.")
    )
    prompt_tokens = models.BigIntegerField(default=0)
    completion_tokens = models.BigIntegerField(default=0)
    cost = models.BigIntegerField(default=0, help_text=_("Millionths of a US dollar."))

    class Meta:
        abstract = True

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


class Usage(Spent):
    """What one person's calls of a model took on one day, for one purpose."""

    day = models.DateField(help_text=_("In UTC."))
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        db_index=False,  # the constraint's begins with it
        related_name="usage",
    )
    name = models.CharField(_("person"), max_length=150, help_text=_("Who it was, on that day."))
    calls = models.BigIntegerField(default=0)

    class Meta:
        verbose_name_plural = _("usage")
        ordering = ["-day", "name", "model"]
        constraints = [
            models.UniqueConstraint(
                fields=["user", "day", "endpoint", "model", "kind", "own_key"],
                name="usage_is_one_row_a_day",
            )
        ]
        indexes = [models.Index(fields=["day"], name="usage_by_day")]

    def __str__(self) -> str:
        return f"{self.day}: {self.name}, {self.model}"

    @classmethod
    def add(cls, user_id: int, spent: Spent, calls: int = 1) -> None:
        """Add a call to what a person used today, by one statement."""
        fields: list[Any] = [spent.endpoint[:200], spent.model[:200], spent.kind, spent.own_key]
        sums = [calls, spent.prompt_tokens, spent.completion_tokens, spent.cost]
        with connection.cursor() as cursor:
            cursor.execute(ADD, [today(), *fields, *sums, user_id])

    @classmethod
    def tokens_this_month(cls, user: User) -> int:
        """What a person has used since the month began."""
        rows = cls.objects.filter(user=user, day__gte=today().replace(day=1))
        sums = rows.aggregate(sent=models.Sum("prompt_tokens"), got=models.Sum("completion_tokens"))
        return int(sums["sent"] or 0) + int(sums["got"] or 0)


class Reservation(Spent):
    """What a call in hand may take, held back from a person's quota until it is settled."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    run = models.ForeignKey("Run", models.SET_NULL, null=True, related_name="+")
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        words = ngettext(
            "%(count)s token of %(model)s", "%(count)s tokens of %(model)s", self.tokens
        )
        return words % {"count": whole(self.tokens), "model": self.model}

    @classmethod
    def make(cls, user_id: int, run: Run | None, expected: Spent) -> Reservation:
        """Hold back what a call is expected to take."""
        fields = {name: getattr(expected, name) for name in (*OF_MODEL, *SUMS)}
        expires_at = timezone.now() + EXPIRES
        return cls.objects.create(user_id=user_id, run=run, expires_at=expires_at, **fields)

    @transaction.atomic(savepoint=False)
    def settle(self, spent: Spent | None) -> None:
        """Count what the call really took, None for nothing, in place of what was held back.

        Where that was counted already, as nobody had settled it in time, the difference is.
        """
        in_time, _ = Reservation.objects.filter(pk=self.pk).delete()
        if in_time and spent:
            Usage.add(self.user_id, spent)
        elif not in_time:
            Usage.add(self.user_id, self.difference(spent), calls=0 if spent else -1)

    def difference(self, spent: Spent | None) -> Spent:
        """What is still to be counted."""
        fields: dict[str, Any] = {name: getattr(self, name) for name in OF_MODEL}
        for name in SUMS:
            fields[name] = (getattr(spent, name) if spent else 0) - getattr(self, name)
        return Usage(**fields)

    @classmethod
    def settle_left(cls, run: Run) -> bool:
        """Count in full what a run's calls held back that a crash cut off; whether there were any.
        In the transaction in which the run is taken up again."""
        left = list(cls.objects.filter(run=run))
        for each in left:
            each.settle(each)
        return bool(left)

    @classmethod
    def settle_expired(cls) -> None:
        """Count in full what nobody settled in time."""
        late = cls.objects.filter(expires_at__lte=timezone.now()).order_by("pk")
        if not late.exists():
            return
        with transaction.atomic():
            for each in late.select_for_update(skip_locked=True)[:BATCH]:
                each.settle(each)


def today() -> date:
    """The day that counts, in UTC."""
    return timezone.now().astimezone(UTC).date()


def next_day(day: date) -> datetime:
    """When a day ends."""
    return datetime.combine(day + timedelta(days=1), datetime.min.time(), UTC)


def next_month(day: date) -> datetime:
    """When a day's month ends."""
    year, month = divmod(day.year * 12 + day.month, 12)
    return datetime(year, month + 1, 1, tzinfo=UTC)
