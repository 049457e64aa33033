"""The socket of a page: all that comes after an event, in order, once, and never too much."""

from __future__ import annotations

import json
import re
from uuid import uuid4

import pytest
from django.contrib.auth.models import User

from agents.asyncio_bridge import in_thread
from agents.live import frames, in_flight, publisher
from agents.live.in_flight import MOST_BYTES, MOST_EVENTS
from agents.memory.classes import ChatMemory
from agents.models import Agent, Block, Editor, Event
from agents.runs import streaming
from tests.support.fake_openai import FakeOpenAI, gated, text
from tests.support.followed_page import PATIENCE, Open, edit, fill, last_seq, streamed
from tests.support.server import eventually

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("runs_are_executed_here", "runs_end"),
]


# -- the log, followed ---------------------------------------------------------------------------


async def test_following_gives_everything_after_an_event(agent: Agent, open_page: Open) -> None:
    for value in ("Name: Sarah", "Name: Charles", "Name: Bob"):
        last = await in_thread(edit, agent, value)
    assert last == 4
    assert await (await open_page(agent)).up_to(4) == [1, 2, 3, 4]
    assert await (await open_page(agent, after=2)).up_to(4) == [3, 4]
    assert await (await open_page(agent, after=4)).is_silent()


async def test_a_page_that_the_log_cannot_bring_up_to_date_is_told_to_reload(
    agent: Agent, open_page: Open
) -> None:
    for value in ("Name: Sarah", "Name: Charles", "Name: Bob"):
        last = await in_thread(edit, agent, value)
    await in_thread(prune_up_to, agent, 2)
    assert await (await open_page(agent, after=2)).up_to(last) == [3, 4]
    for after in (1, 100):  # older than the log; newer than a backup that was restored
        page = await open_page()
        await page.say(command="follow", agent=str(agent.pk), after=after)
        assert await page.hear() == {"reload": True}
        await in_thread(edit, agent, f"Name: {after}")
        assert await page.is_silent()


def prune_up_to(agent: Agent, seq: int) -> None:
    Event.objects.filter(agent=agent, seq__lte=seq).delete()
    Agent.objects.filter(pk=agent.pk).update(pruned_seq=seq)


async def test_more_events_than_one_reading_of_the_log_come_in_order(
    agent: Agent, open_page: Open
) -> None:
    last = await in_thread(fill, agent, 2 * frames.BATCH + 50)
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
    await first.hear_until(lambda _: "two" in first.draft)
    await first.socket.disconnect()

    gate.release(2)
    await in_thread(eventually, lambda: "three" in streamed(agent))
    second = await open_page(agent, after=first.seqs[-1])
    await second.up_to(await in_thread(last_seq, agent))
    seqs = first.seqs + second.seqs
    assert seqs == list(range(2, seqs[-1] + 1))
    gate.open()
    ended = await second.hear_until(lambda frame: frame.get("kind") == "run_changed")
    assert "answered" in ended["content"]
    assert "Ready" in ended["content"]
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
    assert page.draft == await in_thread(streamed, agent)
    assert len(re.findall(r'id="step-\d+"', page.html)) == 1
    gate.open()


async def test_a_page_gets_text_before_the_log_has_it(
    agent: Agent, model: FakeOpenAI, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "STORE_SECONDS", 1000.0)
    gate = gated(text("one two three four five", chunk=4))
    model.script(gate)
    page = await open_page(agent, after=1)
    await page.send(agent, "Count")
    gate.release(4)
    await page.hear_until(lambda _: "three" in page.draft)
    assert await in_thread(streamed, agent) == ""
    gate.open()
    await page.hear_until(lambda frame: "answered" in frame.get("content", ""))


async def test_a_page_gets_each_block_as_html_when_it_is_finished(
    agent: Agent, model: FakeOpenAI, open_page: Open
) -> None:
    gate = gated(text("One *two*.\n\n- three\n- four\n\nfive", chunk=4))
    model.script(gate)
    page = await open_page(agent, after=1)
    await page.send(agent, "Count")
    gate.release(7)
    frame = await page.hear_until(lambda frame: "block" in frame)
    one = {"start": 0, "end": 12, "html": '<p dir="auto">One <em>two</em>.</p>\n'}
    assert frame["block"].items() >= one.items()
    assert "seq" not in frame
    late = await open_page(agent, after=1)
    await late.hear_until(lambda frame: "piece" in frame)
    await late.say(command="draft", agent=str(agent.pk), message=frame["block"]["message"])
    assert (await late.hear_until(lambda frame: "block" in frame))["block"] == frame["block"]
    gate.open()
    await page.hear_until(lambda frame: "answered" in frame.get("content", ""))


async def test_text_that_is_lost_on_the_way_comes_with_what_the_log_gets(
    agent: Agent, model: FakeOpenAI, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publisher, "publish_text", lambda *said: None)
    gate = gated(text("one two three four five", chunk=4))
    model.script(gate)
    page = await open_page(agent, after=1)
    await page.send(agent, "Count")
    gate.release(4)
    await page.hear_until(lambda _: "three" in page.draft)
    assert "one two three four".startswith(page.draft)
    gate.open()
    await page.hear_until(lambda frame: "answered" in frame.get("content", ""))


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
    last = await in_thread(fill, agent, 15, 110_000)
    page = await open_page(agent, after=1)
    await page.up_to(10)  # nine pieces
    assert await page.is_silent()
    assert len(page.draft) <= MOST_BYTES
    while page.seqs[-1] < last:
        await page.say(command="ack", seq=page.seqs[-1])
        await page.up_to(page.seqs[-1] + 1)
    assert page.seqs == list(range(2, last + 1))


async def test_a_page_that_never_acknowledges_is_let_go(
    agent: Agent, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_flight, "ACK_SECONDS", 0.1)
    await in_thread(fill, agent, MOST_EVENTS + 1)
    page = await open_page(agent)
    await page.up_to(MOST_EVENTS)
    while (output := await page.socket.receive_output(PATIENCE))["type"] != "websocket.close":
        assert "seq" not in json.loads(output["text"])
    assert output["code"] == 1013


# -- the list of agents --------------------------------------------------------------------------


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


async def test_a_page_that_comes_back_to_a_deleted_conversation_is_told(
    agent: Agent, open_page: Open
) -> None:
    page = await open_page(agent)
    await page.say(command="follow", agent=str(agent.pk), conversation=str(uuid4()), after=0)
    await page.hear_until(lambda it: "This conversation was deleted" in it.get("content", ""))
