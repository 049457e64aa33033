"""The context: everything the model is sent for one step, section by section."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agents.history import Sent, dumps, history
from agents.memory import compile_blocks, template_of
from agents.models import Agent, Block
from agents.tools import schemas

DEFAULT_WINDOW = 32_000  # tokens
FULL = 0.85  # of the window: past it the oldest exchanges leave the context
ROOMY = 0.40  # of the window: so much stays
CHARACTERS_PER_TOKEN = 4


@dataclass
class Context:
    """What the model is sent: `system`, then `history`; sizes are estimated tokens."""

    system: str
    core_memory: str
    history: list[Sent]
    tools: list[dict[str, Any]]
    window: int

    def body(self, model: str) -> bytes:
        """The request's body, byte for byte as it is sent."""
        tools = f'"tools":{dumps(self.tools)},' if self.tools else ""
        messages = ",".join([dumps({"role": "system", "content": self.system}), *self.parts()])
        return (
            f'{{"model":{dumps(model)},"stream":true,"stream_options":{{"include_usage":true}},'
            f'{tools}"messages":[{messages}]}}'
        ).encode()

    def parts(self) -> Iterator[str]:
        """Each message of the history as JSON."""
        return (sent.json for sent in self.history)

    def tokens(self) -> int:
        """Estimated from characters."""
        fixed = len(self.system) + (len(dumps(self.tools)) if self.tools else 0)
        return (fixed + sum(map(len, self.parts()))) // CHARACTERS_PER_TOKEN


def core_memory(agent: Agent, blocks: list[Block]) -> str:
    """The agent's blocks through its prompt template."""
    return compile_blocks(blocks, template_of(agent.prompt_template, agent.memory_class))


def compile_context(agent: Agent) -> Context:
    """What the agent's model would be sent now."""
    blocks = agent.core_memory()
    compiled = core_memory(agent, blocks)
    return Context(
        system="\n\n".join(filter(None, [agent.system_prompt, compiled, metadata(agent)])),
        core_memory=compiled,
        history=history(agent),
        tools=schemas(agent),
        window=agent.context_window or DEFAULT_WINDOW,
    )


def metadata(agent: Agent) -> str:
    """How much there is outside the context, for the model to know what it could search."""
    return (
        "<memory_metadata>\n"
        f"{agent.message_count:,} messages are in recall memory (all that was ever said),"
        " the newest of them below.\n"
        "0 passages are in archival memory.\n"
        "</memory_metadata>"
    )


def make_room(agent: Agent, context: Context, full: float = FULL) -> int:
    """Let the oldest exchanges leave a context that is nearly full; how many messages left.

    Nearly full is past `full` of the window. Whole exchanges leave, and the last one never does;
    they stay in recall memory.
    """
    used = context.tokens()
    if used <= full * context.window:
        return 0
    left = 0
    for index, sent in enumerate(context.history):
        if index and sent.begins:
            left = index
            if used <= ROOMY * context.window:
                break
        used -= len(sent.json) // CHARACTERS_PER_TOKEN
    if left:
        agent.context_from = context.history[left].number
        agent.save(update_fields=["context_from"])
    return left
