"""Finding, as a person types: agents, messages, blocks and passages, and within one agent."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from agents.models import Agent, AgentShare, Block, Conversation, Editor, Message, Passage, Role
from agents.search import finding
from tests.search.test_recall import said
from tests.support.ledger import step_of


def found(web: Client, typed: str) -> list[tuple[str, str]]:
    """Each option's text, marks in brackets, and its address."""
    page = web.get(reverse("find"), {"q": typed}).content.decode()
    options = re.findall(
        r'<a class="option".*?href="([^"]+)".*?option-text">(.*?)</span>', page, re.S
    )
    bare = [(text.replace("<mark>", "[").replace("</mark>", "]"), to) for to, text in options]
    return [(html.unescape(" ".join(text.split())), html.unescape(to)) for text, to in bare]


def test_what_is_typed_is_found_everywhere_and_its_words_are_marked(
    agent: Agent, team: Block, rex: Passage, web: Client
) -> None:
    said(agent, "My dog is called Rex <b>")
    team.set_value("Rex keeps the door", by=Editor.person(agent.owner))
    agent.configure(name="Rexford")
    message = Message.objects.get()
    about = f"/agents/{agent.pk}/"
    assert found(web, "rex") == [
        ("[Rexford]", about),
        (
            "My dog is called [Rex] <b>",
            f"{about}?message={message.pk}&find=rex#message-{message.pk}",
        ),
        ("[Rex] keeps the door", f"/blocks/{team.pk}/?find=rex"),
        ("[Rex] is a dog", f"{about}?panel=archival&q=rex&find=rex#passage-{rex.pk}"),
    ]
    assert [text for text, _ in found(web, "dog re")] == [
        "My [dog] is called [Rex] <b>",
        "[Rex] is a [dog]",
    ]
    assert found(web, "rex cat") == []
    assert "Nothing found" in web.get(reverse("find"), {"q": "rex cat"}).content.decode()


def test_the_last_word_is_found_as_far_as_it_is_typed_and_in_other_forms(
    agent: Agent, web: Client
) -> None:
    said(agent, "Ωκεανός and Élan", "Running in the mountains", "東京へ行きます")
    assert found(web, "mount")[0][0] == "Running in the [mountains]"
    assert found(web, "mount ") == []
    assert found(web, "runs mountain")[0][0] == "[Running] in the [mountains]"
    assert found(web, "elan ωκεα")[0][0] == "[Ωκεανός] and [Élan]"
    assert found(web, "行き")[0][0] == "東京へ[行き]ます"


def test_nothing_typed_lists_the_agents_that_changed_last(agent: Agent, web: Client) -> None:
    Agent.objects.create(owner=agent.owner, name="Newest")
    Agent.objects.create(owner=agent.owner, name="Hidden", hidden=True)
    assert [text for text, _ in found(web, "")] == ["Newest", "Tutor"]


def test_only_what_a_person_may_see_is_found(
    agent: Agent, rex: Passage, bob: User, bobs_web: Client
) -> None:
    said(agent, "Rex again")
    agent.configure(name="Rex")
    assert found(bobs_web, "rex") == []
    share = AgentShare.share(agent, bob, Role.VIEWER)
    assert [text for text, _ in found(bobs_web, "rex")] == [
        "[Rex]",
        "[Rex] again",
        "[Rex] is a dog",
    ]
    share.stop()
    assert found(bobs_web, "rex") == []
    assert bobs_web.get(reverse("agent_find", args=[agent.pk]), {"q": "rex"}).status_code == 404


@pytest.mark.parametrize("typed", ["*", '"', "a" * 5000, "\0", "' OR 1=1", "the", "ab*c", "😀"])
def test_whatever_is_typed_is_looked_for(typed: str, agent: Agent, web: Client) -> None:
    said(agent, "The end")
    for address in (reverse("find"), reverse("agent_find", args=[agent.pk])):
        assert web.get(address, {"q": typed}).status_code == 200


# -- within an agent -------------------------------------------------------------------------------


def within(web: Client, agent: Agent, typed: str) -> Any:
    return web.get(reverse("agent_find", args=[agent.pk]), {"q": typed}).json()


def test_all_hits_in_an_agent_come_newest_first_with_their_places(
    agent: Agent, web: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    said(agent, "Rex barks", "Tea", "rex sleeps")
    step = step_of(agent)
    second = Conversation.create(agent, title="Second")
    Message.objects.create(
        agent=agent,
        conversation=second,
        step=step,
        number=agent.record(messages=1),
        role="assistant",
        content="I like Rex.",
    )
    first, _, third, fourth = Message.objects.order_by("number")
    answer = within(web, agent, "Rex")
    assert answer["looked_for"] == ["rex"]
    assert not answer["is_limited"]
    assert [hit["message"] for hit in answer["hits"]] == [fourth.pk, third.pk, first.pk]
    elsewhere = answer["hits"][0]
    assert elsewhere["step"] == step.pk
    assert elsewhere["address"] == (
        f"/agents/{agent.pk}/conversations/{second.pk}/?step={step.pk}&find=Rex#step-{step.pk}"
    )
    monkeypatch.setattr(finding, "MOST_READ", 3)
    assert within(web, agent, "Rex")["is_limited"]
    assert within(web, agent, " ")["hits"] == []


def test_an_address_of_a_message_shows_what_is_around_it(agent: Agent, web: Client) -> None:
    agent.first_conversation.post_first_messages([("user", "Hello")])
    message = Message.objects.get()
    for n in range(1, 60):
        agent.runs.create(conversation_id=agent.pk, key=f"k{n}", text="x", status="done")
    assert f'id="message-{message.pk}"' not in web.get(f"/agents/{agent.pk}/").content.decode()
    page = web.get(f"/agents/{agent.pk}/", {"message": str(message.pk)}).content.decode()
    assert f'id="message-{message.pk}"' in page
