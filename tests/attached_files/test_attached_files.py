"""Files attached to messages: their text becomes passages, the message says so, and all goes."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from agents.agent_file import export_agent, import_agent, rows
from agents.attached_files import taking, work
from agents.attached_files.reading import Contents
from agents.ledger.fork import fork
from agents.models import Agent, AgentShare, AttachedFile, Message, Passage, Role
from agents.models.attached_file import without_notes
from agents.models.leaving import leave, stay
from agents.models.searchable import make_all_terms
from agents.models.stored_bytes import StorageFull
from tests.attached_files.test_reading import HANDBOOK, LOCKED
from tests.conftest import Ask, browser
from tests.support.fake_openai import FakeOpenAI

Status = AttachedFile.Status
NOTE = (
    '[Attached file "handbook.pdf": its text is in archival memory, in 2 passages with this tag;'
    " archival_memory_search finds them.]"
)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "PAUSE", 0)


def upload(
    web: Client, agent: Agent, data: bytes = HANDBOOK, name: str = "handbook.pdf"
) -> tuple[int, Any]:
    """Upload a file as the page does: the status, and what is said of it."""
    answer = web.post(
        reverse("file_add", args=[agent.pk]),
        {"file": SimpleUploadedFile(name, data)},
        headers={"HX-Request": "true"},
    )
    is_taken = answer.status_code in (200, 201)
    return answer.status_code, answer.json() if is_taken else answer.content.decode()


def read(web: Client, agent: Agent, data: bytes = HANDBOOK, name: str = "handbook.pdf") -> Any:
    """Upload a file and have it read: how far it is, as the page asks."""
    status, taken = upload(web, agent, data, name)
    assert status == 201, taken
    work.work()
    return web.get(taken["address"]).json()


def send(web: Client, agent: Agent, *files: int, text: str = "Read this") -> Any:
    return web.post(
        reverse("message_send", args=[agent.pk]),
        {"text": text, "key": f"k{files}", "files": files},
        headers={"HX-Request": "true"},
    )


def panel(web: Client, agent: Agent) -> str:
    address = reverse("agent", args=[agent.pk])
    return " ".join(web.get(address, {"panel": "archival"}).content.decode().split())


def texts(agent: Agent) -> list[str]:
    return [passage.text for passage in agent.passages.order_by("pk")]


def test_a_file_becomes_passages_and_the_message_says_so(agent: Agent, web: Client) -> None:
    status, taken = upload(web, agent)
    assert (status, taken["status"]) == (201, "reading")
    assert "handbook.pdf is being read" in panel(web, agent)
    work.work()
    shown = web.get(taken["address"]).json()
    assert (shown["status"], shown["stored"], shown["total"]) == ("done", 2, 2)
    assert shown["remark"] == "Page 2 has no text that could be read."
    assert [text.partition("\n")[0] for text in texts(agent)] == [
        "From handbook.pdf, page 1.",
        "From handbook.pdf, page 3.",
    ]
    assert [passage.tags for passage in agent.passages.all()] == [["handbook.pdf"]] * 2
    agent.refresh_from_db()
    assert agent.passage_count == 2
    assert AttachedFile.objects.get().data == b""
    assert "is being read" not in panel(web, agent)
    assert send(web, agent, shown["id"]).status_code == 204
    assert Message.objects.get().content == f"Read this\n\n{NOTE}"
    page = web.get(reverse("agent", args=[agent.pk])).content.decode()
    assert "panel=archival&amp;tag=handbook.pdf" in page
    assert "2 passages in archival memory" in page
    assert "[Attached file" not in page[page.index('id="log"') :]


def test_the_same_file_is_read_once_and_another_of_its_name_gets_a_number(
    agent: Agent, web: Client
) -> None:
    first = read(web, agent)
    status, again = upload(web, agent)
    assert (status, again) == (200, first)
    other = read(web, agent, b"Something else.", "handbook.pdf.txt")
    assert other["name"] == "handbook.pdf.txt"
    third = read(web, agent, b"Pie", "handbook.pdf.txt")
    assert third["name"] == "handbook.pdf (2).txt"
    agent.passages.get(text__contains="Kaspars").remove()
    assert read(web, agent)["name"] == "handbook (2).pdf"  # as not all of it is there


def test_what_cannot_be_read_is_told_and_nothing_of_it_stays(agent: Agent, web: Client) -> None:
    for name, data, words in (
        ("a.exe", b"MZ", "Files of this kind cannot be read. Attach text"),
        ("empty.txt", b"", "The file is empty."),
        ("large.txt", b"x" * (20 * 1024**2 + 1), "at most 20 MB"),
    ):
        status, refusal = upload(web, agent, data, name)
        assert status == 422
        assert words in refusal
    failed = read(web, agent, LOCKED, "locked.pdf")
    assert failed["status"] == "failed"
    assert "It has a password" in failed["remark"]
    assert "Nothing of locked.pdf is stored. It has a password" in panel(web, agent)
    assert send(web, agent, failed["id"]).status_code == 422
    assert web.post(failed["remove"]).status_code == 204
    assert "locked.pdf" not in panel(web, agent)
    agent.configure(tools=["send_message"])
    assert "does not have the tool archival_memory_search" in upload(web, agent)[1]
    assert not Passage.objects.exists()
    assert not AttachedFile.objects.exists()


def test_its_passages_are_removed_as_one(agent: Agent, rex: Passage, web: Client) -> None:
    shown = read(web, agent)
    address = reverse("archival", args=[agent.pk])
    assert "Delete all passages with this tag" in web.get(
        address, {"tag": "handbook.pdf"}
    ).content.decode().replace("\n", "")
    delete = reverse("archival_delete_tagged", args=[agent.pk]) + "?tag=handbook.pdf"
    assert "Delete 2 passages tagged handbook.pdf" in " ".join(
        web.get(delete).content.decode().split()
    )
    assert agent.passages.count() == 3
    seq = Agent.objects.get().last_seq
    assert web.post(delete).status_code == 200
    assert list(Passage.objects.all()) == [rex]
    agent.refresh_from_db()
    assert agent.passage_count == 1
    newer = web.get(reverse("archival_newer", args=[agent.pk]), {"after": seq}).content.decode()
    assert newer.count("This passage was deleted") == 2
    assert web.get(shown["address"]).status_code == 404
    assert b"Attach it again" in send(web, agent, shown["id"]).content


def long_text(monkeypatch: pytest.MonkeyPatch, count: int = 50) -> None:
    """Have any file be so many passages."""
    contents = Contents([f"From it.\nPassage {number}" for number in range(count)], "")
    monkeypatch.setattr(work, "read_file", lambda *given: contents)


def test_a_worker_that_dies_loses_and_doubles_nothing(
    agent: Agent, web: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    long_text(monkeypatch)
    _, taken = upload(web, agent, b"Long", "long.txt")
    insert, inserted = Passage.insert_all, []

    def dies(*given: Any, **options: Any) -> None:
        insert(*given, **options)
        inserted.append(given)
        if len(inserted) == 2:
            raise KeyboardInterrupt  # in the middle of a transaction

    with monkeypatch.context() as patch:
        patch.setattr(Passage, "insert_all", dies)
        with pytest.raises(KeyboardInterrupt):
            work.work()
    file = AttachedFile.objects.get()
    assert (file.status, file.passages, agent.passages.count()) == (Status.READING, 20, 20)
    assert "long.txt: 20 of 50 passages stored" in panel(web, agent)
    work.work()  # nobody takes it from a worker that may be alive
    assert agent.passages.count() == 20
    AttachedFile.objects.update(seen_at=timezone.now() - timedelta(minutes=5))
    leave()
    work.work()
    stay()
    work.work()
    assert texts(agent) == [f"From it.\nPassage {number}" for number in range(50)]
    assert web.get(taken["address"]).json()["status"] == "done"


def test_it_is_given_up_where_it_always_breaks_off_or_there_is_no_room(
    agent: Agent, web: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    long_text(monkeypatch)
    insert = Passage.insert_all

    def full(of: Agent, *given: Any, **options: Any) -> None:
        if of.passages.count():
            raise StorageFull("Your agents take 9 MB.", 60)
        insert(of, *given, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Passage, "insert_all", full)
        failed = read(web, agent, b"Long", "long.txt")
    assert (failed["status"], failed["remark"]) == ("failed", "Your agents take 9 MB.")
    assert not agent.passages.exists()
    agent.refresh_from_db()
    assert agent.passage_count == 0

    def breaks(*given: Any) -> None:
        raise OSError

    monkeypatch.setattr(work, "read_file", breaks)
    assert "again and again" in read(web, agent, b"Long", "long.txt")["remark"]
    assert AttachedFile.objects.count() == 1  # the one that was tried again


def test_one_that_is_removed_while_it_is_read_leaves_nothing(
    agent: Agent, web: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    long_text(monkeypatch)
    store = AttachedFile.store

    def stores(file: AttachedFile, *given: Any, **options: Any) -> None:
        store(file, *given, **options)
        taking.remove_tagged(agent, file.tag)

    monkeypatch.setattr(AttachedFile, "store", stores)
    upload(web, agent, b"Long", "long.txt")
    work.work()
    assert not Passage.objects.exists()
    assert not AttachedFile.objects.exists()


@pytest.mark.parametrize("role", [Role.VIEWER, Role.CHATTER, Role.EDITOR])
def test_only_who_may_change_memory_attaches_and_removes(
    role: Role, agent: Agent, web: Client, bob: User, bobs_web: Client
) -> None:
    assert upload(bobs_web, agent)[0] == 404
    file = read(web, agent)
    AgentShare.share(agent, bob, role)
    person = browser(bob)
    delete = reverse("archival_delete_tagged", args=[agent.pk]) + "?tag=handbook.pdf"
    may = role == Role.EDITOR
    status, words = upload(person, agent, b"Pie", "pie.txt")
    assert status == (201 if may else 403)
    assert may or "To change it, ask alice." in words
    assert person.post(delete).status_code == (200 if may else 403)
    assert person.post(file["remove"]).status_code == (404 if may else 403)
    assert agent.passages.count() == (0 if may else 2)


def test_a_file_of_another_agent_is_not_named(
    agent: Agent, bobs: Agent, web: Client, bobs_web: Client
) -> None:
    mine = read(web, agent)
    assert send(bobs_web, bobs, mine["id"]).status_code == 422
    assert not Message.objects.exists()


@pytest.mark.parametrize("own", [True, False])
def test_message_and_passages_are_in_exports_forks_and_agent_files(
    agent: Agent, web: Client, bob: User, model: FakeOpenAI, ask: Ask, own: bool
) -> None:
    shown = read(web, agent)
    run = ask(agent.attached_files.with_notes([shown["id"]], "Read this"))
    sent = model.requests[-1]["messages"][-1]["content"]
    assert sent == f"Read this\n\n{NOTE}"
    for form in ("markdown", "html", "json"):
        answer = web.get(reverse("conversation_export", args=[agent.pk, form]))
        assert "its text is in archival memory, in 2 passages" in answer.getvalue().decode()
    file = json.loads(json.dumps(export_agent(agent)))
    if not own:
        del file["memoryweb"]
    made = [import_agent(bob, file).agent, fork(run.steps.get(), "Other", agent.owner)]
    make_all_terms()  # as the periodic tasks do
    for other in made if own else made[1:]:
        assert texts(other) == texts(agent)
        taking.remove_tagged(other, "handbook.pdf")
        assert not other.passages.exists()
    for other in made:
        assert other.messages.filter(role="user").get().content == sent
    assert agent.passages.count() == 2


def test_a_note_is_told_from_what_a_person_types() -> None:
    text, (file,) = without_notes(f"Read [this]\n\n{NOTE}")
    assert (text, *file) == ("Read [this]", "handbook.pdf", "2 passages")
    assert without_notes("[Attached file: none]") == ("[Attached file: none]", [])
    assert without_notes(f"{NOTE} and more") == (f"{NOTE} and more", [])
    tag = 'a "b" \\ [c].pdf'
    odd = AttachedFile(tag=tag, total=1234).note
    text, (file, second) = without_notes(f"{odd}\n\n{NOTE}")
    assert (text, file.tag, file.passages) == ("", tag, "1,234 passages")
    assert second.tag == "handbook.pdf"
