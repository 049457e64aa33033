"""The engine: where runs execute. Threads of this process, or Procrastinate workers on Postgres.

Either way a run is handed over in the transaction that begins it, and is executed by
`run_agent(run_id)`, which goes on from whatever is stored. Whatever state the rows are left in by a
crash or a failing database, `take_up()` finds it and has it go on.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial

from django.conf import settings
from django.db import close_old_connections, connection, transaction
from django.db.models import Exists, OuterRef, Q
from structlog.contextvars import bound_contextvars

from agents.models import Approval, Conversation, Run
from agents.models.database_errors import unavailable
from agents.models.lease import silent_since
from agents.models.run_queryset import RunQuerySet

from .loop import run_agent

if settings.HOSTED:  # its library is there in this form only
    from . import jobs

logger = logging.getLogger(__name__)
LONGEST_PAUSE = 300.0  # seconds until a run that broke off again and again is taken up once more

_handed: Counter[int] = Counter()  # runs that this process's threads have, or wait to have
_broken: dict[int, tuple[int, float]] = {}  # how often each broke off; when it may be taken up
_handing = threading.Lock()


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(settings.RUN_THREADS, thread_name_prefix="run")


def submit(run: Run) -> None:
    """Have a run executed once the transaction that began it is committed."""
    if settings.HOSTED:
        jobs.defer_run(run.pk)
    else:
        transaction.on_commit(partial(_hand_to_thread, run.pk))


def _hand_to_thread(run_id: int) -> None:
    with _handing:
        _handed[run_id] += 1
    _threads().submit(_execute_here, run_id)


def _execute_here(run_id: int) -> None:
    try:
        execute(run_id)
    finally:
        with _handing:
            _handed[run_id] -= 1
            # else it paused, and was handed over again before this thread left
            if not _handed[run_id]:
                del _handed[run_id]


def execute(run_id: int) -> None:
    """Execute a run on this thread; whatever goes wrong is in the log and on the run.

    Where it cannot be on the run, as the database failed, the run is taken up again later.
    """
    try:
        with bound_contextvars(run_id=run_id, step_id=None):
            run_agent(run_id)
        _broken.pop(run_id, None)
    except Exception as error:
        _rest(run_id)
        if words := unavailable(error):
            logger.warning("Run %s broke off, and goes on when it can. %s", run_id, words)
        else:
            logger.exception("Run %s broke off.", run_id)
    finally:
        if connection.vendor != "sqlite":  # a file's connection stays with its thread
            close_old_connections()


def _rest(run_id: int) -> None:
    """Leave a run alone for longer each time that it breaks off: each try asks the model anew."""
    times, _ = _broken.get(run_id, (0, 0.0))
    pause = min(LONGEST_PAUSE, 5.0 * (2**times - 1))
    _broken[run_id] = times + 1, time.monotonic() + pause


# -- what was left lying ---------------------------------------------------------------------------


def resume() -> int:
    """Go on with every run that a stopped process left; at the start of a single process."""
    return hand_over(Run.objects.running())


def take_up() -> int:
    """Have go on whatever should and does not; how many runs that was. Called every few seconds.

    A run is left lying when its worker died, when a database error outlasted the run's own
    handling of it, or when its job was lost; a waiting message, when the run before it went away
    without ending; a paused run, when its approval went away undecided.
    """
    return _hand_over_left() + _begin_waiting() + _resume_undecided()


def _hand_over_left() -> int:
    if not _left_lying().exists():  # looked at first without holding the database
        return 0
    with transaction.atomic():  # on SQLite no thread takes a run meanwhile
        return hand_over(_left_lying())


def _left_lying() -> RunQuerySet:
    """Runs on which nobody works: no sign of life for too long, or handed to nobody."""
    if not settings.HOSTED:
        now = time.monotonic()
        resting = [pk for pk, (_, until) in list(_broken.items()) if until > now]
        with _handing:
            return Run.objects.running().exclude(pk__in=[*_handed, *resting])
    lost = Q(seen_at=None) & ~jobs.has_job()
    return Run.objects.running().filter(Q(seen_at__lt=silent_since()) | lost)


@transaction.atomic
def hand_over(runs: RunQuerySet) -> int:
    """Have runs executed that nobody executes; how many there were."""
    handed = list(runs.select_for_update(of=("self",)))
    Run.objects.filter(pk__in=[run.pk for run in handed]).update(seen_at=None)
    for run in handed:
        submit(run)
    return len(handed)


def _begin_waiting() -> int:
    """Begin the messages that wait behind no run."""
    waiting = Run.objects.startable().filter(agent__deleted_at=None)
    stuck = Conversation.objects.filter(pk__in=waiting.conversations()).select_related("agent")
    for conversation in stuck:
        with transaction.atomic():
            conversation.agent = conversation.agent.locked()
            if not conversation.current_run():
                conversation.begin_next()
    return len(stuck)


def _resume_undecided() -> int:
    """Go on with runs that wait for a person who is asked nothing."""
    pending = Approval.objects.pending().filter(step__run=OuterRef("pk"))
    stuck = Run.objects.filter(~Exists(pending), status=Run.Status.WAITING)
    for run in stuck:
        with transaction.atomic():
            Run.objects.select_for_update(of=("self",)).get(pk=run.pk).resume()
    return len(stuck)
