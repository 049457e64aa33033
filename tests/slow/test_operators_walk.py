"""An operator's walk: from an empty database to people who chat, through kills, an upgrade, and a
backup that is restored elsewhere; nothing that anybody said is lost."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.support.chatting_person import Person
from tests.support.fake_openai import FakeOpenAI, Gate, gated, text
from tests.support.operated_site import ENDS_WITHIN, Operated, operated
from tests.support.server import eventually
from tests.support.site import own_database
from tests.support.visitor import PASSWORD

pytestmark = [pytest.mark.hosted_only, pytest.mark.slow]
NAMES = ("ana", "ben", "cem")
ALL = ("web1", "web2", "worker1", "worker2")
KEPT = {  # what has to be the same after a move
    "agents": "SELECT id, name, message_count, secrets FROM agents_agent ORDER BY id",
    "blocks": "SELECT id, label, value, version FROM agents_block ORDER BY id",
    "messages": "SELECT id, agent_id, role, content FROM agents_message ORDER BY id",
    "people": "SELECT username, password FROM auth_user ORDER BY id",
}
SAID = "SELECT content FROM agents_message WHERE role = 'user' ORDER BY content"


class Teller:
    """The model: it repeats what it is told, and tells stories as slowly as the test wants."""

    def __init__(self, model: FakeOpenAI) -> None:
        self.model = model
        self.stories: list[Gate] = []
        self.slow = True
        model.default = self.answer

    def answer(self, request: dict[str, Any]) -> Any:
        told = next(m["content"] for m in reversed(request["messages"]) if m["role"] == "user")
        answer = text(f"You said: {told}")
        if "story" not in told or not self.slow:
            return answer
        self.stories.append(gated(answer))
        self.stories[-1].release(2)
        return self.stories[-1]

    def are_told(self, count: int) -> None:
        """Wait until so many stories go on."""
        eventually(lambda: len(self.stories) == count)

    def go_on(self) -> None:
        """From now on everything is answered at once."""
        self.slow = False
        for story in self.stories:
            story.open()


@pytest.fixture
def teller(model: FakeOpenAI) -> Teller:
    return Teller(model)


@pytest.fixture
def site(tmp_path: Path, model: FakeOpenAI, teller: Teller) -> Iterator[Operated]:
    with own_database() as database, operated(tmp_path / "first", model, database) as made:
        yield made


def at_once(act: Callable[[Person], None], people: list[Person]) -> None:
    with ThreadPoolExecutor(len(people)) as threads:
        list(threads.map(act, people))


def chat(people: list[Person], words: str) -> None:
    """All say something at once, and are answered."""
    at_once(lambda person: person.say(f"{words} of {person.name}"), people)
    at_once(lambda person: person.hear(f"You said: {words} of {person.name}"), people)


def test_an_operators_walk(
    site: Operated, teller: Teller, tmp_path: Path, model: FakeOpenAI
) -> None:
    begin(site)
    people = invite(site)
    chat(people, "Greetings")
    kill_and_start_again(site, teller, people)
    upgrade(site, teller, people)
    said = [
        f"{words} of {name}"
        for words in ("Greetings", "A story", "Another story")
        for name in NAMES
    ]
    assert [content for (content,) in site.ask(SAID)] == sorted(said)
    assert site.ask("SELECT DISTINCT status FROM agents_run") == [("done",)]
    move(site, people, tmp_path, model)


def begin(site: Operated) -> None:
    """Prepare the empty database, start everything, and ask the doctor."""
    assert "is prepared" in site.run("prepare")
    site.start(*ALL)
    found = site.run("doctor")
    assert "failed" not in found, found
    site.run("create_admin", said=PASSWORD)


def invite(site: Operated) -> list[Person]:
    """The administrator invites three people, who make accounts and agents."""
    carol = site.visitor()
    carol.log_in("carol")
    people = []
    for name in NAMES:
        page = carol.post("/admin/agents/invitation/add/", email="", role="person").said
        link = re.search(r"https://[^<\s]+/accounts/invited/[^<\s]+", page)
        assert link, page
        people.append(Person(name, site.visitor()))
        people[-1].accept(link[0])
        people[-1].make_agent()
    return people


def kill_and_start_again(site: Operated, teller: Teller, people: list[Person]) -> None:
    """While all are told stories, a worker and a web process are killed with -9."""
    at_once(lambda person: person.say(f"A story of {person.name}"), people)
    teller.are_told(len(people))
    site.kill("worker1" if site.asks("worker1", teller.model) else "worker2")
    site.kill("web1")
    teller.go_on()
    site.start("web1", "worker3")
    at_once(lambda person: person.hear(f"You said: A story of {person.name}"), people)


def upgrade(site: Operated, teller: Teller, people: list[Person]) -> None:
    """Stop softly while stories are told, prepare as a new version does, and start."""
    told = len(teller.stories)
    teller.slow = True
    at_once(lambda person: person.say(f"Another story of {person.name}"), people)
    teller.are_told(told + len(people))
    ending = site.ask_to_end()
    teller.go_on()
    for child in ending:
        assert child.wait(ENDS_WITHIN) == 0
    site.run("prepare")
    site.start(*ALL)
    at_once(lambda person: person.hear(f"You said: Another story of {person.name}"), people)


def move(site: Operated, people: list[Person], folder: Path, model: FakeOpenAI) -> None:
    """A backup, restored on another machine, where the chats go on."""
    (backups := folder / "backups").mkdir()
    site.run("backup", backups=backups)
    (file,) = backups.iterdir()
    with own_database() as database, operated(folder / "second", model, database) as other:
        assert "all secrets can be read" in other.run("restore", FILE=file)
        for what, sql in KEPT.items():
            assert other.ask(sql) == site.ask(sql), what
        other.start("web1", "worker1")
        moved = [Person(person.name, other.visitor(), person.agent) for person in people]
        for person in moved:
            person.visitor.log_in(person.name)
            page = person.visitor.get(f"/agents/{person.agent}/").said
            assert f"You said: Another story of {person.name}" in page
            seq = re.search(r'data-seq="(\d+)"', page)
            assert seq
            person.seq = int(seq[1])
        chat(moved, "Here I am again")
