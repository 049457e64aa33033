"""A person's side of a conversation, executed here and now."""

from __future__ import annotations

import itertools

from agents.models import Agent, Message, Run
from agents.runs.loop import run_agent

SAID = ("send_message", "message")


class Talk:
    """Send messages to one agent; each gives back what the person is told."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.keys = itertools.count()

    def __call__(self, text: str, *, fails: bool = False) -> str:
        """What the agent says. The run must end well, unless it may `fail`."""
        self.agent.refresh_from_db()
        self.run: Run = self.agent.send(text, f"key-{next(self.keys)}")
        run_agent(self.run.pk)
        self.run.refresh_from_db()
        if not fails:
            assert self.run.status == Run.Status.DONE, self.run.error
            assert self.run.reason in (Run.Reason.ANSWERED, Run.Reason.NO_HEARTBEAT)
        return self.heard()

    def heard(self) -> str:
        """The last thing said in the run, in words or by tool."""
        said = ""
        for message in self.run.messages.filter(role=Message.Role.ASSISTANT, status="complete"):
            spoken = [call for call in message.calls() if call.name == SAID[0]]
            said = message.content or said
            for call in spoken:
                said = call.arguments.partition(f'"{SAID[1]}": "')[2].partition('"')[0]
        return said
