"""The embedder: gives every passage and message its vector, in the background.

What is to do is read off the tables: rows without a vector, or with another model's. So nothing is
lost when a process dies, an insert waits for nobody, and a change of the model is worked off while
searches go on with what there is.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from functools import cache
from typing import Any

from django.conf import settings
from django.db import close_old_connections, connection, transaction
from django.db.models import F, Max, Q

from agents.llm import ModelError
from agents.llm.embeddings import RefusedTexts, embed, embedding_model
from agents.llm.spending import QuotaReached
from agents.models import Agent, EmbeddingModel, Message, MessageVector, Passage, PassageVector
from agents.models.leaving import is_leaving

from . import pgvector
from .scope import SEARCHED, Messages, Passages
from .semantic import LONGEST_EMBEDDED

logger = logging.getLogger(__name__)

BATCH = 64  # texts of one request
BATCH_CHARACTERS = 100_000
BATCH_SECONDS = 60.0
LOOK_SECONDS = 2.0  # how often a process looks for new rows
SWEEP_SECONDS = 600.0  # how often it looks through all of them
RECENT = 1_000  # keys back from the newest; a draft is completed within so many messages
WAITING_SECONDS = 60.0  # before somebody's used up quota is looked at again
LONGEST_PAUSE = 300.0  # seconds, when an endpoint fails

KINDS = ((Passage, PassageVector, Passages.text), (Message, MessageVector, Messages.text))


def progress(agent: Agent | None = None) -> tuple[int, int, str] | None:
    """How many rows have a vector of the current model, of how many, and its name; of all agents
    or one. None where no model is set."""
    where = embedding_model()
    if where is None:
        return None
    done = total = 0
    for rows, vectors, _ in KINDS:
        mine = Q() if agent is None else Q(agent=agent)
        total += eligible(rows).filter(mine).count()
        done += vectors.objects.filter(mine, model=current(where[1])).count()
    return done, total, where[1]


def eligible(rows: Any) -> Any:
    """The rows of a table that are to have a vector."""
    if rows is Message:
        roles = (Message.Role.USER, Message.Role.ASSISTANT)
        said = Message.objects.filter(status__in=SEARCHED, role__in=roles)
        return said.filter(agent__temporary_for=None)  # no search looks into the others
    return rows.objects.all()


def current(name: str) -> EmbeddingModel | None:
    """The model of that name, with the dimensions it had last."""
    return EmbeddingModel.objects.filter(name=name).order_by("-pk").first()


class Embedder:
    """One round after another; remembers up to where all is done."""

    def __init__(self) -> None:
        self.swept = -SWEEP_SECONDS
        self.model: EmbeddingModel | None = None
        self.waiting: dict[int, float] = {}  # owners with no quota left; until when (monotonic)

    def round(self, until: float = float("inf")) -> int:
        """Embed what is missing, till `until` (monotonic) at most; how many rows were done.

        ModelError where the endpoint fails; what is done stays done.
        """
        where = embedding_model()
        if where is None:
            return 0
        self.model = current(where[1])
        if self.model and connection.vendor == "postgresql" and pgvector.is_there():
            pgvector.prepare(self.model)
        whole = time.monotonic() - self.swept >= SWEEP_SECONDS
        began, done = time.monotonic(), 0
        for rows, vectors, text in KINDS:
            newest = rows.objects.aggregate(newest=Max("pk"))["newest"] or 0
            after, before = 0 if whole else newest - RECENT, newest + 1
            while (
                time.monotonic() < until
                and not is_leaving()
                and (batch := self.missing(rows, after, before))
            ):
                more, before = self.embed(where[1], rows, vectors, batch, text)
                done += more
        if time.monotonic() < until and not is_leaving():
            self.swept = began if whole else self.swept
        return done

    def missing(self, rows: Any, after: int, before: int) -> list[Any]:
        """The newest rows between two keys without a vector of the current model, as many as fit
        into a request."""
        without = eligible(rows).filter(pk__gt=after, pk__lt=before)
        if self.model:
            without = without.exclude(embedded__model=self.model)
        now = time.monotonic()
        if waiting := [owner for owner, until in self.waiting.items() if until > now]:
            without = without.exclude(agent__owner__in=waiting)
        return list(without.annotate(owner_id=F("agent__owner_id")).order_by("-pk")[:BATCH])

    def embed(
        self, name: str, rows: Any, vectors: Any, batch: list[Any], text: Any
    ) -> tuple[int, int]:
        """Embed as many of these rows as fit, in order, by a request for each owner, who pays; how
        many that were, and the key of the last. Those of an owner who may not spend more wait."""
        texts: dict[int, str] = {}
        room = BATCH_CHARACTERS
        for row in batch:
            content = text(row).strip()[:LONGEST_EMBEDDED]
            room -= len(content)
            if room < 0:
                break
            texts[row.pk] = content
        embedded: dict[int, Any] = {key: None for key, content in texts.items() if not content}
        for owner in {row.owner_id: None for row in batch}:
            keys = [row.pk for row in batch if row.owner_id == owner]
            try:
                embedded |= self.vectors_of({k: texts[k] for k in keys if texts.get(k)}, owner)
            except QuotaReached as error:
                self.waiting[owner] = time.monotonic() + WAITING_SECONDS
                logger.info("Some texts wait for their vectors: %s", error)
        if embedded:
            self.store(name, rows, vectors, batch, embedded, text)
        return len(embedded), min(texts)

    def store(
        self,
        name: str,
        rows: Any,
        vectors: Any,
        batch: list[Any],
        embedded: dict[int, Any],
        text: Any,
    ) -> None:
        """Store the vectors of rows, by the model that made them."""
        dimensions = next((len(vector) for vector in embedded.values() if vector is not None), None)
        if dimensions and (self.model is None or self.model.dimensions != dimensions):
            self.model, _ = EmbeddingModel.objects.get_or_create(name=name, dimensions=dimensions)
            if connection.vendor == "postgresql" and pgvector.is_there():
                pgvector.prepare(self.model)
        if self.model is None:  # nothing but empty texts so far
            self.model, _ = EmbeddingModel.objects.get_or_create(name=name, dimensions=0)
        done = [row for row in batch if row.pk in embedded]
        store(self.model, rows, vectors, done, embedded, text)

    def vectors_of(self, texts: dict[int, str], payer_id: int) -> dict[int, Any]:
        """A vector for each text; None for one that the model refuses when asked for it alone."""
        if not texts:
            return {}
        try:
            vectors = embed(list(texts.values()), BATCH_SECONDS, payer_id)
            return dict(zip(texts, vectors, strict=True))
        except RefusedTexts as error:
            if len(texts) == 1:
                embed(["text"], BATCH_SECONDS, payer_id)  # raises where it takes none at all
                logger.warning("One text stays without a vector: %s", error)
                return dict.fromkeys(texts)
        embedded: dict[int, Any] = {}
        for key, content in texts.items():
            embedded |= self.vectors_of({key: content}, payer_id)
        return embedded


@transaction.atomic
def store(
    model: EmbeddingModel,
    rows: Any,
    vectors: Any,
    batch: list[Any],
    embedded: dict[int, Any],
    text: Any,
) -> None:
    """Store the vectors of rows that still say what was embedded."""
    keys = [row.pk for row in batch]
    now = {row.pk: text(row) for row in rows.objects.filter(pk__in=keys).select_for_update()}
    same = [row for row in batch if now.get(row.pk) == text(row)]
    if connection.vendor == "postgresql" and pgvector.is_there():
        fields = [(row.agent_id, model.pk, row.pk, embedded[row.pk]) for row in same]
        pgvector.store(vectors._meta.db_table, fields)
        return
    vectors.objects.filter(of__in=[row.pk for row in same]).delete()
    vectors.objects.bulk_create(
        vectors(
            agent_id=row.agent_id,
            model=model,
            of_id=row.pk,
            vector=None if embedded[row.pk] is None else embedded[row.pk].tobytes(),
        )
        for row in same
    )


class Backoff:
    """The pauses while an endpoint fails: each twice as long as the one before."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock, self.failures, self.until = clock, 0, 0.0

    def after(self, error: Exception) -> None:
        """Wait, because of this."""
        self.failures += 1
        at_least = getattr(error, "retry_after", None) or 0.0
        pause = max(at_least, min(LOOK_SECONDS * 2**self.failures, LONGEST_PAUSE))
        self.until = self.clock() + pause
        unforeseen = None if isinstance(error, ModelError) else error
        logger.warning("Embedding waits for %.0f s: %s", pause, error, exc_info=unforeseen)


