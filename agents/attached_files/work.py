"""Attached files read in the background, one at a time in a process, and stored as passages.

A batch of passages is one transaction with how many are stored. So reading goes on after a crash
where it was; and of what cannot be read to its end nothing stays.
"""

from __future__ import annotations

import logging
import threading

from django.db import close_old_connections, connection, transaction
from django.utils.translation import gettext_noop as _

from agents.agent_file.rows import batch
from agents.models import AttachedFile, Editor, Passage
from agents.models.background_job import MOST_TRIES, JobLost
from agents.models.leaving import is_leaving
from agents.models.stored_bytes import StorageFull
from agents.search.scope import Passages

from .reading import MOST_PASSAGES, Unreadable, read_file

logger = logging.getLogger(__name__)
READ = "read_attached_files"  # the workers' task
BATCH = 20  # passages in a transaction

_reading = threading.Lock()  # the reader may take much memory


def work() -> None:
    """Read all files that are due."""
    with _reading:
        while not is_leaving() and (file := AttachedFile.objects.acquire()):
            do(file)


def do(file: AttachedFile) -> None:
    """Read one file; what goes wrong is told with it."""
    try:
        try:
            read(file)
        except (Unreadable, StorageFull) as error:
            give_up(file, str(error))
    except JobLost:
        logger.info("File %s is read elsewhere, or was removed.", file.pk)
    except Exception:
        logger.exception("Reading file %s broke off.", file.pk)
        file.release()
    finally:
        if connection.vendor != "sqlite" and not connection.in_atomic_block:
            close_old_connections()


def read(file: AttachedFile) -> None:
    """Store the passages of a file that are not stored yet."""
    if file.tries > MOST_TRIES:
        raise Unreadable(
            _(
                "Reading it broke off again and again. Save it in another form, such as .txt, then"
                " attach that."
            )
        )
    contents = read_file(file.read_as, file.tag, bytes(file.data), file.keep)
    file.keep(total=len(contents.passages))
    by = Editor.person(file.user or file.agent.owner, Editor.IMPORT)
    while rest := contents.passages[file.passages :]:
        if is_leaving():
            return file.release()
        with batch():
            file.store(rest[:BATCH], by=by)
    file.end(AttachedFile.Status.DONE, contents.remark)


@transaction.atomic
def give_up(file: AttachedFile, why: str) -> None:
    """Say why a file is not read, and delete what was stored of it."""
    file.end(AttachedFile.Status.FAILED, why)
    keys = Passages(file.agent, tags=(file.tag,)).newest(MOST_PASSAGES)
    if keys:
        Passage.remove_all(file.agent, keys)
