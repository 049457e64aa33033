"""Tool calls that wait for a person or for the script itself, as notebooks for Letta have them."""

from __future__ import annotations

from typing import Any

from tests.sdk.any_version import OLD, items, user
from tests.sdk.operations import MODEL, SOURCE, call

WEATHER = {
    "name": "read_thermometer",
    "description": "Read the thermometer on the person's desk.",
    "parameters": {
        "type": "object",
        "properties": {"unit": {"type": "string"}},
        "required": ["unit"],
    },
}


def asking_agent(client: Any) -> Any:
    """An agent with a tool that needs approval."""
    for old in items(client.tools.list(limit=100)):
        if old.name == "shout":
            client.tools.delete(tool_id=old.id)
    tool = client.tools.create(source_code=SOURCE, default_requires_approval=True)
    return client.agents.create(name="caller", memory_blocks=[], model=MODEL, tool_ids=[tool.id])


def answer(request: Any, approve: bool, reason: str | None = None) -> Any:
    """An approval, in the form of the version."""
    if OLD:
        older = {"approval_request_id": request.id, "approve": approve, "reason": reason}
        return {"type": "approval", **older}
    call_id = request.tool_calls[0].tool_call_id
    approval = {"type": "approval", "tool_call_id": call_id, "approve": approve, "reason": reason}
    return {"type": "approval", "approvals": [approval]}


def refusal(send: Any, **given: Any) -> Any:
    """The status and the detail that a call is refused with."""
    try:
        send(**given)
    except Exception as error:
        return [error.status_code, error.body["detail"]]  # type: ignore[attr-defined]
    return None


def human_in_the_loop(client: Any) -> Any:
    """Asked; a message and a wrong id meanwhile; refused; asked again and approved."""
    made = asking_agent(client)
    send = client.agents.messages.create
    asked = send(agent_id=made.id, messages=[user("Louder!")])
    request = asked.messages[-1]
    wrong = request.model_copy(update={"id": "message-x"}) if OLD else request.model_copy(deep=True)
    if not OLD:
        wrong.tool_calls[0].tool_call_id = "call_x"
    waiting = client.agents.retrieve(made.id).model_dump()
    status, pending = refusal(send, agent_id=made.id, messages=[user("Hello?")])
    wrong_id = refusal(send, agent_id=made.id, messages=[answer(wrong, approve=True)])
    refused = send(agent_id=made.id, messages=[answer(request, approve=False, reason="Too loud.")])
    again = send(agent_id=made.id, messages=[user("Louder!")]).messages[-1]
    approval = {"agent_id": made.id, "messages": [answer(again, approve=True)]}
    stream = client.agents.messages.create_stream if OLD else client.agents.messages.stream
    chunks = list(stream(**approval))
    listed = items(client.agents.messages.list(agent_id=made.id))
    answers = [m for m in listed if m.message_type == "approval_response_message"]
    return {
        "asked": [type(request).__name__, request.tool_call.name, asked.stop_reason.stop_reason],
        "waiting": [waiting["last_stop_reason"], waiting["pending_approval"]["id"] == request.id],
        "pending": [status, pending["code"], pending["pending_request_id"] == request.id],
        "wrong": [wrong_id[0], wrong_id[1].split(".")[0]],
        "refused": [[m.message_type, getattr(m, "tool_return", "")] for m in refused.messages],
        "approved": [chunk.message_type for chunk in chunks if chunk.message_type != "ping"],
        "listed": [m.message_type for m in listed],
        "answers": [[type(m).__name__, m.approve, m.reason] for m in answers],
    }


def thermometer(client: Any) -> Any:
    """A tool that the script brings along and runs itself."""
    made = client.agents.create(name="caller", memory_blocks=[], model=MODEL)
    brought: Any = {"client_tools": [WEATHER]}
    if OLD:
        brought = {"request_options": {"additional_body_parameters": brought}}
    send = client.agents.messages.create
    asked = send(agent_id=made.id, messages=[user("How warm is it?")], **brought)
    request = asked.messages[-1]
    returned = {
        "type": "tool",
        "tool_call_id": request.tool_call.tool_call_id,
        "tool_return": "21 °C",
        "status": "success",
        "stdout": ["beep"],
        "stderr": [],
    }
    message = {"type": "approval", "approvals": [returned]}
    answered = send(agent_id=made.id, messages=[message])
    listed = items(client.agents.messages.list(agent_id=made.id))
    (answers,) = [m for m in listed if m.message_type == "approval_response_message"]
    first = answers.approvals[0]
    return {
        "asked": [type(request).__name__, request.tool_call.name, request.tool_call.arguments],
        "answered": [m.message_type for m in answered.messages],
        "returned": answered.messages[0].tool_return,
        "said": answered.messages[-1].content,
        "listed": first["tool_return"] if isinstance(first, dict) else first.tool_return,
    }


def left_alone(client: Any) -> Any:
    """A run in the background that waits; it is left to the test to let the time run out."""
    made = asking_agent(client)
    run = call(
        client,
        "agents.messages.create_async",
        agent_id=made.id,
        messages=[user("Louder!")],
        include_return_message_types=["approval_request_message", "tool_return_message"],
    )
    return {"agent": made.id, "run": run.id}


def told_elsewhere(client: Any) -> Any:
    """A run in the background whose end is to be told at an address of the server's own machine."""
    made = client.agents.create(name="caller", memory_blocks=[], model=MODEL)
    send = client.agents.messages.create_async
    hello = {"agent_id": made.id, "messages": [user("Hello")]}
    return send(**hello, callback_url="http://127.0.0.1:8080/told").id


def what_was_told(client: Any, run: str) -> Any:
    """What came of it."""
    state = client.runs.retrieve(run)
    return [state.status, state.callback_url, state.callback_status_code, state.callback_error]


def how_it_stands(client: Any, run: str) -> Any:
    """The state of a run, and its messages."""
    state = client.runs.retrieve(run)
    messages = items(client.runs.messages.list(run_id=run))
    return {
        "state": [state.status, state.stop_reason],
        "messages": [[m.message_type, getattr(m, "tool_return", None)] for m in messages],
    }
