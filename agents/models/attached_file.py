"""AttachedFile: a file whose text becomes passages of archival memory, for a message that names it.

All its passages have its tag and no others do, unless somebody gives it to them. The file itself is
kept only until it is read. What a message says of it is part of the message's text, so that it is
wherever the message goes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import NamedTuple

from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from agents.text.numbers import whole

from .background_job import BackgroundJob, BackgroundJobQuerySet
from .editing import Editor
from .event import Event
from .image import MOST_IMAGES
from .passage import LONGEST_TAG, Passage

SEARCH = "archival_memory_search"
# How a file is read, by the end of its name.
READ_AS = {
    **dict.fromkeys((".txt", ".text", ".md", ".markdown", ".csv", ".json"), "text"),
    **dict.fromkeys((".html", ".htm"), "html"),
    ".pdf": "pdf",
    ".docx": "docx",
}
NOTE = (
    "[Attached file {tag}: its text is in archival memory, in {count} with this tag; "
    f"{SEARCH} finds them.]"
)
AT_END = re.compile(
    r"\s*"
    + re.escape(NOTE)
    .replace(r"\{tag\}", r'("(?:[^"\\\n]|\\["\\]){1,200}")')
    .replace(r"\{count\}", r"(1 passage|[\d,]{1,9} passages)")
    + r"\Z"
)


class NamedFile(NamedTuple):
    """A file as a message's text names it: its tag, and how many passages it became, in words."""

    tag: str
    passages: str


class AttachedFileQuerySet(BackgroundJobQuerySet):
    def with_notes(self, keys: Sequence[int], text: str) -> str:
        """A message's text that says of these files where their text is.

        ValidationError where they are too many, or one is not in archival memory.
        """
        if len(keys) > MOST_IMAGES:
            raise ValidationError(
                ngettext(
                    "The message has %(count)s file; at most %(most)s are allowed. Send the"
                    " others in another message.",
                    "The message has %(count)s files; at most %(most)s are allowed. Send the"
                    " others in another message.",
                    len(keys),
                )
                % {"count": whole(len(keys)), "most": whole(MOST_IMAGES)}
            )
        read = self.filter(status=AttachedFile.Status.DONE).in_bulk(list(keys))
        if not read.keys() >= set(keys):
            raise ValidationError(
                gettext(
                    "A file of this message is not in archival memory: it was removed, or is still"
                    " being read. Attach it again."
                )
            )
        return "\n\n".join([*filter(None, [text.strip()]), *(read[key].note for key in keys)])


class AttachedFileManager(models.Manager["AttachedFile"]):
    def get_queryset(self) -> AttachedFileQuerySet:
        """Rows without the files themselves."""
        return AttachedFileQuerySet(self.model, using=self._db).defer("data")


class AttachedFile(BackgroundJob):
    """One file, how far it is read, and why not if it cannot be. Shown by its `tag`: its name, with
    a number where the agent had one of that name."""

    class Status(models.TextChoices):
        READING = "reading", _("being read")
        DONE = "done", _("in archival memory")
        FAILED = "failed", _("not read")

    WORKED_ON = (Status.READING,)

    agent = models.ForeignKey("Agent", models.CASCADE, related_name="attached_files")
    tag = models.CharField(max_length=LONGEST_TAG)
    sha256 = models.CharField(max_length=64)
    data = models.BinaryField(help_text="Empty once it is read.")
    status = models.CharField(max_length=10, choices=Status, default=Status.READING)
    passages = models.PositiveIntegerField(default=0, help_text="Stored so far.")
    total = models.PositiveIntegerField(default=0, help_text="Passages; 0 until it is read.")

    objects = AttachedFileManager.from_queryset(AttachedFileQuerySet)()

    class Meta(BackgroundJob.Meta):
        constraints = [
            models.UniqueConstraint(fields=["agent", "tag"], name="attached_file_has_its_own_tag"),
        ]

    def __str__(self) -> str:
        return self.tag

    @property
    def read_as(self) -> str:
        """How it is read: text, html, pdf or docx."""
        return READ_AS[PurePath(self.name).suffix.lower()]

    # -- verbs ---------------------------------------------------------------------------------

    @transaction.atomic
    def store(self, texts: Sequence[str], *, by: Editor) -> None:
        """Store some more of its passages, and how far it is; refused as by `Passage.insert`."""
        self.keep(passages=self.passages + len(texts), tries=0)
        Passage.insert_all(self.agent, texts, [self.tag], by=by)

    @transaction.atomic
    def end(self, status: str, error: str = "") -> None:
        """Nothing more is to be done; the file goes."""
        self.keep(status=status, error=error, finished_at=timezone.now(), data=b"", tries=0)
        self.announce()

    def announce(self) -> None:
        """Have the page draw how far it is."""
        self.agent.record(Event.of(Event.Kind.ARCHIVAL_CHANGED))

    @property
    def note(self) -> str:
        """What a message says of it."""
        count = "1 passage" if self.total == 1 else f"{self.total:,} passages"
        return NOTE.format(tag=json.dumps(self.tag, ensure_ascii=False), count=count)


def without_notes(text: str) -> tuple[str, list[NamedFile]]:
    """A message's text without what it says of files at its end, and these files."""
    files = []
    while found := AT_END.search(text):
        count = int(found[2].split(" ")[0].replace(",", ""))
        passages = ngettext("%(count)s passage", "%(count)s passages", count)
        files.append(NamedFile(json.loads(found[1]), passages % {"count": whole(count)}))
        text = text[: found.start()]
    return text, files[::-1]