# -- in a worker -----------------------------------------------------------------------------------

TURN = 8284  # the key of Postgres' advisory lock
TURN_SECONDS = 50.0
_of_this_worker = Embedder()
_backoff = Backoff()


def take_turn() -> None:
    """Embed what is missing, for at most a minute, unless another worker is at it."""
    if embedding_model() is None or _backoff.until > time.monotonic():
        return
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_lock(%s)", [TURN])
            if not cursor.fetchone()[0]:
                return
        try:
            _of_this_worker.round(time.monotonic() + TURN_SECONDS)
            _backoff.failures = 0
        except Exception as error:
            _backoff.after(error)
        finally:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [TURN])
    finally:
        close_old_connections()


# -- in the serving process ------------------------------------------------------------------------


@cache
def start() -> threading.Thread | None:
    """Embed in a thread of this process for as long as it lives; None where no model is set."""
    if not settings.EMBEDDING_MODEL:
        return None
    if embedding_model() is None:
        logger.warning(
            "MEMORYWEB_EMBEDDING_MODEL is set, and no endpoint that could serve it: set"
            " OPENAI_API_KEY or OPENAI_BASE_URL. Until then search is lexical."
        )
        return None
    thread = threading.Thread(target=work, name="embedder", daemon=True)
    thread.start()
    return thread


def work() -> None:
    """Round after round, with longer and longer pauses while the endpoint fails."""
    embedder, backoff = Embedder(), Backoff()
    while True:
        try:
            embedder.round()
            backoff.failures = 0
        except Exception as error:
            backoff.after(error)
        time.sleep(max(LOOK_SECONDS, backoff.until - time.monotonic()))
