"""What may happen to an agent while its page is open, done by plain POST and by the model."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.request import Request, urlopen

from tests.browser.conftest import RENAME
from tests.support.fake_openai import (
    FakeOpenAI,
    calls,
    gated,
    reasoning,
    stall,
    text,
    text_and_calls,
)
from tests.support.fake_openai import status as refusal
from tests.support.server import MemoryWeb, dashed, eventually

APPEND = ("core_memory_append", {"label": "human", "content": "Likes cherry pie"})


@dataclass
class Stage:
    """An agent with a conversation behind it, whose page is about to be told of something."""

    server: MemoryWeb
    model: FakeOpenAI
    agent: str
    since: int = 0
    sent: int = 0
    token: str = ""  # of scripts, where people log in
    on_leaving: list[Callable[[], Any]] = field(default_factory=list)

    @property
    def path(self) -> str:
        return f"/agents/{self.agent}"

    def send(self, words: str) -> None:
        self.sent += 1
        answer = self.server.post(f"{self.path}/messages/", text=words, key=f"key-{self.sent}")
        assert answer.status == 204

    def stop(self) -> None:
        self.server.post(f"{self.path}/stop/")

    def rest(self) -> None:
        eventually(lambda: self.server.is_idle(self.agent))

    def converse(self) -> None:
        """An exchange with an edit of memory."""
        self.model.script(text_and_calls("Noting.", RENAME), text("**Nice** to meet you."))
        self.send("My name is Sarah.")
        self.rest()

    def hold(self, answer: Any, pieces: int = 0) -> None:
        """The model's next answer stops after so many pieces, until the test ends."""
        gate = gated(answer)
        self.model.script(gate)
        gate.release(pieces)
        self.on_leaving.append(gate.open)

    def wait_for(self, kind: str) -> None:
        """Wait until such an event is in the log, of those after `since`."""
        eventually(lambda: kind in self.server.kinds_after(self.agent, self.since))

    def configure(self, **changes: str | int) -> None:
        form: dict[str, str | int] = {
            "name": "Tutor",
            "model": "",
            "max_steps": 50,
            "timezone": "UTC",
        }
        assert self.server.post(f"{self.path}/settings/", **form | changes).status == 302


def rename(stage: Stage) -> None:
    stage.configure(name="Teacher", model="fake-model")


def change_blocks(stage: Stage) -> None:
    block, _, _ = stage.server.block(stage.agent, "persona")
    new: dict[str, str | int] = {
        "label": "plans",
        "value": "None yet",
        "limit": 100,
        "kind": "text",
    }
    assert stage.server.post(f"{stage.path}/blocks/new/", **new).status == 200
    stage.server.post(
        f"{stage.path}/blocks/{dashed(block)}/settings/",
        label="character",
        description="Who it is",
        limit=500,
        kind="text",
        read_only="on",
    )


def remove_a_block(stage: Stage) -> None:
    block, _, _ = stage.server.block(stage.agent, "persona")
    stage.server.post(f"{stage.path}/blocks/{dashed(block)}/detach/")


def edit_by_hand(stage: Stage) -> None:
    stage.server.edit_block(stage.agent, "Name: Charles\nLikes <b>apple</b> pie & tea")


def edit_by_the_agent(stage: Stage) -> None:
    stage.model.script(calls(APPEND, ("core_memory_append", "{not JSON")), text("Noted."))
    stage.send("I like cherry pie.")
    stage.rest()


def queue(stage: Stage) -> None:
    stage.hold(text("Once upon a time"))
    stage.send("Tell me a story")
    stage.send("And <another>")
    stage.send("And a third")
    stage.model.script(text("There."), text("And there."))


def begin(stage: Stage) -> None:
    stage.hold(text("Once upon a time"))
    stage.send("Tell me a story\nwith <i>two</i> lines")


def try_again(stage: Stage) -> None:
    stage.model.script(refusal(429, headers={"Retry-After": "50"}))
    stage.send("Hello")
    stage.wait_for("activity")
    stage.on_leaving.append(stage.stop)


def ask_to_stop(stage: Stage) -> None:
    stage.model.script(stall("Once upon"))
    stage.send("Tell me a story")
    stage.wait_for("text")
    stage.stop()
    stage.rest()


def stream_text(stage: Stage) -> None:
    stage.hold(text("Once **upon** a <time> & so on", chunk=4), pieces=5)
    stage.send("Tell me a story")
    stage.wait_for("text")


def stream_reasoning(stage: Stage) -> None:
    stage.hold(reasoning("They want a story.", then=text("Once upon a time")), pieces=6)
    stage.send("Tell me a story")
    stage.wait_for("text")


def call_tools_and_go_on(stage: Stage) -> None:
    stage.model.script(text_and_calls("Noting.", APPEND, ("dance", {"with": "me"})))
    stage.hold(text("Once upon a time", chunk=4), pieces=2)
    stage.send("I like cherry pie.")
    stage.wait_for("block_edited")
    stage.wait_for("text")


