"""Streaming: pieces of a draft by their place, gathered for longer the more streams there are."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

from agents.runs import streaming
from agents.runs.streaming import (
    AT_FULL_PACE,
    BLOCK_SECONDS,
    PIECE_SECONDS,
    STORE_SECONDS,
    GrowingText,
    Streams,
    joined,
)
from agents.text.markdown import LONGEST


def test_pieces_are_gathered_for_longer_the_more_answers_stream() -> None:
    streams = Streams()
    assert streams.spacing() == PIECE_SECONDS
    for _ in range(2 * AT_FULL_PACE):
        streams.__enter__()
    assert streams.spacing() == 2 * PIECE_SECONDS
    for _ in range(100 * AT_FULL_PACE):
        streams.__enter__()
    assert streams.spacing() == STORE_SECONDS
    for _ in range(102 * AT_FULL_PACE):
        streams.__exit__()
    assert streams.spacing() == PIECE_SECONDS


def test_neighbours_of_one_field_are_one_piece() -> None:
    def piece(field: str, start: int, text: str) -> dict[str, object]:
        return {"message": 7, "field": field, "start": start, "text": text}

    pieces = [
        piece("reasoning", 0, "Hm"),
        piece("reasoning", 2, "m."),
        piece("content", 0, "He"),
        piece("content", 2, "llo"),
    ]
    assert joined(pieces) == [piece("reasoning", 0, "Hmm."), piece("content", 0, "Hello")]


def test_finished_blocks_are_looked_for_now_and_then_and_given_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = [0.0]
    monkeypatch.setattr(
        streaming, "time", SimpleNamespace(monotonic=lambda: clock[0], thread_time=time.thread_time)
    )
    growing = GrowingText()
    growing.add("One\n\nTwo")
    assert growing.take_finished() == {
        "en": [{"start": 0, "end": 5, "html": '<p dir="auto">One</p>\n'}]
    }
    growing.add(" and more")
    clock[0] += BLOCK_SECONDS
    assert not growing.may_have_finished  # no line ended
    growing.add("\n\nThree")
    assert [(each["start"], each["end"]) for each in growing.take_finished()["en"]] == [(5, 19)]
    growing.add("\n\nFour")
    assert not growing.take_finished().get("en")  # too early
    clock[0] += BLOCK_SECONDS
    assert [each["end"] for each in growing.take_finished()["en"]] == [26]
    assert not growing.take_finished().get("en")


def test_a_text_that_is_too_long_to_be_laid_out_has_no_blocks() -> None:
    growing = GrowingText()
    growing.add("a\n\n" * LONGEST)
    assert not growing.take_finished().get("en")


def test_finished_blocks_are_drawn_in_each_language_that_is_shown() -> None:
    growing = GrowingText()
    growing.add("```\na\n```\n\nTwo")
    finished = growing.take_finished(["en", "de"])
    assert [len(finished[language]) for language in ("en", "de")] == [1, 1]
    assert growing.rest == "Two"
