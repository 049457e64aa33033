"""Answers in all the ways that servers were seen to send them: heard right, and talk goes on."""

from __future__ import annotations

import pytest

from agents.models import Agent, Block, Message
from tests.support.endpoints import Bed, Server, answers, called, text
from tests.support.endpoints.answers import Way
from tests.support.endpoints.servers import plain
from tests.support.endpoints.talk import Talk
from tests.support.judges import arguments_are_objects, template

WAYS = [*answers.WAYS, *called.WAYS]
STRICT = Server(
    "somewhere strict", "the strictest there is", (arguments_are_objects, template("gemma")), plain
)


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_an_answer_is_heard_whatever_way_it_comes(
    way: Way, bed: Bed, agent: Agent, human: Block, talk: Talk
) -> None:
    at = bed.endpoint(STRICT, agent)
    at.script(*[way.stream] * (3 if way.fails else 1))
    if way.remembers:
        at.script(text("Noted."))
    said = talk("I like pie", fails=way.fails)
    if not way.fails:
        assert said == (way.says or "Noted.")
    answer = talk.run.messages.filter(role=Message.Role.ASSISTANT)[0]
    if way.reasons:
        assert answer.reasoning.strip() == way.reasons
    assert "<think>" not in answer.content
    assert "</think>" not in answer.content
    if way.remembers:
        human.refresh_from_db()
        assert human.value == "\n".join(["Name: Bob", *way.remembers])
        assert not talk.run.messages.filter(role=Message.Role.TOOL, is_error=True).exists()
    step = talk.run.steps.order_by("pk").last()
    assert step is not None
    assert (step.prompt_tokens == 900) == ("900" in str(way.stream))
    assert talk("And then?") == "OK."
    assert talk("And then?") == "OK."
    assert not at.refused
    sent = str(at.requests[-1]["messages"])
    assert not way.reasons or way.reasons not in sent


def test_each_way_was_seen_somewhere() -> None:
    assert len({str(way) for way in WAYS}) == len(WAYS)
    assert all(way.evidence for way in WAYS)
