"""The socket of a page: all that comes after an event, in order, once, and never too much."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from uuid import uuid4

import pytest
from channels.testing import WebsocketCommunicator
from django.contrib.auth.models import AnonymousUser, User
from pytest_django import Settings

from agents.asyncio_bridge import in_thread
from agents.live import consumer, publisher
from agents.live.consumer import MOST_BYTES, MOST_EVENTS, PageConsumer
from agents.memory.classes import ChatMemory
from agents.models import Agent, Block, Editor, Event, Message, Run
from tests.support.fake_openai import FakeOpenAI, gated, stall, text
from tests.support.server import eventually

pytestmark = pytest.mark.django_db(transaction=True)
PATIENCE = 20.0  # seconds; a frame that is due comes at once, unless the machine is busy
SILENCE = 0.1  # seconds in which a frame that should not come would have come


Frame = dict[str, Any]


class Page:
    """A page of a person, as far as the server can tell."""

    def __init__(self, user: User | AnonymousUser) -> None:
        self.socket = WebsocketCommunicator(PageConsumer.as_asgi(), "/ws/")
        self.socket.scope.update({"user": user})  # type: ignore[misc]
        self.seqs: list[int] = []
        self.html = ""

    async def say(self, **command: Any) -> None:
        await self.socket.send_to(text_data=json.dumps(command))

    async def hear(self) -> Frame:
        """The next frame; what an event's frame brings is kept, and not acknowledged."""
        frame: Frame = json.loads(await self.socket.receive_from(timeout=PATIENCE))
        if "seq" in frame:
            self.seqs.append(frame["seq"])
            self.html += frame["content"]
        return frame

    async def hear_until(self, wanted: Callable[[Frame], bool]) -> Frame:
        while not wanted(frame := await self.hear()):
            pass
        return frame

    async def hear_refusal(self) -> Frame:
        return await self.hear_until(lambda frame: "refused" in frame)

    async def follow(self, agent: Agent, after: int = 0) -> None:
        await self.say(command="follow", agent=str(agent.pk), after=after)
        await self.hear_until(lambda frame: frame.get("following") == str(agent.pk))

    async def up_to(self, seq: int) -> list[int]:
        """The numbers of the events heard, once that one is among them."""
        if seq not in self.seqs:
            await self.hear_until(lambda frame: frame.get("seq") == seq)
        return self.seqs

    async def send(self, agent: Agent, words: str, key: str = "") -> str:
        key = key or uuid4().hex
        await self.say(command="send", agent=str(agent.pk), text=words, key=key)
        await self.hear_until(lambda frame: frame.get("accepted") == key)
        return key

    async def is_silent(self) -> bool:
        """Nothing comes but the list of agents."""
        while not await self.socket.receive_nothing(timeout=SILENCE):
            if "seq" in await self.hear():
                return False
        return True


Open = Callable[..., Awaitable[Page]]


@pytest.fixture
async def open_page(alice: User) -> AsyncIterator[Open]:
    """Open a page; it is closed when the test ends."""
    async with AsyncExitStack() as pages:

        @asynccontextmanager
        async def opened(user: User) -> AsyncIterator[Page]:
            page = Page(user)
            connected, _ = await page.socket.connect(timeout=PATIENCE)
            assert connected
            yield page
            await page.socket.disconnect(timeout=PATIENCE)

        async def open_one(agent: Agent | None = None, after: int = 0, user: User = alice) -> Page:
            page = await pages.enter_async_context(opened(user))
            if agent:
                await page.follow(agent, after)
            return page

        yield open_one
    publisher._loop = None  # this test's loop ends here; a run that is stopped now reaches nobody


@pytest.fixture(autouse=True)
def runs_are_executed_here(settings: Settings) -> None:
    """By threads, also on Postgres; `test_hosted.py` has the workers."""
    settings.HOSTED = False


@pytest.fixture(autouse=True)
def runs_end(transactional_db: None) -> Iterator[None]:
    """No run goes on when a test's tables are emptied."""
    yield
    for run in Run.objects.running():
        run.stop()
    eventually(lambda: not Run.objects.exclude(status__in=["done", "stopped", "failed"]).exists())


def last_seq(agent: Agent) -> int:
    agent.refresh_from_db()
    return agent.last_seq


def edit(agent: Agent, value: str) -> int:
    """Edit the human block by hand; the number of the event."""
    block = agent.block("human")
    assert block is not None
    block.set_value(value, by=Editor(Editor.PERSON, "alice"))
    return last_seq(agent)


def fill(agent: Agent, events: int, size: int = 0) -> int:
    """Put pieces of a draft into the log; the number of the last."""
    draft = Message.objects.create(agent=agent, number=10_000, role="assistant", status="draft")
    data = {"message": draft.pk, "field": "content", "text": "x" * size}
    agent.record(*(Event(kind=Event.Kind.TEXT, draft=draft, data=data) for _ in range(events)))
    return last_seq(agent)


