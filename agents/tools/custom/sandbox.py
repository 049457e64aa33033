"""The sandbox: Python with no files, network, environment or processes, in pydantic-monty.

Code runs in worker processes of one pool, which lives as long as this process. Calls out of the
sandbox come back on the thread that called `run`.
"""

from __future__ import annotations

import atexit
import importlib
import os
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from django.conf import settings
from django.utils.translation import gettext

from agents.models import Tool
from agents.models.secrets import UNREADABLE

from .outcome import LONGEST_OUTPUT, cut

MOST_CALLS_OUT = 1_000  # of the sandbox to its stand-ins, within one run
SECONDS_FOR_A_WORKER = 30.0
PROCESSES = max(4, os.cpu_count() or 1)  # sandboxes at once
TOO_LONG = "TimeoutError: feed time limit exceeded"
TOO_LARGE = (
    "MemoryError: memory limit exceeded",
    "MemoryError: the worker exceeded its memory limit",
)
TOO_OFTEN = "RuntimeError: suspension limit"
HOW = "pip install pydantic-monty"


class Unavailable(Exception):
    """There is no sandbox here, so no custom tool is run; the message says why."""


@dataclass(frozen=True)
class Limits:
    """How long the code may run, and how much memory it may take."""

    seconds: float
    megabytes: int


def limits_of(tool: Tool) -> Limits:
    """What a call of a tool may take: what was set, if the operator still allows so much."""
    seconds, megabytes = settings.TOOL_SECONDS, settings.TOOL_MEGABYTES
    return Limits(
        min(tool.seconds or seconds, seconds), min(tool.megabytes or megabytes, megabytes)
    )


def most() -> Limits:
    """What the operator allows to any code."""
    return Limits(settings.TOOL_SECONDS, settings.TOOL_MEGABYTES)


@dataclass
class Printed:
    """What the code printed: the first characters, and how many there were."""

    text: str = ""
    length: int = 0

    def __call__(self, stream: str, text: str) -> None:
        self.length += len(text)
        self.text += text[: LONGEST_OUTPUT - len(self.text)]

    def __str__(self) -> str:
        return cut(self.text, self.length)


@dataclass
class SandboxResult:
    """How a run ended: its value, or the error; and what was printed either way.

    `lines` are those of the code that the error passed through, the innermost first.
    """

    value: Any = None
    error: str = ""
    lines: list[int] = field(default_factory=list)
    printed: Printed = field(default_factory=Printed)


_lock = threading.Lock()
_places = threading.Condition()
_held: Counter[int] = Counter()  # sandboxes by person: their key
_pools: dict[int, Any] = {}  # by process: a forked process cannot use its parent's workers


@cache
def _monty() -> Any:
    """The library, loaded where the first tool runs: whoever has none need not hold it.

    Unavailable where it is missing, or its native part does not fit this machine.
    """
    try:
        return importlib.import_module("pydantic_monty")
    except Exception as error:
        words = gettext(
            "Custom tools are off: the sandbox they run in, pydantic-monty, cannot be loaded"
            " (%(error)s). Install it with: %(command)s"
        )
        named = {"error": f"{type(error).__name__}: {error}", "command": HOW}
        raise Unavailable(words % named) from error


def available() -> tuple[bool, str]:
    """Whether custom tools can be run here; if not, why, in a sentence."""
    try:
        _pool()
    except Unavailable as error:
        return False, str(error)
    return True, ""


def run(
    code: str,
    *,
    person: int,
    inputs: Mapping[str, Any],
    modules: Mapping[str, Mapping[str, Any]],
    limits: Limits,
    environment: Mapping[str, str | None] | None = None,
) -> SandboxResult:
    """Run code of a person and return the value of its last expression.

    `inputs` are its first variables, `modules` what it may import beside the sandbox's own,
    `environment` what it reads by `os.getenv`; None for what is there but cannot be read.
    Raises Unavailable, and nothing else, where there is no sandbox to run it in.
    """
    with place_of(person):
        return _run(code, inputs, modules, limits, environment or {})


@contextmanager
def place_of(person: int) -> Iterator[None]:
    """Hold one of the sandboxes that a person may have at once, which are never all there are."""
    with _places:
        if not _places.wait_for(lambda: not is_full(person), SECONDS_FOR_A_WORKER):
            raise Unavailable(f"{full()} Call the tool again in a moment.")
        _held[person] += 1
    try:
        yield
    finally:
        with _places:
            _held[person] -= 1
            if not _held[person]:
                del _held[person]
            _places.notify_all()


