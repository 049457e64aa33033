"""The nouns: one a file, each with its verbs."""

from .agent import Agent
from .approval import Approval
from .attachment import Attachment
from .block import Block
from .block_edit import BlockEdit
from .compaction import Compaction
from .conversation import Conversation
from .editing import ApprovalNeeded, Editor, MemoryRefusal, VersionConflict
from .embedding import EmbeddingModel, MessageVector, PassageVector
from .endpoint_facts import EndpointFacts
from .event import Event
from .identity import Identity
from .image import Image
from .invitation import Invitation
from .limits import LimitReached
from .message import Message, ToolCall
from .passage import Passage
from .request_text import RequestText
from .role import Role
from .run import Run
from .schedule import Schedule
from .share import AgentShare, BlockShare
from .step import Step
from .tag import AgentTag
from .token import Token
from .tool import Tool

__all__ = [
    "Agent",
    "AgentShare",
    "AgentTag",
    "Approval",
    "ApprovalNeeded",
    "Attachment",
    "Block",
    "BlockEdit",
    "BlockShare",
    "Compaction",
    "Conversation",
    "Editor",
    "EmbeddingModel",
    "EndpointFacts",
    "Event",
    "Identity",
    "Image",
    "Invitation",
    "LimitReached",
    "MemoryRefusal",
    "Message",
    "MessageVector",
    "Passage",
    "PassageVector",
    "RequestText",
    "Role",
    "Run",
    "Schedule",
    "Step",
    "Token",
    "Tool",
    "ToolCall",
    "VersionConflict",
]