def finish(stage: Stage) -> None:
    stage.model.script(reasoning("Code.", then=text("```python\nprint('hi')\n```\n\n- one\n- two")))
    stage.send("Show me some code")
    stage.rest()


def fail(stage: Stage) -> None:
    stage.model.script(refusal(401))
    stage.send("Hello")
    stage.rest()


def fail_and_retry(stage: Stage) -> None:
    fail(stage)
    run = stage.server.one("SELECT max(id) FROM agents_run")
    stage.hold(text("Here I am."), pieces=1)
    stage.server.post(f"{stage.path}/runs/{run}/retry/")
    stage.wait_for("text")


def leave_out_and_retry(stage: Stage) -> None:
    stage.model.script(calls(APPEND), text("Noted."), refusal(400))
    stage.send("I like cherry pie.")
    stage.rest()
    stage.send("What do I like?")
    stage.rest()
    run = stage.server.one("SELECT max(id) FROM agents_run")
    stage.server.post(f"{stage.path}/runs/{run}/retry/", way="leave_out")
    stage.rest()


def leave_out_and_put_back(stage: Stage) -> None:
    stage.model.script(text("Noted."))
    stage.send("I like cherry pie.")
    stage.rest()
    message = stage.server.one("SELECT max(id) FROM agents_message")
    for verb in ("leave-out", "put-back"):
        stage.server.post(f"{stage.path}/said/{message}/{verb}/")


def make_room(stage: Stage) -> None:
    stage.model.script(text("Hello."), text("They said **hello** & met."))
    stage.send("Hello again")
    stage.rest()
    stage.server.post(f"{stage.path}/compact/", key="room")
    stage.rest()


def rewrite_the_summary(stage: Stage) -> None:
    make_room(stage)
    ((made,),) = stage.server.rows("SELECT id FROM agents_compaction ORDER BY id DESC LIMIT 1")
    address = f"{stage.path}/compactions/{made}/summary/"
    assert stage.server.post(address, summary="They met.").status == 200


def put_away(stage: Stage) -> None:
    insert = ("archival_memory_insert", {"content": "Bob's garden has a cherry tree"})
    stage.model.script(calls(insert), text("Kept."))
    stage.send("Keep that for later")
    stage.rest()


def reflect(stage: Stage) -> None:
    stage.model.script(
        calls(("memory_rethink", {"label": "human", "new_memory": "Bob"})), text("Shortened it.")
    )
    stage.server.post(f"{stage.path}/reflect/")
    stage.rest()


def script(stage: Stage, path: str, body: dict[str, Any], method: str = "POST") -> Any:
    """What a script asks of the agent, and is answered."""
    address = f"{stage.server.url}/v1{stage.path}/{path}"
    data, headers = json.dumps(body).encode(), {"Content-Type": "application/json"}
    if stage.token:
        headers["Authorization"] = f"Bearer {stage.token}"
    with urlopen(Request(address, data, headers, method=method)) as answer:
        return json.load(answer)


def patch(stage: Stage, path: str, body: dict[str, Any]) -> None:
    """A script changes something of the agent."""
    script(stage, path, body, "PATCH")


def rewrite_the_past(stage: Stage) -> None:
    """What the person said, and what the agent did."""
    for which in ("min", "max"):
        asked = f"SELECT {which}(id) FROM agents_message WHERE agent_id = ?"
        pk = stage.server.one(asked, stage.agent.replace("-", ""))
        message = f"messages/message-00000000-0000-4000-8000-{pk:012x}"
        patch(stage, message, {"content": "Something <b>else</b>"})


def judge_a_step(stage: Stage) -> None:
    finish(stage)
    step = stage.server.rows("SELECT max(id) FROM agents_step")[0][0]
    path = f"{stage.path}/steps/{step}/feedback/"
    assert stage.server.post(path, verdict="positive").status == 204


def rename_the_conversation(stage: Stage) -> None:
    path = f"{stage.path}/conversations/{stage.path.rpartition('/')[2]}/rename/"
    assert stage.server.post(path, title="About <pie>").status == 204


def reset(stage: Stage) -> None:
    """All that was said is forgotten."""
    patch(stage, "reset-messages", {})


def reset_and_go_on(stage: Stage) -> None:
    reset(stage)
    finish(stage)


def first_run(stage: Stage) -> int:
    asked = "SELECT min(id) FROM agents_run WHERE agent_id = ?"
    return int(stage.server.one(asked, stage.agent.replace("-", "")))


def say_again(stage: Stage) -> None:
    """The first message is said in other words, and memory goes back."""
    run = first_run(stage)
    stage.model.script(text("Hello, Kim."))
    path = f"{stage.path}/runs/{run}/again/"
    answer = stage.server.post(path, text="I am Kim.", key="again", memory="back")
    assert answer.status == 204
    stage.rest()


def go_back_to_a_version(stage: Stage) -> None:
    """What was said before comes back, with its memory."""
    run = first_run(stage)
    say_again(stage)
    assert stage.server.post(f"{stage.path}/runs/{run}/show/").status == 204
