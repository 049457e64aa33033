"""What is in a file, read by another process (`reader.py`) that may fail in any way it likes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from agents.text.cutting import cut
from agents.text.stored import stored as _
from agents.text.stored import stored_plural

READER = Path(__file__).with_name("reader.py")
MEMORY = 1024**3  # bytes
SECONDS = 60  # of computing
PATIENCE = 180.0  # seconds until it ends, on a machine that has other work
LARGEST_OUTPUT = 32 * 1024 * 1024  # bytes of JSON
SIGN_SECONDS = 3.0  # between two signs of life
LONGEST_PASSAGE = 2_000  # characters: about a page
MOST_PASSAGES = 2_000
MOST_NAMED = 10  # pages without text that are named one by one
KEPT = ("LD_LIBRARY_PATH", "SYSTEMROOT")  # of the environment, which has secrets

REFUSALS = {
    "encrypted": _("It has a password. Save it without one, then attach it again."),
    "old": _(
        "It has a password, or is of a Word older than 2007. Save it as .docx without a password,"
        " then attach it again."
    ),
    "damaged": _(
        "It is damaged, or is not what its name says. Open it in another program, save it anew,"
        " then attach that."
    ),
    "scanned": _(
        "It has no text, only pictures of its pages. Run text recognition (OCR) over it, then"
        " attach it again."
    ),
    "empty": _("It has no text. Put its text into another file and attach that."),
    "limits": _(
        "Reading it took more than %(seconds)s seconds or %(memory)s GB of memory. Split it, or"
        " save its text as a .txt file, then attach that."
    ),
}
TOO_MANY = stored_plural(
    "It would be %(count)s passage; at most %(most)s of a file are stored. Split it and attach its"
    " parts.",
    "It would be %(count)s passages; at most %(most)s of a file are stored. Split it and attach its"
    " parts.",
)
PAGE = _("Page %(number)s has no text that could be read.")
PAGES = _("Pages %(numbers)s and %(last)s have no text that could be read.")
MANY_PAGES = stored_plural(
    "%(count)s page has no text that could be read.",
    "%(count)s pages have no text that could be read.",
)


class Unreadable(Exception):
    """Why nothing of a file is stored, and what to do."""


class Contents(NamedTuple):
    """The passages of a file, and what of it has no text, in words."""

    passages: list[str]
    remark: str


def read_file(kind: str, source: str, data: bytes, sign: Callable[[], object]) -> Contents:
    """The passages of a file, each with its source and its page named; `kind` as in
    `attached_file.READ_AS`. Calls `sign` every few seconds. Unreadable where there are none, or too
    many."""
    answer = answer_of(kind, data, sign)
    if why := answer.get("refused"):
        limits = {"seconds": SECONDS, "memory": MEMORY // 1024**3}
        raise Unreadable(REFUSALS.get(why, REFUSALS["damaged"]) % limits)
    passages = []
    for page, text in answer["parts"]:
        lead = f"From {source}, page {page}.\n" if page else f"From {source}.\n"
        passages += [lead + piece for piece in cut(text, LONGEST_PASSAGE - len(lead))]
    if len(passages) > MOST_PASSAGES:
        counts = {"count": f"{len(passages):,}", "most": f"{MOST_PASSAGES:,}"}
        raise Unreadable(TOO_MANY[1] % counts)
    return Contents(passages, remark_on(answer["empty"]))


def answer_of(kind: str, data: bytes, sign: Callable[[], object]) -> dict[str, Any]:
    """What the process says of a file."""
    limits = map(str, (MEMORY, SECONDS, LARGEST_OUTPUT))
    environment = {name: os.environ[name] for name in KEPT if name in os.environ}
    with tempfile.TemporaryFile() as file, tempfile.TemporaryFile() as output:
        file.write(data)
        file.seek(0)
        process = subprocess.Popen(
            [sys.executable, "-I", str(READER), kind, *limits],
            stdin=file,
            stdout=output,
            stderr=subprocess.DEVNULL,
            env=environment,
            cwd=READER.anchor,
        )
        try:
            follow(process, sign)
        finally:
            process.kill()
            process.wait()
        output.seek(0)
        with suppress(ValueError, RecursionError):
            answer = json.loads(output.read(LARGEST_OUTPUT + 1))
            if process.returncode == 0 and isinstance(answer, dict):
                return answer
    return {"refused": "limits"}


def follow(process: subprocess.Popen[bytes], sign: Callable[[], object]) -> None:
    """Wait for a process, for as long as it may take."""
    ends = time.monotonic() + PATIENCE
    while (left := ends - time.monotonic()) > 0:
        with suppress(subprocess.TimeoutExpired):
            process.wait(min(SIGN_SECONDS, left))
            return
        sign()


def remark_on(pages: list[int]) -> str:
    """Which pages have no text."""
    if not pages:
        return ""
    if len(pages) == 1:
        return PAGE % {"number": pages[0]}
    if len(pages) > MOST_NAMED:
        return MANY_PAGES[1] % {"count": f"{len(pages):,}"}
    return PAGES % {"numbers": ", ".join(map(str, pages[:-1])), "last": pages[-1]}
