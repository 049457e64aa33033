"""Streaming: an answer as it comes. Who looks gets each piece at once, the log every half second.

A piece is `{"message": key, "field": "content" or "reasoning", "start": its place in the field in
characters, "text": …}`. By its place, whoever got a part of it already takes only the rest, so what
is lost on the way, or with this process, is made up for by the log's next one. Who shows the text
gets each block of it as HTML as soon as it is finished.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.db import transaction
from django.utils import translation

from agents.llm import Delta, ModelCall
from agents.models import Event, Message, Run
from agents.models.signals import text_streamed
from agents.text.finished import finished_blocks
from agents.text.markdown import LONGEST
from agents.text.stored import stored as _

LOOK_SECONDS = 0.2  # how often a silent call looks whether somebody pressed Stop
PIECE_SECONDS = 0.05  # how long text is gathered for those who look
AT_FULL_PACE = 4  # streams of a process; with more, text is gathered for longer
STORE_SECONDS = 0.5  # how long it is gathered for the log
BLOCK_SECONDS = 0.3  # how often finished blocks are looked for, at most
BLOCK_SHARE = 0.02  # of this thread's time that the looking may take

Piece = dict[str, Any]


def stream(run: Run, message: Message, call: ModelCall) -> None:
    """Hand on the text of an answer as it comes. ModelError where the call fails, RunStopped."""
    draft, sent_at = Draft(run, message), 0.0
    with _streams:
        while (deltas := call.wait(LOOK_SECONDS, until=sent_at + _streams.spacing())) is not None:
            if deltas:
                draft.add(deltas)
                sent_at = time.monotonic()
            else:
                draft.publish()
            if draft.is_due():
                draft.store()
            elif not deltas:
                run.renew_or_stop()


class Streams:
    """How many answers stream in this process: the more, the further apart their pieces."""

    def __init__(self) -> None:
        self.count, self._counting = 0, threading.Lock()

    def __enter__(self) -> None:
        with self._counting:
            self.count += 1

    def __exit__(self, *failure: object) -> None:
        with self._counting:
            self.count -= 1

    def spacing(self) -> float:
        """Seconds from one piece of an answer to the next."""
        return min(PIECE_SECONDS * max(1.0, self.count / AT_FULL_PACE), STORE_SECONDS)


_streams = Streams()


class Draft:
    """What is streamed of a message, and what of it waits for the log."""

    def __init__(self, run: Run, message: Message) -> None:
        self.run, self.message = run, message
        self.lengths = {"content": 0, "reasoning": 0}
        self.growing = GrowingText()
        self.waiting: list[Piece] = []
        self.waits_since = 0.0

    def add(self, deltas: list[Delta]) -> None:
        """Publish what came."""
        pieces: list[Piece] = []
        for delta in deltas:
            start = self.lengths[delta.field]
            self.lengths[delta.field] += len(delta.text)
            of = {"message": self.message.pk, "field": delta.field}
            pieces.append(of | {"start": start, "text": delta.text})
            if delta.field == "content":
                self.growing.add(delta.text)
        if not self.waiting:
            self.waits_since = time.monotonic()
        self.waiting += pieces
        self.publish(joined(pieces))

    def publish(self, pieces: Sequence[Piece] = ()) -> None:
        """Hand pieces, and blocks that are finished, to whoever looks."""
        if pieces or self.growing.may_have_finished:
            blocks = self.growing.take_finished
            text_streamed.send(Message, message=self.message, pieces=pieces, blocks=blocks)

    def is_due(self) -> bool:
        """Whether text waits that the log should have."""
        return bool(self.waiting) and time.monotonic() - self.waits_since >= STORE_SECONDS

    @transaction.atomic
    def store(self) -> None:
        """Record what waits. RunStopped if a person asked to stop."""
        began = not self.message.is_streamed
        self.run.renew_or_stop(_("Writing") if began else None)
        events = [Event.of(Event.Kind.ACTIVITY, run=self.run)] if began else []
        for piece in joined(self.waiting):
            events.append(Event(kind=Event.Kind.TEXT, draft=self.message, data=piece))
        self.run.record(*events)
        self.message.is_streamed, self.waiting = True, []


class GrowingText:
    """An answer's text from where its blocks are not finished yet."""

    def __init__(self) -> None:
        self.start, self.rest = 0, ""
        self.may_have_finished = False
        self.next_look = 0.0

    def add(self, text: str) -> None:
        """A block can be finished by a line that ends or begins only."""
        self.may_have_finished |= "\n" in text or self.rest.endswith("\n")
        self.rest += text

    def take_finished(self, languages: Sequence[str] = ("en",)) -> dict[str, list[Piece]]:
        """The blocks that were finished since they were last asked for, if it is time to look:
        `{"start", "end", "html"}` each, with what the page says in them in each language."""
        if not self.may_have_finished or time.monotonic() < self.next_look:
            return {}
        if self.start + len(self.rest) > LONGEST:
            return {}
        self.may_have_finished, began = False, time.thread_time()
        blocks = {language: self.finished_in(language) for language in languages}
        if ends := [each["end"] for each in next(iter(blocks.values()))]:
            self.rest = self.rest[ends[-1] - self.start :]
            self.start = ends[-1]
        took = time.thread_time() - began
        self.next_look = time.monotonic() + max(BLOCK_SECONDS, took / BLOCK_SHARE)
        return blocks

    def finished_in(self, language: str) -> list[Piece]:
        with translation.override(language):
            return [
                {
                    "start": self.start + each.start,
                    "end": self.start + each.end,
                    "html": str(each.html),
                }
                for each in finished_blocks(self.rest)
            ]


def joined(pieces: list[Piece]) -> list[Piece]:
    """The same text with neighbours of one field as one piece."""
    groups = (list(group) for _, group in groupby(pieces, itemgetter("field")))
    return [group[0] | {"text": "".join(piece["text"] for piece in group)} for group in groups]