def is_full(person: int) -> bool:
    """Whether a person has as many sandboxes as one may have."""
    return _held[person] >= _most()


def full() -> str:
    """That it is so, in a sentence."""
    words = gettext(
        "At most %(most)s tools of one person can run at the same time, and so many do."
    )
    return words % {"most": _most()}


def _most() -> int:
    return max(1, min(int(settings.SANDBOX_LIMIT), PROCESSES - 1))


def _run(
    code: str,
    inputs: Mapping[str, Any],
    modules: Mapping[str, Mapping[str, Any]],
    limits: Limits,
    environment: Mapping[str, str | None],
) -> SandboxResult:
    result, monty = SandboxResult(), _monty()
    try:
        session = _pool().checkout(
            limits={
                "max_feed_duration_secs": limits.seconds,
                "max_memory": limits.megabytes * 1_000_000,
                "max_suspensions": MOST_CALLS_OUT,
            },
            assert_message_annotations=False,
            # Time stands still for whoever waits: there is nothing in there to wait for.
            os_policy={"sleep": "zero"},
            external_modules={
                name: monty.ExternalModule(dict(attrs)) for name, attrs in modules.items()
            },
        )
        with session:
            result.value = session.feed_run(
                code, inputs=dict(inputs), print_callback=result.printed, os=_system(environment)
            )
    except TimeoutError:
        raise Unavailable("All sandboxes are busy; call the tool again in a moment.") from None
    except monty.MontyCrashedError as error:
        result.error = TOO_LONG if error.timed_out else f"the sandbox broke down: {error}"
    except (monty.MontyRuntimeError, monty.MontySyntaxError) as error:
        result.error = error.display("type-msg")
        frames = reversed(error.traceback())
        result.lines = [frame.line for frame in frames if frame.filename != "<string>"]
    except monty.MontyError as error:
        result.error = str(error)
    result.error = in_words(result.error, limits)
    return result


def in_words(error: str, limits: Limits) -> str:
    """An error as whoever wrote the code knows it: a limit by what was allowed."""
    if error.startswith(TOO_LONG):
        return f"TimeoutError: it did not end within {limits.seconds:g} s"
    if error.startswith(TOO_LARGE):
        return f"MemoryError: it needs more than {limits.megabytes} MB"
    if error.startswith(TOO_OFTEN):
        return f"RuntimeError: it used its memory and modules more than {MOST_CALLS_OUT:,} times"
    return error


def _system(environment: Mapping[str, str | None]) -> Any:
    """Answers what the code asks of the operating system: its variables, and nothing else.

    Where one cannot be read, asking for it fails, and so does asking for all of them.
    """

    def answer(*, name: str, args: tuple[Any, ...], **_: Any) -> Any:
        if name == "os.getenv":
            refuse_unreadable([args[0]])
            return environment.get(args[0], args[1] if len(args) > 1 else None)
        if name == "os.environ":
            refuse_unreadable(environment)
            return dict(environment)
        return _monty().NOT_HANDLED

    def refuse_unreadable(names: Iterable[str]) -> None:
        for name in names:
            if environment.get(name, "") is None:
                raise RuntimeError(f"the secret {name} {UNREADABLE}, in the agent's settings")

    return answer


def _pool() -> Any:
    """This process's pool, which was seen to work."""
    monty = _monty()
    with _lock:
        if pool := _pools.get(os.getpid()):
            return pool
        try:
            pool = monty.Monty(
                max_processes=PROCESSES,
                checkout_timeout=SECONDS_FOR_A_WORKER,
                feed_duration_limit_grace=0.5,
            )
            with ExitStack() as stack:
                stack.enter_context(pool)
                with pool.checkout() as session:
                    session.feed_run("1 + 1")
                atexit.register(stack.pop_all().close)
        except Exception as error:
            words = gettext(
                "Custom tools are off: the sandbox they run in, pydantic-monty, does not start"
                " (%(error)s). Install it again with: %(command)s"
            )
            named = {"error": f"{type(error).__name__}: {error}", "command": HOW}
            raise Unavailable(words % named) from error
        _pools[os.getpid()] = pool
        return pool
