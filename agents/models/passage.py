"""Passage: archival memory, texts that the agent stores to look up later."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import connection, models, transaction
from django.utils import timezone
from django.utils.translation import gettext, ngettext

from .agent import Agent
from .editing import Editor, MemoryRefusal, RowDeleted, VersionConflict
from .event import Event
from .message import over_most, storable
from .searchable import Searchable, indexed, passage_owner
from .stored_bytes import check_storage

LONGEST_PASSAGE = 100_000  # characters
LONGEST_TAG = 100  # characters
MOST_TAGS = 50


class Passage(Searchable):
    """A piece of archival memory. The editor fields say who wrote its text last.

    `recalled_count` and `recalled_at`: how often, and when last, a search by the agent found it.
    """

    agent = models.ForeignKey(Agent, models.CASCADE, related_name="passages", db_index=False)
    text = models.TextField()
    tags = models.JSONField(default=list, blank=True)
    editor_kind = models.CharField(max_length=10)
    editor_name = models.CharField(max_length=150)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    step = models.ForeignKey(
        "Step", models.SET_NULL, null=True, blank=True, related_name="passages"
    )
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(auto_now=True)
    recalled_count = models.PositiveIntegerField(default=0)
    recalled_at = models.DateTimeField(null=True, blank=True)

    TERMS_OF = frozenset({"agent", "text", "tags"})

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [
            models.Index(fields=["agent", "-created_at", "-id"], name="passage_newest"),
        ]

    def __str__(self) -> str:
        return self.text[:60]

    def search_terms(self) -> str:
        return indexed(passage_owner(self.agent_id.hex), self.text, tags=self.tags)

    # -- verbs -------------------------------------------------------------------------------

    @classmethod
    @transaction.atomic
    def insert(
        cls,
        agent: Agent,
        text: str,
        tags: Iterable[str] | None = None,
        *,
        by: Editor,
        created_at: datetime | None = None,
    ) -> Passage:
        """Store a text. MemoryRefusal where it is empty, too long, or its tags are not tags;
        StorageFull where the owner has too much."""
        passage = cls(agent=agent, text=checked_text(text), tags=checked_tags(tags))
        check_storage(agent.owner_id, len(passage.text.encode()))
        passage.created_at = created_at or timezone.now()
        passage._set_editor(by)
        passage.save(force_insert=True)
        passage._record(added=1)
        return passage

    @classmethod
    @transaction.atomic
    def insert_all(cls, agent: Agent, texts: Sequence[str], tags: list[str], *, by: Editor) -> None:
        """Store texts that belong together; refused as by `insert`."""
        check_storage(agent.owner_id, sum(len(text.encode()) for text in texts))
        keys = []
        for text in texts:
            passage = cls(agent=agent, text=checked_text(text), tags=checked_tags(tags))
            passage._set_editor(by)
            passage.save(force_insert=True)
            keys.append(passage.pk)
        record_all(agent, keys, added=len(keys))

    @classmethod
    @transaction.atomic
    def remove_all(cls, agent: Agent, keys: Sequence[int]) -> None:
        """Delete an agent's passages, those of these keys that are there."""
        rows = cls.objects.filter(agent=agent, pk__in=keys)
        there = list(rows.select_for_update().values_list("pk", flat=True))
        rows.filter(pk__in=there).delete()
        record_all(agent, there, added=-len(there))

    @property
    def version(self) -> str:
        """What tells whether it was changed since somebody read it."""
        return self.updated_at.isoformat()

    def only_at(self, version: str) -> None:
        """Hold the row until commit, for a change that was made to this version and to no other.

        VersionConflict where somebody has changed it since, RowDeleted where it is gone.
        """
        self._lock()
        if self.version != version:
            words = gettext("Passage %(number)s was changed meanwhile; look at it again.")
            raise VersionConflict(words % {"number": self.pk})

    @transaction.atomic
    def edit(
        self, text: str | None = None, tags: Iterable[str] | None = None, *, by: Editor
    ) -> bool:
        """Change text, tags or both; False where neither changes. RowDeleted if it is gone."""
        self._lock()
        before = (self.text, self.tags)
        self.text = self.text if text is None else checked_text(text)
        self.tags = self.tags if tags is None else checked_tags(tags)
        if (self.text, self.tags) == before:
            return False
        self._set_editor(by)
        self.save()
        self._record()
        return True

    @transaction.atomic
    def remove(self) -> None:
        """Delete the passage; RowDeleted if somebody else has."""
        self._lock()
        pk = self.pk
        self.delete()
        self.pk = pk
        self._record(added=-1)

    @classmethod
    @transaction.atomic
    def count_recall(cls, agent: Agent, passages: list[Passage]) -> None:
        """Count that a search by the agent has found these passages."""
        if not passages:
            return
        keys, now = [passage.pk for passage in passages], timezone.now()
        rows = cls.objects.filter(agent=agent, pk__in=keys)
        rows.update(recalled_count=models.F("recalled_count") + 1, recalled_at=now)
        event = Event.of(Event.Kind.ARCHIVAL_CHANGED)
        event.data = {"recalled": keys}
        add_to_count(agent, 0)
        agent.record(event)

    def _lock(self) -> None:
        try:
            rows = Passage.objects.select_for_update().filter(agent=self.agent_id)
            self.refresh_from_db(from_queryset=rows)
        except Passage.DoesNotExist:
            words = gettext("Passage %(number)s was deleted meanwhile.")
            raise RowDeleted(words % {"number": self.pk}) from None

    def _set_editor(self, by: Editor) -> None:
        self.editor_kind, self.editor_name = by.kind, by.name
        self.user, self.step = by.user, by.step

    def _record(self, added: int = 0) -> None:
        add_to_count(self.agent, added)
        self.agent.record(Event.of(Event.Kind.ARCHIVAL_CHANGED, passage=self))


