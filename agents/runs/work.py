"""The run in hand: what the loop has read and done so far, in one object that the loop owns.

Only here do the lists of a run in memory grow: its steps, their messages, edits and approvals. What
is drawn for the pages is drawn from them, so nothing of a run is read twice while it goes on.
"""

from __future__ import annotations

from collections.abc import Sequence

from agents import tools
from agents.models import Agent, Approval, BlockEdit, Compaction, Conversation, Message, Run, Step
from agents.tools import ENDING, Offered, Rules, Tool, core_memory
from agents.tools.rules import without


class Work:
    """A run in hand, with the tools and rules of its next calls.

    `run.step_list`, each step's `message_list`, `edit_list` and `approval_list`, and
    `run.compaction_list` hold what is stored.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self._tools: dict[str, Tool] | None = None
        self._rules: Rules | None = None

    @property
    def agent(self) -> Agent:
        return self.run.agent

    @property
    def conversation(self) -> Conversation:
        return self.run.conversation

    @property
    def model(self) -> str:
        """The model that answers."""
        return self.run.model_handle

    @property
    def last_step(self) -> Step | None:
        return self.run.step_list[-1] if self.run.step_list else None

    # -- read once a step ----------------------------------------------------------------------

    def refresh(self) -> None:
        """Read agent and conversation anew: their settings may have changed since the last step."""
        self._tools = self._rules = None
        if self.run.step_list:  # for the first step they were read just now
            self.read_context()

    def read_context(self) -> bool:
        """Read agent and conversation; False where they are gone."""
        run = self.run
        conversation = Conversation.find_with_agent(run.conversation_id)
        if conversation is None:
            return False
        run.agent, run.conversation = conversation.agent, conversation
        return True

    @property
    def tools(self) -> dict[str, Tool]:
        """The tools the run may use: the agent's, and those of its script, which win where a name
        is the same; in a reflection, those that edit core memory."""
        if self._tools is None:
            if self.run.kind == Run.Kind.REFLECTION:
                self._tools = {name: tools.get(name) for name in core_memory.EDITING}
            else:
                brought = tools.client_tools(self.run.client_tools)
                held = tools.of_agent(self.agent)
                held = {name: held[name] for name in held if name not in brought}
                self._tools = held | brought
        return self._tools

    @property
    def rules(self) -> Rules:
        """The rules of the run: the agent's; in a reflection, those about approval only."""
        if self._rules is None:
            rules, reflects = self.agent.tool_rules, self.run.kind == Run.Kind.REFLECTION
            if reflects:
                rules = [rule for rule in rules if rule["type"] == "requires_approval"]
            elif self.agent.is_temporary:  # none can ask for a tool that is not offered
                for name in set(self.agent.tools) - self.tools.keys():
                    rules = without(rules, name)
            self._rules = Rules(rules, self.last_return, () if reflects else ENDING)
        return self._rules

    def offered(self) -> Offered:
        """What may be called in the next step."""
        if not self.rules.rules:
            return Offered(list(self.tools.values()))
        called = self.run.called()
        names = self.rules.offered(list(self.tools), called)
        return Offered([self.tools[name] for name in names], self.rules.must_call(called))

    def last_return(self) -> str:
        """What the tool returned that the run called last with success."""
        for step in reversed(self.run.step_list):
            returns = step.returns()
            for call in reversed(step.message.calls() if step.message else []):
                if call.id in returns and not returns[call.id].is_error:
                    approval = step.approval(call.id)
                    return returns[call.id].content.removeprefix(approval.note if approval else "")
        return ""

    # -- what was done -------------------------------------------------------------------------

    def began(self, step: Step, message: Message) -> None:
        """A step began, with the draft of what the model is about to say."""
        step.message_list, step.edit_list, step.approval_list = [message], [], []
        self.run.step_list.append(step)

    def returned(self, step: Step, message: Message, edits: Sequence[BlockEdit]) -> None:
        """A tool call returned, having written these edits."""
        step.message_list.append(message)
        step.edit_list.extend(edits)

    def asked(self, step: Step, approvals: Sequence[Approval]) -> None:
        """Calls wait for a person or the script."""
        step.approval_list.extend(approvals)

    def compacted(self, compaction: Compaction) -> None:
        """Old messages left the context."""
        self.run.compaction_list.append(compaction)
