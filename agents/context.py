"""The context: everything the model is sent for one step, section by section."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from agents.memory import compile_blocks, template_of
from agents.models import Agent, Block, Message
from agents.tools import schemas

DEFAULT_WINDOW = 32_000  # tokens
FULL = 0.85  # of the window: past it the oldest exchanges leave the context
ROOMY = 0.40  # of the window: so much stays
CHARACTERS_PER_TOKEN = 4


@dataclass
class Context:
    """What the model is sent: `system`, then `messages`; sizes are estimated tokens."""

    system: str
    core_memory: str
    messages: list[Message]
    tools: list[dict[str, Any]]
    window: int
    parts: list[str] = field(default_factory=list)  # each message as JSON, the system prompt first

    def body(self, model: str) -> bytes:
        """The request's body, byte for byte as it is sent."""
        tools = f'"tools":{dumps(self.tools)},' if self.tools else ""
        return (
            f'{{"model":{dumps(model)},"stream":true,"stream_options":{{"include_usage":true}},'
            f'{tools}"messages":[{",".join(self.parts)}]}}'
        ).encode()

    def tokens(self) -> int:
        """Estimated from characters."""
        tools = len(dumps(self.tools)) if self.tools else 0
        return (sum(map(len, self.parts)) + tools) // CHARACTERS_PER_TOKEN


def dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def core_memory(agent: Agent, blocks: list[Block]) -> str:
    """The agent's blocks through its prompt template."""
    return compile_blocks(blocks, template_of(agent.prompt_template, agent.memory_class))


def compile_context(agent: Agent) -> Context:
    """What the agent's model would be sent now.

    Every assistant's tool call is followed by its return, whatever is stored: a call that was
    never answered (from an import, say) is sent with a return that says so.
    """
    blocks = agent.core_memory()
    compiled = core_memory(agent, blocks)
    messages = list(Message.objects.filter(agent=agent).in_context(agent.context_from))
    system = "\n\n".join(filter(None, [agent.system_prompt, compiled, metadata(agent)]))
    context = Context(
        system=system,
        core_memory=compiled,
        messages=messages,
        tools=schemas(agent),
        window=agent.context_window or DEFAULT_WINDOW,
    )
    context.parts = [dumps({"role": "system", "content": system}), *sent(messages)]
    return context


def metadata(agent: Agent) -> str:
    """How much there is outside the context, for the model to know what it could search."""
    return (
        "<memory_metadata>\n"
        f"{agent.message_count:,} messages are in recall memory (all that was ever said),"
        " the newest of them below.\n"
        "0 passages are in archival memory.\n"
        "</memory_metadata>"
    )


def sent(messages: list[Message]) -> list[str]:
    """Each message as JSON, every tool call followed by its return."""
    parts: list[str] = []
    waiting: list[str] = []

    def settle() -> None:
        for call_id in waiting:
            parts.append(
                dumps({"role": "tool", "tool_call_id": call_id, "content": "No return is known."})
            )
        waiting.clear()

    for message in messages:
        if message.role == Message.Role.TOOL:
            if message.tool_call_id not in waiting:
                continue
            waiting.remove(message.tool_call_id)
        else:
            settle()
        parts.append(dumps(message.as_sent()))
        waiting.extend(call.id for call in message.calls())
    settle()
    return parts


def make_room(agent: Agent, context: Context, full: float = FULL) -> int:
    """Let the oldest exchanges leave a context that is nearly full; how many messages left.

    Nearly full is past `full` of the window. Whole exchanges leave, and the last one never does;
    they stay in recall memory.
    """
    if context.tokens() <= full * context.window:
        return 0
    lengths = [len(part) for part in sent(context.messages)]
    if len(lengths) != len(context.messages):  # unanswered calls were filled in: count simply
        lengths = [len(dumps(message.as_sent())) for message in context.messages]
    starts = [i for i, m in enumerate(context.messages) if m.role == Message.Role.USER and i]
    if not starts:
        return 0
    fixed = context.tokens() - sum(lengths) // CHARACTERS_PER_TOKEN
    first = next(
        (
            i
            for i in starts
            if fixed + sum(lengths[i:]) // CHARACTERS_PER_TOKEN <= ROOMY * context.window
        ),
        starts[-1],
    )
    agent.context_from = context.messages[first].number
    agent.save(update_fields=["context_from"])
    return first