# -- the log, followed ---------------------------------------------------------------------------


async def test_following_gives_everything_after_an_event(agent: Agent, open_page: Open) -> None:
    for value in ("Name: Sarah", "Name: Charles", "Name: Bob"):
        last = await in_thread(edit, agent, value)
    assert last == 4
    assert await (await open_page(agent)).up_to(4) == [1, 2, 3, 4]
    assert await (await open_page(agent, after=2)).up_to(4) == [3, 4]
    assert await (await open_page(agent, after=4)).is_silent()


async def test_more_events_than_one_reading_of_the_log_come_in_order(
    agent: Agent, open_page: Open
) -> None:
    last = await in_thread(fill, agent, 2 * consumer.BATCH + 50)
    page = await open_page(agent)
    assert await page.up_to(last) == list(range(1, last + 1))


async def test_two_pages_hear_the_same(agent: Agent, open_page: Open) -> None:
    one, other = await open_page(agent), await open_page(agent)
    for value in ("Name: Sarah", "Name: Charles"):
        seq = await in_thread(edit, agent, value)
        await one.up_to(seq)
        await other.up_to(seq)
    assert one.seqs == other.seqs == [1, 2, 3]
    assert one.html == other.html


async def test_a_page_that_turns_to_another_agent_hears_of_that_one_only(
    agent: Agent, alice: User, open_page: Open
) -> None:
    other = await in_thread(Agent.create, alice, "Cook", ChatMemory(human="Name: Zoe"))
    page = await open_page(agent)
    await page.up_to(1)
    await page.follow(other, after=1)
    await in_thread(edit, agent, "Name: Not heard")
    seq = await in_thread(edit, other, "Name: Heard")
    await page.up_to(seq)
    assert "Heard" in page.html
    assert "Not heard" not in page.html


