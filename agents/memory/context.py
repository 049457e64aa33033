"""The context: everything the model is sent for one step, section by section."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple
from uuid import UUID

from django.utils.translation import gettext_noop

from agents.llm.dialects import STRICTEST, Dialect
from agents.llm.images import filled, readable
from agents.llm.options import options_of
from agents.llm.rendering import Sent, dumps
from agents.llm.windows import DEFAULT
from agents.models import Agent, Block, Compaction, Conversation, Image
from agents.models.compaction import LONGEST_SUMMARY
from agents.text.core_memory import BlockText, compile_texts
from agents.text.excerpts import shortened
from agents.tools import Offered, of_agent, schemas, speaks_by_tool

from .classes import compile_blocks, template_of, texts_of
from .context_messages import context_messages

SUMMARY_SHARE = 0.1  # of the window: so much a summary may take
BYTES_PER_TOKEN = 4.0  # until an endpoint has reported what a request of this agent came to


class Section(NamedTuple):
    """A part of the context as a person looks at it; its size in bytes of the request."""

    kind: str
    name: str
    text: str
    size: int


@dataclass
class Context:
    """What the model is sent: the system message made of four texts, the tools, the messages.

    Sizes are tokens, estimated from the request's bytes at `bytes_per_token`.
    """

    prompt: str
    core_memory: str
    metadata: str
    summary: str
    tools: str  # as JSON, "" if there are none
    history: Sequence[Sent]
    blocks: Sequence[Block] = ()
    template: str = ""  # that core memory was compiled through
    block_texts: Sequence[BlockText] = ()  # of the blocks, in their order
    counts: Sequence[int] = (0, 0)  # messages and passages there are
    window: int = DEFAULT
    bytes_per_token: float = BYTES_PER_TOKEN
    options: dict[str, Any] = field(default_factory=dict)
    dialect: Dialect = STRICTEST
    offered: Sequence[str] = ()  # the tools' names
    clip: int | None = None  # characters of a summary, at most
    agent_id: UUID | None = None  # whose the images are

    @property
    def system(self) -> str:
        """The system message."""
        return "\n\n".join(
            filter(None, [self.prompt, self.core_memory, self.metadata, self.summary_message])
        )

    @property
    def summary_message(self) -> str:
        """The summary as the model reads it."""
        return f"<conversation_summary>\n{self.summary}\n</conversation_summary>" * bool(
            self.summary
        )

    def body(self, model: str) -> bytes:
        """The request's body, byte for byte as it is sent."""
        text = self.outline(model)
        if images := self.images:
            text = filled(text, Image.in_base64(self.agent_id, images))
        return text.encode()

    def outline(self, model: str) -> str:
        """The same with slots in the place of the images' bytes."""
        tools = f'"tools":{self.tools},' if self.tools else ""
        given = {"stream_options": {"include_usage": True}} if self.dialect.stream_options else {}
        given |= self.options
        options = "".join(f"{dumps(name)}:{dumps(value)}," for name, value in given.items())
        messages = ",".join([dumps({"role": "system", "content": self.system}), *self.parts()])
        return f'{{"model":{dumps(model)},"stream":true,{options}{tools}"messages":[{messages}]}}'

    def parts(self) -> Iterator[str]:
        """Each message of the history as JSON."""
        return (sent.json for sent in self.history)

    @cached_property
    def fixed(self) -> int:
        """Bytes of what no compaction can make smaller."""
        fixed = self.prompt, self.core_memory, self.metadata, self.tools
        return sum(len(text.encode()) for text in fixed)

    @cached_property
    def text_size(self) -> int:
        """Bytes of all that is sent, but for images and the few bytes around the messages."""
        return (
            self.fixed
            + len(self.summary_message.encode())
            + sum(sent.size for sent in self.history)
        )

    @cached_property
    def images(self) -> set[str]:
        """The SHA-256s of the images that are sent."""
        return {image["sha256"] for sent in self.history for image in sent.images[sent.hidden :]}

    @cached_property
    def image_tokens(self) -> int:
        return sum(sent.image_tokens for sent in self.history)

    @property
    def size(self) -> int:
        """Bytes of all that is sent; an image is as large as text of as many tokens."""
        return self.text_size + round(self.image_tokens * self.bytes_per_token)

    def weight(self, messages: Iterable[Sent]) -> int:
        """The same of some of its messages."""
        return sum(sent.size + round(sent.image_tokens * self.bytes_per_token) for sent in messages)

    @property
    def longest_summary(self) -> int:
        """Characters that a summary may have, so that it never fills the window."""
        most = min(LONGEST_SUMMARY, self.clip or LONGEST_SUMMARY)
        return min(most, int(SUMMARY_SHARE * self.window * self.bytes_per_token))

    @property
    def answer_limit(self) -> int | None:
        """Tokens that the answer may have; None where nothing says so."""
        limit: int | None = self.options.get(self.dialect.limit)
        return None if limit is None else min(limit, self.window)

    def tokens(self, size: int | None = None) -> int:
        """So many bytes, or all, in tokens."""
        return round((self.size if size is None else size) / self.bytes_per_token)


