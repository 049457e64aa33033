"""Conversations of ChatGPT and Claude become recall memory of an agent."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from agents.agent_file import rows
from agents.imports import source, work
from agents.models import Agent, HistoryImport, ImportPart, Message, Passage, history_import
from agents.models.leaving import leave, stay
from tests.support.exports import CHATGPT, CLAUDE, zipped

Status = HistoryImport.Status


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "PAUSE", 0)


def upload(web: Client, agent: Agent, data: bytes, name: str = "export.zip") -> HistoryImport:
    """Upload a file as the page does, in parts of seven hundred bytes."""
    begun = {"name": name, "size": str(len(data))}
    answer = web.post(reverse("history_imports", args=[agent.pk]), begun)
    assert answer.status_code == 201, answer.content
    for start in range(0, len(data), 700):
        some = data[start : start + 700]
        for _ in range(2):  # a part that comes twice is kept once
            sent = web.post(
                f"{answer.json()['parts']}?start={start}", some, "application/octet-stream"
            )
            assert sent.status_code == 204
    return HistoryImport.objects.get(name=name)


def imported(web: Client, agent: Agent, data: bytes, name: str = "export.zip") -> HistoryImport:
    job = upload(web, agent, data, name)
    work.work()
    job.refresh_from_db()
    return job


def page(web: Client, job: HistoryImport) -> str:
    address = reverse("history_import", args=[job.agent_id, job.pk])
    return " ".join(web.get(address).content.decode().split())


def lines(agent: Agent) -> list[tuple[str, str]]:
    return [(m.role, m.content) for m in Message.objects.filter(agent=agent).order_by("number")]


def test_chatgpt_is_imported_as_its_page_showed_it(agent: Agent, web: Client) -> None:
    job = imported(web, agent, zipped())
    assert (job.status, job.conversations, job.messages) == (Status.DONE, 2, 5)
    assert lines(agent) == [
        ("user", "When is Riga at its best?"),
        ("assistant", "In June."),
        ("user", "[image that was not imported]\nWhat is in the picture?"),
        ("assistant", "The House of the Blackheads."),
        ("user", "Tea?"),
    ]
    first, second = agent.conversations.exclude(imported=None).order_by("created_at")
    assert (first.title, second.title) == ("Trip to Riga", "Tea?")
    assert first.messages.earliest("number").created_at == datetime.fromtimestamp(1700000001, UTC)
    assert first.runs.count() == 2
    assert job.left_out == {
        "messages on other branches": 1,
        "custom instructions and saved memories": 1,
        "images": 1,
        "tool calls and what they returned": 2,
        "conversations without messages": 1,
    }
    shown = page(web, job)
    assert "2 conversations" in shown
    assert "1 × messages on other branches" in shown
    assert not ImportPart.objects.exists()
    found = web.get(reverse("agent_find", args=[agent.pk]), {"q": "blackheads"}).json()
    assert len(found["hits"]) == 1
    assert "Blackheads" in web.get(found["hits"][0]["address"]).content.decode()


def test_claude_is_imported_from_plain_json(agent: Agent, web: Client) -> None:
    job = imported(web, agent, json.dumps(CLAUDE).encode(), "conversations.json")
    assert job.status == Status.DONE
    assert lines(agent) == [
        ("user", "How do I bake it?\n\n[Attached: recipe.txt]\nTwo cups"),
        ("assistant", "Slowly."),
    ]
    assert job.left_out == {
        "attached files": 1,
        "reasoning": 1,
        "tool calls and what they returned": 1,
    }


def test_chosen_conversations_become_passages_and_all_of_it_is_undone(
    agent: Agent, rex: Passage, web: Client
) -> None:
    job = imported(web, agent, zipped())
    chosen = agent.conversations.get(title="Trip to Riga")
    store = reverse("history_import_store", args=[agent.pk, job.pk])
    assert web.post(store, {}).status_code == 422
    assert web.post(store, {"conversation": str(chosen.pk)}).status_code == 302
    work.work()
    passage = Passage.objects.exclude(pk=rex.pk).get()
    assert passage.text.startswith("From “Trip to Riga”, 14 November 2023.\nUser: When is")
    assert "1 passage" in page(web, job)
    assert web.post(reverse("history_import_undo", args=[agent.pk, job.pk])).status_code == 302
    work.work()
    assert "was undone" in page(web, job)
    assert lines(agent) == []
    assert list(Passage.objects.all()) == [rex]
    agent.refresh_from_db()
    assert agent.passage_count == 1


def test_a_worker_that_dies_loses_and_doubles_nothing(
    agent: Agent, web: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = upload(web, agent, zipped(content=CHATGPT + CLAUDE))
    store, stored = work.store, []

    def dies(*given: Any) -> None:
        store(*given)
        stored.append(given)
        if len(stored) == 2:
            raise KeyboardInterrupt  # in the middle of a transaction

    monkeypatch.setattr(work, "store", dies)
    with pytest.raises(KeyboardInterrupt):
        work.work()
    job.refresh_from_db()
    assert (job.status, job.conversations) == (Status.READING, 1)
    work.work()  # nobody takes it from a worker that may be alive
    HistoryImport.objects.update(seen_at=None)
    leave()
    work.work()
    stay()
    work.work()
    job.refresh_from_db()
    assert (job.status, job.conversations, job.messages) == (Status.DONE, 3, 7)
    assert len(lines(agent)) == 7


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"PK\x03\x04 nothing", "The zip is damaged"),
        (zipped("other.json"), "no conversations.json in the zip"),
        (zipped(content=b" " * 50_000_000), "would become 48 MB"),
        (b'[{"mapping": {}}, {"mapp', "not complete JSON"),
        (b"42", "holds no conversations"),
        (b"\x00\xff", "not complete JSON"),
    ],
)
def test_what_cannot_be_read_is_told(data: bytes, words: str, agent: Agent, web: Client) -> None:
    job = imported(web, agent, data)
    assert job.status == Status.FAILED
    assert words in page(web, job)


def test_a_conversation_of_endless_size_is_left_out_and_the_others_come_in(
    agent: Agent, web: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "LARGEST_CONVERSATION", 20_000)
    huge: dict[str, Any] = {"mapping": {str(n): {} for n in range(1000)}}
    odd = [huge, 3, None, [], {"mapping": 3}, {"chat_messages": [3, {"sender": "human"}]}]
    job = imported(web, agent, json.dumps([*odd, *CLAUDE]).encode())
    assert (job.status, job.conversations) == (Status.DONE, 1)
    assert job.left_out["conversations that are too large"] == 1
    assert job.left_out["unknown entries"] == 4


def test_sizes_are_limited_and_one_import_goes_on_at_a_time(
    agent: Agent, web: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = reverse("history_imports", args=[agent.pk])
    for size in ("0", "x", str(2 * 1024**3)):
        answer = web.post(address, {"name": "a", "size": size})
        assert answer.status_code == 422
        assert "at most 1,024 MB" in answer.content.decode()
    job = upload(web, agent, zipped())
    assert web.post(address, {"name": "a", "size": "9"}).status_code == 422
    work.work()
    begun = web.post(address, {"name": "b", "size": "9"}).json()
    part = f"{begun['parts']}?start=5"
    assert web.post(part, b"12345", "application/octet-stream").status_code == 422
    assert Status.UPLOADING in HistoryImport.objects.exclude(pk=job.pk).values_list(
        "status", flat=True
    )
    monkeypatch.setattr(history_import, "KEPT_UNFINISHED", timedelta(0))
    work.work()
    assert list(HistoryImport.objects.all()) == [job]
