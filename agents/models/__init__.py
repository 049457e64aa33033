"""The nouns: one a file, each with its verbs."""

from django.apps import apps

from .agent import Agent
from .agent_list import ListedAgent
from .announcement import Announcement
from .approval import Approval
from .attached_file import AttachedFile
from .attachment import Attachment
from .audit import AuditEntry
from .block import Block
from .block_edit import BlockEdit
from .compaction import Compaction
from .conversation import Conversation
from .conversation_list import ListedConversation
from .editing import ApprovalNeeded, Editor, MemoryRefusal, VersionConflict
from .embedding import EmbeddingModel, MessageVector, PassageVector
from .endpoint_facts import EndpointFacts
from .endpoint_model import EndpointModel
from .event import Event
from .history_import import HistoryImport, ImportedConversation, ImportPart
from .identity import Identity
from .image import Image
from .invitation import Invitation
from .limits import LimitReached
from .message import Message, ToolCall
from .model_endpoint import ModelEndpoint
from .names import translate
from .passage import Passage
from .personal_key import PersonalKey
from .quota import Quota
from .request_text import RequestText
from .role import Role
from .run import Run
from .schedule import Schedule
from .share import AgentShare, BlockShare
from .step import Step
from .tag import AgentTag
from .token import Token
from .tool import Tool
from .usage import Reservation, Usage

__all__ = [
    "Agent",
    "AgentShare",
    "AgentTag",
    "Announcement",
    "Approval",
    "ApprovalNeeded",
    "AttachedFile",
    "Attachment",
    "AuditEntry",
    "Block",
    "BlockEdit",
    "BlockShare",
    "Compaction",
    "Conversation",
    "Editor",
    "EmbeddingModel",
    "EndpointFacts",
    "EndpointModel",
    "Event",
    "HistoryImport",
    "Identity",
    "Image",
    "ImportPart",
    "ImportedConversation",
    "Invitation",
    "LimitReached",
    "ListedAgent",
    "ListedConversation",
    "MemoryRefusal",
    "Message",
    "MessageVector",
    "ModelEndpoint",
    "Passage",
    "PassageVector",
    "PersonalKey",
    "Quota",
    "RequestText",
    "Reservation",
    "Role",
    "Run",
    "Schedule",
    "Step",
    "Token",
    "Tool",
    "ToolCall",
    "Usage",
    "VersionConflict",
]

translate(apps.all_models["agents"].values())
