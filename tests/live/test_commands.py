"""The commands that a page sends over its socket."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.contrib.auth.models import AnonymousUser, User

from agents.asyncio_bridge import in_thread
from agents.live import commands
from agents.live.commands import find_conversation
from agents.models import Agent, Conversation, Run
from tests.support.fake_openai import FakeOpenAI, gated, stall, text
from tests.support.followed_page import PATIENCE, Frame, Open, Page, edit
from tests.support.server import eventually

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("runs_are_executed_here", "runs_end"),
]


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
    await page.hear_until(lambda frame: (words or "step") in frame.get("content", "") + page.draft)
    await other.say(command="stop", agent=str(agent.pk))
    for each in (page, other):  # "Stopping" is not seen where events are drawn late, as it is now
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
    ({"text": "x" * 100_001}, "at most 100,000 are allowed"),
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


async def test_a_message_to_an_agent_that_is_deleted_at_that_moment_is_refused_in_words(
    agent: Agent, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find(user: User, body: Frame) -> Conversation:
        found = find_conversation(user, body)
        Agent.objects.filter(pk=agent.pk).delete()
        return found

    page = await open_page()
    monkeypatch.setattr(commands, "find_conversation", find)
    await page.say(command="send", agent=str(agent.pk), text="Hello", key="k")
    refusal = await page.hear_refusal()
    assert "Something else was changed at the same time. Nothing was done" in refusal["content"]
    assert refusal["refused"] == "k"


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
        await page.say(command="follow", agent=str(agent.pk), after=event)
        await page.hear_until(lambda frame: "reload" in frame)  # a database from before
        await page.say(command="ack", seq=event)
    await page.follow(agent)
    await page.up_to(1)


async def test_somebody_elses_agent_is_like_one_that_never_was(
    agent: Agent, bob: User, open_page: Open
) -> None:
    page = await open_page(user=bob)
    for command in ("follow", "draft", "send", "stop"):
        heard = []
        for named in (str(agent.pk), str(uuid4())):
            await page.say(
                command=command, agent=named, text="Hello", key="key", after=0, message=1
            )
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