async def test_lost_messages_lose_nothing(
    agent: Agent, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = await open_page(agent, after=1)
    assert await page.is_silent()  # it has looked into the log by now
    with monkeypatch.context() as deaf:
        deaf.setattr(publisher, "_send", lambda messages: None)
        for value in ("Name: Sarah", "Name: Charles", "Name: Dora"):
            await in_thread(edit, agent, value)
    assert await page.is_silent()
    seq = await in_thread(edit, agent, "Name: Bob")
    assert await page.up_to(seq) == [2, 3, 4, 5]


async def test_a_page_that_comes_back_in_mid_answer_goes_on_without_gap_or_doubling(
    agent: Agent, model: FakeOpenAI, open_page: Open
) -> None:
    gate = gated(text("one two three four five", chunk=4))
    model.script(gate)
    first = await open_page(agent, after=1)
    await first.send(agent, "Count")
    gate.release(2)
    await first.hear_until(lambda frame: "two" in frame.get("content", ""))
    await first.socket.disconnect()

    gate.release(2)
    await in_thread(eventually, lambda: "three" in streamed(agent))
    second = await open_page(agent, after=first.seqs[-1])
    await second.up_to(await in_thread(last_seq, agent))
    seqs = first.seqs + second.seqs
    assert seqs == list(range(2, seqs[-1] + 1))
    gate.open()
    await second.hear_until(lambda frame: "answered" in frame.get("content", ""))
    await second.hear_until(lambda frame: "Ready" in frame.get("content", ""))
    assert second.seqs == sorted(set(second.seqs))
    assert second.seqs[-1] == await in_thread(last_seq, agent)


async def test_events_drawn_late_do_not_say_twice_what_was_streamed(
    agent: Agent, model: FakeOpenAI, open_page: Open
) -> None:
    gate = gated(text("one two three four five", chunk=4))
    model.script(gate)
    await in_thread(agent.send, "Count", "key")
    gate.release(4)
    await in_thread(eventually, lambda: "three" in streamed(agent))
    page = await open_page(agent, after=1)
    await page.up_to(await in_thread(last_seq, agent))
    assert len(re.findall(r"one", page.html)) == 1
    assert len(re.findall(r'id="step-\d+"', page.html)) == 1
    gate.open()


def streamed(agent: Agent) -> str:
    """What the log has of the draft."""
    pieces = Event.objects.filter(agent=agent, kind=Event.Kind.TEXT).order_by("seq")
    return "".join(piece.data["text"] for piece in pieces)


async def test_a_page_of_a_deleted_agent_is_told_once(agent: Agent, open_page: Open) -> None:
    page = await open_page(agent, after=1)
    await in_thread(agent.trash)
    await page.hear_until(lambda frame: "This agent was deleted" in frame.get("content", ""))
    assert await page.is_silent()


# -- never more than the page can take -----------------------------------------------------------


async def test_a_page_that_does_not_acknowledge_gets_no_more_than_so_many_events(
    agent: Agent, open_page: Open
) -> None:
    last = await in_thread(fill, agent, MOST_EVENTS + 150)
    page = await open_page(agent)
    await page.up_to(MOST_EVENTS)
    assert await page.is_silent()
    await page.say(command="ack", seq=100)
    await page.up_to(MOST_EVENTS + 100)
    assert await page.is_silent()
    await page.say(command="ack", seq=MOST_EVENTS)
    assert await page.up_to(last) == list(range(1, last + 1))


async def test_a_page_that_does_not_acknowledge_gets_no_more_than_so_many_bytes(
    agent: Agent, open_page: Open
) -> None:
    last = await in_thread(fill, agent, 15, 100_000)
    page = await open_page(agent, after=1)
    await page.up_to(10)  # nine pieces
    assert await page.is_silent()
    assert len(page.html) <= MOST_BYTES
    while page.seqs[-1] < last:
        await page.say(command="ack", seq=page.seqs[-1])
        await page.up_to(page.seqs[-1] + 1)
    assert page.seqs == list(range(2, last + 1))


async def test_a_page_that_never_acknowledges_is_let_go(
    agent: Agent, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumer, "ACK_SECONDS", 0.1)
    await in_thread(fill, agent, MOST_EVENTS + 1)
    page = await open_page(agent)
    await page.up_to(MOST_EVENTS)
    while (output := await page.socket.receive_output(PATIENCE))["type"] != "websocket.close":
        assert "seq" not in json.loads(output["text"])
    assert output["code"] == 1013


# -- commands ------------------------------------------------------------------------------------


async def test_a_message_with_the_same_key_is_one_message(
    agent: Agent, model: FakeOpenAI, open_page: Open
) -> None:
    one, other = await open_page(agent), await open_page(agent)
    key = await one.send(agent, "Hello")
    await one.send(agent, "Hello", key)
    await other.send(agent, "Hello", key)
    assert await in_thread(lambda: list(agent.runs.values_list("text", "key"))) == [("Hello", key)]


async def test_a_closed_page_stops_nothing(
    agent: Agent, model: FakeOpenAI, open_page: Open
) -> None:
    gate = gated(text("Once upon a time"))
    model.script(gate)
    page = await open_page(agent)
    await page.send(agent, "Tell me a story")
    await page.socket.disconnect()
    gate.open()
    run = await in_thread(agent.runs.get)
    await in_thread(eventually, lambda: Run.objects.get(pk=run.pk).status == "done")
    assert not model.closed_by_client.is_set()


@pytest.mark.parametrize("words", ["Once", None])
async def test_stop_hangs_up_on_a_silent_model(
    words: str | None, agent: Agent, model: FakeOpenAI, open_page: Open
) -> None:
    model.script(stall(words))
    page, other = await open_page(agent, after=1), await open_page(agent, after=1)
    await page.send(agent, "Tell me a story")
    await in_thread(model.wait_for_requests)
    await page.hear_until(lambda frame: (words or "step") in frame.get("content", ""))
    await other.say(command="stop", agent=str(agent.pk))
    for each in (page, other):
        await each.hear_until(lambda frame: "Stopping" in frame.get("content", ""))
        await each.hear_until(lambda frame: "Ready" in frame.get("content", ""))
    assert await in_thread(model.closed_by_client.wait, PATIENCE)
    run = await in_thread(agent.runs.get)
    assert (run.status, run.reason) == ("stopped", "cancelled")


NO_COMMANDS = [
    "hello",
    "[1, 2]",
    "7",
    "null",
    '{"body": []}',
    '{"command": "dance"}',
    '{"command": ["send"]}',
    '{"command": "follow"}',
    '{"command": "follow", "agent": 7, "after": 0}',
    '{"command": "ack", "seq": "x"}',
    '{"command": "ack", "seq": true}',
    '{"command": "ack", "seq": -1}',
    '{"command": "ack", "seq": 1e999}',
    '{"command": "send", "text": "Hello"}',
    '{"command": "stop", "agent": {"id": "x"}}',
    "[" * 100_000,
    '{"command": "send", "agent": ' + "9" * 5000 + "}",
]


async def test_what_is_no_command_is_refused_in_words(
    open_page: Open, subtests: pytest.Subtests
) -> None:
    page = await open_page()
    for said in NO_COMMANDS:
        with subtests.test(said=said[:40]):
            await page.socket.send_to(text_data=said)
            assert 'class="refusal"' in (await page.hear_refusal())["content"]
            await page.socket.send_to(bytes_data=b"\x00\xff")  # and the socket lives
            assert "The command is not JSON" in (await page.hear_refusal())["content"]


REFUSED: list[tuple[Frame, str]] = [
    ({"text": ""}, "The message is empty"),
    ({"text": " \n\t"}, "The message is empty"),
    ({"text": "x" * 100_001}, "100,000 is the most"),
    ({"text": 7}, "needs 'text'"),
    ({"key": ""}, "'key'"),
    ({"key": "k" * 101}, "'key'"),
    ({"key": "k\0"}, "'key'"),
    ({"key": "\ud83d"}, "'key'"),
    ({"key": None}, "'key'"),
    ({"agent": str(uuid4())}, "There is no such agent."),
    ({"agent": "x"}, "There is no such agent."),
]


async def test_a_message_that_cannot_be_sent_is_refused_in_words(
    agent: Agent, open_page: Open, subtests: pytest.Subtests
) -> None:
    page = await open_page()
    for changed, words in REFUSED:
        with subtests.test(changed=ascii(changed)[:60]):
            message = {"command": "send", "agent": str(agent.pk), "text": "Hello", "key": "key"}
            await page.say(**message | changed)
            refusal = await page.hear_refusal()
            assert words in refusal["content"].replace("&#x27;", "'")
            # In ASCII, as half a surrogate pair cannot be reported.
            assert ascii(refusal["refused"]) == ascii((message | changed)["key"])
            assert not await in_thread(agent.runs.exists)


async def test_half_a_surrogate_pair_is_no_reason_to_hang_up(
    agent: Agent, model: FakeOpenAI, open_page: Open
) -> None:
    page = await open_page()
    await page.send(agent, "Half an emoji: \ud83d")
    assert (await in_thread(agent.runs.get)).text == "Half an emoji: \ufffd"


async def test_a_number_beyond_all_events_is_no_reason_to_hang_up(
    agent: Agent, open_page: Open
) -> None:
    page = await open_page()
    for event in (2**63, 10**30):
        await page.follow(agent, after=event)
        await page.say(command="ack", seq=event)
        assert await page.is_silent(), event
    await page.follow(agent)
    await page.up_to(1)


async def test_somebody_elses_agent_is_like_one_that_never_was(
    agent: Agent, bob: User, open_page: Open
) -> None:
    page = await open_page(user=bob)
    for command in ("follow", "send", "stop"):
        heard = []
        for named in (str(agent.pk), str(uuid4())):
            await page.say(command=command, agent=named, text="Hello", key="key", after=0)
            heard.append(await page.hear_refusal())
        assert heard[0] == heard[1], command
        assert "There is no such agent." in heard[0]["content"]
    assert not await in_thread(agent.runs.exists)
    await in_thread(edit, agent, "Name: Secret")
    assert await page.is_silent()


async def test_a_stranger_gets_no_socket(open_page: Open) -> None:
    stranger = Page(AnonymousUser())
    connected, code = await stranger.socket.connect()
    assert (connected, code) == (False, 4401)


# -- the list of agents --------------------------------------------------------------------------


@pytest.fixture
def list_comes_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumer, "LIST_SECONDS", 0.05)