METADATA = (
    "<memory_metadata>\n"
    "{messages} messages are in recall memory (all that was ever said),"
    " the newest of them below.\n"
    "{passages} passages are in archival memory.\n"
    "</memory_metadata>"
)


TEMPORARY = (
    "<temporary_chat>\n"
    "This is a temporary chat: you have no memory here, and nothing of it will be kept.\n"
    "</temporary_chat>"
)


def core_memory(agent: Agent, blocks: list[Block]) -> str:
    """The agent's blocks through its prompt template."""
    template = template_of(agent.prompt_template, agent.memory_class)
    return compile_blocks(blocks, template, agent.owner_id)


def memory_fields(agent: Agent, skills: str) -> dict[str, Any]:
    """Fields of a `Context`: the prompt, core memory, and what that was compiled of."""
    blocks = agent.core_memory()
    texts = texts_of(blocks, agent.owner_id)
    template = template_of(agent.prompt_template, agent.memory_class)
    compiled = compile_texts(texts, template)
    return {
        "prompt": "\n\n".join(filter(None, [agent.system_prompt, skills])),
        "core_memory": compiled,
        "blocks": blocks,
        "block_texts": texts,
        "template": template,
    }


def compile_context(
    conversation: Conversation,
    window: int | None = None,
    internal: int | None = None,
    offered: Offered | None = None,
    heartbeat: bool | None = None,
    dialect: Dialect = STRICTEST,
    at_most: int | None = None,
    asks: bool = False,
    system: str = "",
    skills: str = "",
) -> Context:
    """What the agent's model would be sent now in a conversation.

    `window` in tokens is the model's own, where the agent sets none, and `at_most` what its
    endpoint was found to take; `internal` a run whose messages are not part of the conversation (a
    reflection); `offered` the tools it may call, if not all; `heartbeat` whether it can ask for
    one, if not as its tools have it; `dialect` the form its endpoint takes; `asks`: it is sent now;
    `system` stands in for prompt, skills, core memory and metadata; `skills` is a list of those of
    the script that sent the message.
    """
    agent = conversation.agent
    counts = agent.message_count, agent.passage_count
    compaction = Compaction.newest(conversation)
    offered = offered or Offered(list(of_agent(agent).values()))
    heartbeat = speaks_by_tool(agent) if heartbeat is None else heartbeat
    tools = schemas(offered.tools, heartbeat=heartbeat)
    window = conversation.context_window or agent.context_window or window or DEFAULT
    settings = agent.model_settings | conversation.model_settings
    demanded = bool(tools and offered.bound and dialect.tool_choice)
    context = Context(
        **({"prompt": system, "core_memory": ""} if system else memory_fields(agent, skills)),
        metadata="" if system else metadata(METADATA_OF[agent.is_temporary], *counts),
        summary="",
        tools=dumps(tools) if tools else "",
        history=context_messages(conversation, dialect, internal, asks=asks),
        counts=counts,
        window=min(window, at_most) if at_most else window,
        bytes_per_token=agent.bytes_per_token or BYTES_PER_TOKEN,
        options=options_of(settings, dialect, tools=bool(tools), demanded=demanded),
        dialect=dialect,
        offered=[tool.name for tool in offered.tools],
        clip=agent.compaction_settings.get("clip_chars"),
        agent_id=agent.pk,
    )
    if compaction:  # written when the window was larger, perhaps
        context.summary = shortened(compaction.summary, context.longest_summary)
    return context


METADATA_OF = {False: METADATA, True: TEMPORARY}


def metadata(text: str, messages: int, passages: int) -> str:
    """How much there is outside the context, for the model to know what it could search."""
    return text.replace("{messages}", f"{messages:,}").replace("{passages}", f"{passages:,}")


def sections(context: Context) -> list[Section]:
    """The context in the order the model reads it, for the viewer."""
    compiled = Section("core_memory", gettext_noop("Core memory"), context.core_memory, 0)
    found = [
        Section("prompt", gettext_noop("System prompt"), context.prompt, 0),
        compiled,
        Section("metadata", gettext_noop("Metadata"), context.metadata, 0),
        Section("summary", gettext_noop("Summary"), context.summary_message, 0),
        Section("tools", gettext_noop("Tool definitions"), context.tools, 0),
    ]
    messages = readable("\n".join(context.parts()))
    return [
        *(each._replace(size=len(each.text.encode())) for each in found if each.text),
        Section("messages", gettext_noop("Messages"), messages, context.weight(context.history)),
    ]
