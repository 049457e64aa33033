"""The nouns: one a file, each with its verbs."""

from .agent import Agent, Attachment
from .block import Block, Editor, MemoryRefusal
from .block_edit import BlockEdit
from .event import Event
from .message import Message, ToolCall
from .run import Run
from .step import Step

__all__ = [
    "Agent",
    "Attachment",
    "Block",
    "BlockEdit",
    "Editor",
    "Event",
    "MemoryRefusal",
    "Message",
    "Run",
    "Step",
    "ToolCall",
]
