"""What may happen to tool calls that wait, done as `stage` has it."""

from __future__ import annotations

from tests.browser.stage import APPEND, Stage, script
from tests.support.fake_openai import calls, text
from tests.support.server import dashed, eventually


def ask_for_approval(stage: Stage) -> None:
    block, _, _ = stage.server.block(stage.agent, "human")
    form: dict[str, str | int] = {
        "label": "human",
        "limit": 2000,
        "kind": "text",
        "ask_before_write": "on",
    }
    stage.server.post(f"{stage.path}/blocks/{dashed(block)}/settings/", **form)
    stage.model.script(calls(APPEND))
    stage.send("I like cherry pie.")
    eventually(lambda: stage.server.runs(stage.agent)[-1][1] == "waiting")
    stage.on_leaving.append(stage.stop)


def refuse(stage: Stage) -> None:
    ask_for_approval(stage)
    asked = stage.server.one("SELECT max(id) FROM agents_approval")
    stage.model.script(text("Too bad."))
    stage.server.post(f"{stage.path}/approvals/{asked}/", decision="refused", reason="<No>")
    stage.rest()


def bring_a_tool(stage: Stage) -> None:
    """A script's message waits for the script's own tool."""
    stage.model.script(calls(("read_file", {"path": "<notes>"})))
    tools = [{"name": "read_file", "description": "Read a file."}]
    script(stage, "messages/async", {"input": "What do they say?", "client_tools": tools})
    eventually(lambda: stage.server.runs(stage.agent)[-1][1] == "waiting")
    stage.on_leaving.append(stage.stop)


def return_by_script(stage: Stage) -> None:
    """The script gives the return of its tool."""
    bring_a_tool(stage)
    call_id = stage.server.one("SELECT tool_call_id FROM agents_approval ORDER BY id DESC LIMIT 1")
    returned = {"type": "tool", "tool_call_id": call_id, "status": "success"}
    approval = {"type": "approval", "approvals": [returned | {"tool_return": "<b>milk</b>"}]}
    stage.model.script(text("Buy milk."))
    script(stage, "messages/async", {"messages": [approval]})
    stage.rest()


def stop_what_waits(stage: Stage) -> None:
    bring_a_tool(stage)
    stage.stop()
    eventually(lambda: stage.server.runs(stage.agent)[-1][1] == "stopped")
