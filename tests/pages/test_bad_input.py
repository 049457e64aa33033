"""Bad input: what cannot be stored, read or reached breaks nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from agents.models import Agent
from agents.models.message import storable
from tests.conftest import Ask
from tests.support.addresses import addresses, everything, ids_of
from tests.support.fake_openai import FakeOpenAI, calls, reasoning, text


@pytest.mark.parametrize(
    ("words", "said"), [("\ud83d", "Well."), ("a\0b", "a\0b"), ("[" * 5000, "[" * 5000)]
)
def test_what_cannot_be_stored_or_read_does_not_break_a_run(
    words: str, said: str, own: Agent, ask: Ask, model: FakeOpenAI, client: Client
) -> None:
    """Half a surrogate pair, NUL and endless JSON, wherever a model can put them."""
    replace = {"label": "human", "old_content": words, "new_content": "x"}
    append = {"label": "human", "content": words}
    model.script(
        reasoning(
            said,
            then=calls(
                ("core_memory_append", json.dumps(append)),
                ("core_memory_replace", json.dumps(replace)),
                ("core_memory_append", words.replace("\ud83d", "{")),
            ),
        ),
        text(said),
    )
    run = ask("Hello", of=own)
    assert (run.status, run.error) == ("done", "")
    assert len(model.requests) == 2
    assert not model.refused
    assert client.get(reverse("agent", args=[own.pk])).status_code == 200


BAD_INPUT: list[tuple[str, dict[str, Any]]] = [
    ("block_edit", {"value": "x", "version": "²"}),
    ("block_edit", {"value": "x", "version": "9" * 30}),
    ("block_edit", {"value": "x", "version": "-1"}),
    ("block_edit", {"value": "x"}),
    ("block_edit", {"value": "a\0b", "version": "1"}),
    ("block_settings", {"label": "human", "limit": "9" * 30}),
    ("block_settings", {"label": "human", "limit": "²"}),
    ("block_settings", {"label": "a\0b", "limit": "100"}),
    ("block_new", {"label": "new", "limit": "many"}),
    ("agent_settings", {"name": "x", "max_steps": "²"}),
    (
        "agent_settings",
        {"name": "x", "max_steps": "50", "timezone": "UTC", "context_window": "9" * 30},
    ),
    ("agent_settings", {"name": "x" * 101, "max_steps": "50", "timezone": "UTC"}),
    ("agent_settings", {"name": "x", "max_steps": "50", "timezone": "UTC", "tools": ["rm"]}),
    ("agent_new", {"name": "x", "blocks-TOTAL_FORMS": "²", "blocks-INITIAL_FORMS": "0"}),
    ("agent_new", {"name": "x"}),
    ("message_send", {"text": " \0\n ", "key": "k"}),
    ("message_send", {"text": "x" * 100_001, "key": "k"}),
    ("run_queued", {"text": "x" * 100_001}),
]


def test_bad_input_is_refused_and_changes_nothing(
    client: Client, own: Agent, subtests: pytest.Subtests
) -> None:
    where = addresses(ids_of(own))
    before = everything()
    for name, form in BAD_INPUT:
        with subtests.test(name=name, form=ascii(form)[:80]):
            assert client.post(where[name], form).status_code in (409, 422)
            assert everything() == before


@pytest.mark.parametrize("number", ["0", "9" * 18, "9" * 30])
def test_a_number_out_of_reach_is_no_error(number: str, client: Client, own: Agent) -> None:
    assert client.get(f"/agents/{own.pk}/older/{number}/").status_code == 404
    assert client.post(f"/agents/{own.pk}/edits/{number}/undo/").status_code == 404
    assert client.post(f"/agents/{own.pk}/runs/{number}/retry/").status_code == 404
    for asked in (number, "²", "-1", "x"):
        assert client.get(reverse("agent_new_block"), {"n": asked}).status_code == 200


def test_a_key_of_any_kind_makes_one_run(client: Client, own: Agent) -> None:
    send = reverse("message_send", args=[own.pk])
    for key in ("k", "k", "a\0b", "a\0b", "x" * 500, "x" * 500):
        assert client.post(send, {"text": "Hi", "key": key}).status_code == 302
    assert own.runs.count() == 3


def test_a_message_of_the_greatest_length_is_accepted(client: Client, own: Agent) -> None:
    longest = "😀" * 100_000
    send = reverse("message_send", args=[own.pk])
    assert client.post(send, {"text": longest, "key": "k"}).status_code == 302
    assert own.runs.get().text == longest


def test_text_is_made_storable_with_a_mark_for_what_was_lost() -> None:
    assert storable("a\0b\ud83dc😀") == "a\ufffdb\ufffdc😀"