@pytest.mark.usefixtures("list_comes_soon")
async def test_the_list_of_agents_comes_when_it_changes(
    agent: Agent, alice: User, bob: User, open_page: Open
) -> None:
    page, bobs = await open_page(agent), await open_page(user=bob)
    cook = await in_thread(Agent.create, alice, "Cook", ChatMemory())
    await page.hear_until(lambda frame: "Cook" in frame.get("content", ""))
    await in_thread(lambda: cook.configure(name="Baker"))
    await page.hear_until(lambda frame: "Baker" in frame.get("content", ""))
    await in_thread(cook.trash)
    await page.hear_until(lambda f: "#agents" in f["content"] and "Baker" not in f["content"])
    assert await bobs.is_silent()
    assert "Cook" not in bobs.html


@pytest.mark.usefixtures("list_comes_soon")
async def test_the_list_of_agents_says_which_one_works(
    agent: Agent, model: FakeOpenAI, open_page: Open
) -> None:
    gate = gated(text("Hello"))
    model.script(gate)
    page = await open_page()
    await in_thread(agent.send, "Hello", "key")
    await page.hear_until(lambda frame: "(working)" in frame["content"])
    gate.open()
    await page.hear_until(lambda frame: "(working)" not in frame["content"])


def test_a_block_held_by_two_agents_changes_in_both_logs(agent: Agent, alice: User) -> None:
    cook = Agent.create(alice, "Cook", ChatMemory())
    shared = Block.objects.create(owner=alice, label="recipes")
    agent.attach(shared)
    cook.attach(shared)
    shared.append("Cherry pie", by=Editor(Editor.PERSON, "alice"))
    for each in (agent, cook):
        kinds = Event.objects.filter(agent=each).order_by("seq").values_list("kind", flat=True)
        assert (kinds[0], list(kinds)[-1]) == ("agent_changed", "block_edited")
        assert list(kinds).count("block_edited") == 1
