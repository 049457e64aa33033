"""Files taken for an agent, and what came of them removed again, by the tag of their passages."""

from __future__ import annotations

import hashlib
import threading
from itertools import count
from pathlib import PurePath

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import connections, transaction
from django.utils.translation import gettext, ngettext

from agents.agent_file.rows import batches_of
from agents.models import Agent, AttachedFile, Event, Passage
from agents.models.attached_file import READ_AS, SEARCH
from agents.models.image_file import LARGEST_UPLOAD, MEGABYTE
from agents.models.message import storable
from agents.models.passage import LONGEST_TAG
from agents.models.stored_bytes import check_storage
from agents.search.scope import Passages
from agents.text.numbers import decimal, whole

from . import work

if settings.HOSTED:  # its library is there in this form only
    from agents.runs import jobs

MOST_AT_ONCE = 10  # files of an agent that are being read
EVERY = 1_000_000  # more passages than a tag is on


def take(agent: Agent, user: User, name: str, data: bytes) -> tuple[AttachedFile, bool]:
    """Take a file to be read in the background; and whether it is new, as the same one is not read
    twice.

    ValidationError where it is of another kind, empty or too large, where the agent could not find
    what is in it, or reads too many; StorageFull where the owner has too much.
    """
    name = " ".join(storable(name).split())[-LONGEST_TAG:]
    check(agent, name, data)
    check_storage(agent.owner_id)
    key = hashlib.sha256(data).hexdigest()
    with transaction.atomic():
        agent = agent.locked()
        files = AttachedFile.objects.filter(agent=agent)
        files.filter(status=AttachedFile.Status.FAILED, name=name).delete()
        for same in files.filter(sha256=key, name=name):
            if same.goes_on or len(keys_tagged(agent, same.tag)) == same.total:
                return same, False
        if files.filter(status=AttachedFile.Status.READING).count() >= MOST_AT_ONCE:
            raise ValidationError(
                ngettext(
                    "%(count)s file is being read for this agent. Attach it again when it is done.",
                    "%(count)s files are being read for this agent. Attach it again when one of"
                    " them is done.",
                    MOST_AT_ONCE,
                )
                % {"count": MOST_AT_ONCE}
            )
        tag = free_tag(agent, name)
        mine = {"agent": agent, "user": user}
        file = AttachedFile.objects.create(**mine, name=name, tag=tag, sha256=key, data=data)
        file.announce()
        begin_reading()
    return file, True


def check(agent: Agent, name: str, data: bytes) -> None:
    """ValidationError where a file is not one to be read for an agent."""
    if PurePath(name).suffix.lower() not in READ_AS:
        raise ValidationError(
            gettext(
                "Files of this kind cannot be read. Attach text, Markdown, PDF, Word (.docx), HTML,"
                " CSV or JSON, or an image."
            )
        )
    if not data:
        raise ValidationError(gettext("The file is empty. Attach one that has text."))
    if len(data) > LARGEST_UPLOAD:
        raise ValidationError(
            gettext(
                "The file has %(size)s MB; at most %(most)s MB are allowed. Split it, then attach"
                " its parts."
            )
            % {"size": decimal(len(data) / MEGABYTE), "most": whole(LARGEST_UPLOAD // MEGABYTE)}
        )
    if SEARCH not in agent.tools:
        raise ValidationError(
            gettext(
                "This agent could not look into the file, as it does not have the tool %(tool)s."
                " Attach that in the Tools tab first."
            )
            % {"tool": SEARCH}
        )


def free_tag(agent: Agent, name: str) -> str:
    """The name of a file, with a number where another file or any passage has it as its tag."""
    path = PurePath(name)
    for number in count(1):
        end = f" ({number}){path.suffix}" if number > 1 else path.suffix
        tag = path.stem[: LONGEST_TAG - len(end)] + end
        taken = AttachedFile.objects.filter(agent=agent, tag=tag).exists()
        if not taken and not Passages(agent, tags=(tag,)).newest(1):
            return tag
    raise AssertionError


def begin_reading() -> None:
    """Have somebody read what waits, once this transaction is committed."""
    if settings.HOSTED:
        jobs.defer_once(work.READ)
    else:
        transaction.on_commit(threading.Thread(target=read_here, daemon=True).start)


def read_here() -> None:
    try:
        work.work()
    finally:
        connections.close_all()


# -- removed ---------------------------------------------------------------------------------------


def keys_tagged(agent: Agent, tag: str) -> list[int]:
    """The agent's passages that have a tag."""
    return Passages(agent, tags=(tag,)).newest(EVERY)


def remove_tagged(agent: Agent, tag: str) -> None:
    """Delete all passages with a tag, and the attached file that they are of, also one that is
    being read."""
    with transaction.atomic():
        if AttachedFile.objects.filter(agent=agent, tag=tag).delete()[0]:
            agent.record(Event.of(Event.Kind.ARCHIVAL_CHANGED))
    for keys in batches_of(keys_tagged(agent, tag)):
        Passage.remove_all(agent, keys)
