"""Core memory and the context: what a model is sent, what was sent, and what left to make room."""

from .classes import BasicBlockMemory, ChatMemory, Memory, TaskMemory

__all__ = ["BasicBlockMemory", "ChatMemory", "Memory", "TaskMemory"]