def record_all(agent: Agent, keys: list[int], added: int) -> None:
    """Count and record passages that were written or deleted together."""
    event = Event.of(Event.Kind.ARCHIVAL_CHANGED)
    event.data = {"passages": keys}
    add_to_count(agent, added)
    agent.record(event)


def add_to_count(agent: Agent, added: int) -> None:
    """Keep the agent's `passage_count`: counting 100,000 rows takes longer than adding one."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE agents_agent SET passage_count = passage_count + %s WHERE id = %s"
            " RETURNING passage_count",
            [added, agent._meta.pk.get_db_prep_value(agent.pk, connection)],
        )
        agent.passage_count = cursor.fetchone()[0]


def checked_text(text: str) -> str:
    """A passage's text, if it may be stored."""
    text = storable(text)
    if not text.strip():
        raise MemoryRefusal(gettext("The passage is empty; give the text to store."))
    if len(text) > LONGEST_PASSAGE:
        raise MemoryRefusal(
            ngettext(
                "The passage has %(count)s character; at most %(most)s are allowed."
                " Shorten it by %(over)s or store it in parts.",
                "The passage has %(count)s characters; at most %(most)s are allowed."
                " Shorten it by %(over)s or store it in parts.",
                len(text),
            )
            % over_most(len(text), LONGEST_PASSAGE)
        )
    return text


def too_many_tags(count: int, most: int) -> str:
    """The sentence that says so."""
    words = ngettext(
        "There is %(count)s tag; at most %(most)s are allowed.",
        "There are %(count)s tags; at most %(most)s are allowed.",
        count,
    )
    return words % {"count": count, "most": most}


def checked_tags(tags: Any) -> list[str]:
    """Tags, each once, without white space around them."""
    if tags is None:
        return []
    if not isinstance(tags, list | tuple) or not all(isinstance(tag, str) for tag in tags):
        raise MemoryRefusal(gettext('Tags are a list of strings, such as ["travel", "food"].'))
    tidy = list(dict.fromkeys(storable(tag).strip() for tag in tags))
    if "" in tidy:
        raise MemoryRefusal(gettext("One of the tags is empty; leave it out."))
    if long := next((tag for tag in tidy if len(tag) > LONGEST_TAG), None):
        raise MemoryRefusal(
            ngettext(
                "The tag '%(tag)s…' has %(count)s character; at most %(most)s are allowed.",
                "The tag '%(tag)s…' has %(count)s characters; at most %(most)s are allowed.",
                len(long),
            )
            % {"tag": long[:20], "count": len(long), "most": LONGEST_TAG}
        )
    if len(tidy) > MOST_TAGS:
        raise MemoryRefusal(too_many_tags(len(tidy), MOST_TAGS))
    return tidy
