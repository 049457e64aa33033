"""`/metrics`, in Prometheus' text format.

What concerns all processes is read off the database, which has it anyway, whoever is asked: so
workers, which serve no address, are covered, and nothing is kept twice. What concerns a process it
counts itself (`counts`). django-prometheus measures views, models and the cache of one process by
wrapping them, and needs a shared folder where there are several; runs, steps and tokens it does not
know.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import Count, Sum
from django.utils import timezone
from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.registry import Collector

from agents.models import Agent, Message, Run, Step

from . import counts
from .connections import look

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4
RECENT = timedelta(minutes=5)
LOOKED_BACK = 20_000  # rows from the newest, at most, that may be recent
QUANTILES = (0.5, 0.95, 1.0)
Family = Any


def text() -> bytes:
    """All metrics, as they are now."""
    registry = CollectorRegistry()
    for collector in (Counted(), Stored()):
        registry.register(collector)
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    GCCollector(registry=registry)
    return generate_latest(registry)


class Counted(Collector):
    """What this process has counted."""

    def collect(self) -> Iterator[Family]:
        requests = CounterMetricFamily(
            "memoryweb_http_requests",
            "Requests answered by this process.",
            labels=["kind", "status"],
        )
        for (kind, status), count in list(counts.requests.items()):
            requests.add_metric([kind, status], count)
        yield requests
        seconds = HistogramMetricFamily(
            "memoryweb_http_request_seconds", "How long they took.", labels=["kind"]
        )
        for kind, counted in list(counts.seconds.items()):
            *buckets, total = counted
            sums = [sum(buckets[: end + 1]) for end in range(len(buckets))]
            bounds = [*map(str, counts.BUCKETS), "+Inf"]
            seconds.add_metric([kind], list(zip(bounds, sums, strict=True)), total)
        yield seconds
        yield GaugeMetricFamily(
            "memoryweb_sockets", "Pages connected to this process.", counts.sockets["open"]
        )
        errors = CounterMetricFamily(
            "memoryweb_logged_errors", "Errors that this process logged.", labels=["logger"]
        )
        for logger, count in list(counts.errors.items()):
            errors.add_metric([logger], count)
        yield errors


class Stored(Collector):
    """What the database has, for all processes together."""

    def describe(self) -> list[Family]:
        """Nothing: collecting asks the database."""
        return []

    def collect(self) -> Iterator[Family]:
        yield from runs()
        yield from steps()
        yield from written()
        if settings.HOSTED:
            yield from jobs()
            yield from database()


def runs() -> Iterator[Family]:
    """Runs that wait or go on, and how those ended that ended lately."""
    active = GaugeMetricFamily("memoryweb_runs", "Runs not ended, by state.", labels=["state"])
    unended = [Run.Status.QUEUED, *Run.ACTIVE]
    rows = Run.objects.filter(status__in=unended).order_by().values_list("status")
    now = dict(rows.annotate(count=Count("pk")))
    for state in unended:
        active.add_metric([state], now.get(state, 0))
    yield active
    ended = GaugeMetricFamily(
        "memoryweb_runs_ended_5m",
        "Runs that ended in the last five minutes, by state and reason.",
        labels=["state", "reason"],
    )
    recent = newest(Run).filter(finished_at__gt=timezone.now() - RECENT)
    for state, reason, count in (
        recent.order_by().values_list("status", "reason").annotate(count=Count("pk"))
    ):
        ended.add_metric([state, reason], count)
    yield ended


def steps() -> Iterator[Family]:
    """Steps that ended lately: how many, how long they and their models took, tokens."""
    count = GaugeMetricFamily(
        "memoryweb_steps_5m",
        "Steps that ended in the last five minutes.",
        labels=["model", "state"],
    )
    whole = GaugeMetricFamily(
        "memoryweb_step_seconds_5m", "How long they took.", labels=["model", "quantile"]
    )
    model_only = GaugeMetricFamily(
        "memoryweb_model_seconds_5m",
        "How long their models took, without the tools.",
        labels=["model", "quantile"],
    )
    tokens = GaugeMetricFamily(
        "memoryweb_tokens_5m", "Tokens that were reported for them.", labels=["model", "kind"]
    )
    fields = ("pk", "model", "status", "started_at", "finished_at", "prompt_tokens")
    recent = newest(Step).filter(finished_at__gt=timezone.now() - RECENT)
    rows = list(recent.order_by().values_list(*fields, "completion_tokens"))
    tools = dict(
        Message.objects.filter(step__in=[row[0] for row in rows], role=Message.Role.TOOL)
        .order_by()
        .values_list("step")
        .annotate(milliseconds=Sum("duration_ms"))
    )
    for model in sorted({row[1] for row in rows}):
        of_model = [row for row in rows if row[1] == model]
        for state in sorted({row[2] for row in of_model}):
            count.add_metric([model, state], sum(row[2] == state for row in of_model))
        took = {row[0]: (row[4] - row[3]).total_seconds() for row in of_model}
        alone = [max(s - (tools.get(pk) or 0) / 1000, 0.0) for pk, s in took.items()]
        for quantile in QUANTILES:
            whole.add_metric([model, f"{quantile:g}"], at(quantile, list(took.values())))
            model_only.add_metric([model, f"{quantile:g}"], at(quantile, alone))
        tokens.add_metric([model, "prompt"], sum(row[5] or 0 for row in of_model))
        tokens.add_metric([model, "completion"], sum(row[6] or 0 for row in of_model))
    yield from (count, whole, model_only, tokens)


def written() -> Iterator[Family]:
    """All that was ever written; less only where agents were deleted."""
    sums = Agent.objects.aggregate(events=Sum("last_seq"), messages=Sum("message_count"))
    agents = Agent.objects.filter(deleted_at=None).count()
    yield GaugeMetricFamily("memoryweb_agents", "Agents that are not deleted.", agents)
    events, messages = sums["events"] or 0, sums["messages"] or 0
    yield CounterMetricFamily("memoryweb_events", "Events ever recorded.", events)
    yield CounterMetricFamily("memoryweb_messages", "Messages ever stored.", messages)


def jobs() -> Iterator[Family]:
    """The workers' queue."""
    queue = GaugeMetricFamily(
        "memoryweb_jobs", "Jobs of the workers, by task and state.", labels=["task", "state"]
    )
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT task_name, status::text, count(*) FROM procrastinate_jobs GROUP BY 1, 2"
        )
        for task, state, count in cursor.fetchall():
            queue.add_metric([task, state], count)
        seconds = settings.PROCRASTINATE_WORKER_DEFAULTS["stalled_worker_timeout"]
        cursor.execute(
            "SELECT count(*) FROM procrastinate_workers"
            " WHERE last_heartbeat > now() - make_interval(secs => %s)",
            [seconds],
        )
        ((alive,),) = cursor.fetchall()
    yield queue
    yield GaugeMetricFamily("memoryweb_workers", "Workers that live.", alive)


def database() -> Iterator[Family]:
    """Connections to Postgres."""
    found = look()
    yield GaugeMetricFamily("memoryweb_connections", "Connections open.", found.open)
    yield GaugeMetricFamily(
        "memoryweb_connections_most", "What the processes that live may take.", found.most
    )
    yield GaugeMetricFamily("memoryweb_connections_limit", "What Postgres gives.", found.limit)


def newest(model: Any) -> Any:
    """The newest rows of a table, by their keys."""
    last = model.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    return model.objects.filter(pk__gt=last - LOOKED_BACK)


def at(quantile: float, values: list[float]) -> float:
    """The value that so large a part of the others does not exceed."""
    ordered = sorted(values)
    return ordered[min(int(quantile * len(ordered)), len(ordered) - 1)]
