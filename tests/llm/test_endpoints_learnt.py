"""What an endpoint taught by refusing is kept, can be said before, and leaves requests exact."""

from __future__ import annotations

import pytest

from agents.llm import facts
from agents.memory import sent_requests
from agents.models import Agent, Message, Step, Tool
from tests.support import judges
from tests.support.endpoints import Bed, Server, calls, text
from tests.support.endpoints.servers import DEEPSEEK, GEMINI, KIMI, MISTRAL, OPENAI, SOMEWHERE
from tests.support.endpoints.talk import Talk

APPEND = "core_memory_append"
PIE = {"label": "human", "content": "Likes pie"}
DISTINCT = [OPENAI, MISTRAL, KIMI, GEMINI]
OPTIONS = {
    "some mistral": "#ids=nine",
    "some devstral": "#user_after_tool=no",
    "some deepseek": "#reasoning=reasoning_content&tool_choice=no",
    "kimi at siliconflow": "#reasoning=reasoning_content",
    "gemini at vertex": "#signatures=extra_content_always",
    "no stream options": "#stream_options=no",
    "thinking qwen": "#tool_choice=no",
}


def named(name: str) -> Server:
    return next(server for server in SOMEWHERE if server.name == name)


@pytest.fixture
def told(agent: Agent) -> Agent:
    """Alice's agent speaks by tool and has to begin with one, which asks most of an endpoint."""
    agent.configure(tools=["send_message", APPEND])
    agent.configure(tool_rules=[{"type": "run_first", "tool_name": "send_message"}])
    return agent


@pytest.mark.parametrize("server", SOMEWHERE, ids=str)
def test_what_was_learnt_is_known_to_another_process(
    server: Server, bed: Bed, told: Agent, talk: Talk
) -> None:
    at = bed.endpoint(server, told)
    at.default = calls(("send_message", {"message": "Hello."}))
    for _ in range(3):
        assert talk("Hi") == "Hello."
    learnt = len(at.refused)
    facts.forget()
    assert talk("Hi") == "Hello."
    assert len(at.refused) == learnt, at.refused


@pytest.mark.parametrize("name", OPTIONS)
def test_what_the_operator_says_need_not_be_learnt(
    name: str, bed: Bed, told: Agent, talk: Talk
) -> None:
    at = bed.endpoint(named(name), told, OPTIONS[name])
    at.default = calls(("send_message", {"message": "Hello."}))
    for _ in range(3):
        assert talk("Hi") == "Hello."
    assert not at.refused, at.refused[0]


@pytest.mark.parametrize("server", [*DISTINCT, *SOMEWHERE[::2]], ids=str)
def test_the_request_that_is_shown_is_the_one_that_was_taken(
    server: Server, bed: Bed, told: Agent, talk: Talk
) -> None:
    """Also of steps before something was learnt, whose form was another."""
    at = bed.endpoint(server, told)
    at.default = calls(("send_message", {"message": "Hello."}))
    for _ in range(3):
        talk("Hi")
    shown = [
        sent_requests.sent(step) for step in Step.objects.exclude(status="failed").order_by("pk")
    ]
    assert [request and request.body for request in shown] == at.raw_bodies
    assert all(request and request.proven for request in shown)


@pytest.mark.parametrize("server", [DEEPSEEK, KIMI], ids=str)
def test_reasoning_goes_back_with_the_call_it_led_to(
    server: Server, bed: Bed, agent: Agent, talk: Talk
) -> None:
    at = bed.endpoint(server, agent)
    at.script(calls((APPEND, PIE)), text("Noted."))
    talk("I like pie")
    [called] = [m for m in at.requests[-1]["messages"] if m.get("tool_calls")]
    assert called["reasoning_content"] == "Let me think."
    elsewhere = bed.endpoint(OPENAI, agent)
    talk("And here?")
    assert "Let me think." not in str(elsewhere.requests)
    thoughts = agent.messages.filter(role=Message.Role.ASSISTANT).values_list(
        "reasoning", flat=True
    )
    assert list(thoughts) == ["Let me think.", "Let me think.", ""]


def test_a_signature_goes_back_to_whom_it_came_from(bed: Bed, agent: Agent, talk: Talk) -> None:
    at = bed.endpoint(GEMINI, agent)
    at.script(calls((APPEND, PIE), (APPEND, PIE)), text("Noted."))
    talk("I like pie")
    [called] = [m["tool_calls"] for m in at.requests[-1]["messages"] if m.get("tool_calls")]
    [signature] = at.signatures
    assert called[0]["extra_content"] == {"google": {"thought_signature": signature}}
    elsewhere = bed.endpoint(named("some gemini"), agent)
    assert talk("And here?") == "OK."
    assert signature not in str(elsewhere.requests)
    bed.endpoint(GEMINI, agent).signatures.add(signature)
    assert talk("And back?") == "OK."
    back = bed.at["generativelanguage.googleapis.com"].requests[-1]["messages"]
    assert signature in str(back)


@pytest.mark.parametrize("server", [MISTRAL, OPENAI], ids=str)
def test_tools_that_want_a_heartbeat_are_taken(
    server: Server, bed: Bed, told: Agent, talk: Talk
) -> None:
    """Mistral's own validator reads the schemas; `send_message` ends the turn and wants none."""
    at = bed.endpoint(server, told)
    at.default = calls(("send_message", {"message": "Hello."}))
    told.configure(tool_rules=[])
    assert talk("Hi") == "Hello."
    body = at.requests[0]
    assert not judges.broken_rules(at.address, body)
    required = {
        tool["function"]["name"]: "request_heartbeat" in tool["function"]["parameters"]["required"]
        for tool in body["tools"]
    }
    assert required == {"send_message": False, APPEND: True}


def test_a_tool_with_a_long_description_is_taken(bed: Bed, agent: Agent, talk: Talk) -> None:
    said = "Look at it. " * 400
    source = f'def look() -> str:\n    """{said}"""\n    return ""\n'
    tool = Tool.from_source(agent.owner, source)
    agent.configure(tools=[APPEND, tool.name])
    at = bed.endpoint(OPENAI, agent)
    assert talk("Hi") == "OK."
    assert not at.refused
