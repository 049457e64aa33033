"""The tools with which an agent edits its core memory."""

from agents.models import BlockEdit, Editor, MemoryRefusal
from agents.models.block import Block

from .tool import Caller, tool


@tool
def core_memory_append(caller: Caller, label: str, content: str) -> str:
    """Append to the contents of core memory.

    Args:
        label: The label of the block to append to.
        content: What to add, as a new line at the end of the block.
    """
    block = find(caller, label)
    return told(block, block.append(content, by=editor(caller)))


@tool
def core_memory_replace(caller: Caller, label: str, old_content: str, new_content: str) -> str:
    """Replace part of the contents of core memory. To delete, give an empty new_content.

    Args:
        label: The label of the block to edit.
        old_content: The exact text to replace, as it stands in the block.
        new_content: What to put in its place.
    """
    block = find(caller, label)
    return told(block, block.replace(old_content, new_content, by=editor(caller)))


def find(caller: Caller, label: str) -> Block:
    """The agent's block of that label; a refusal that names the labels there are."""
    if block := caller.agent.block(label):
        return block
    labels = ", ".join(f"'{b.label}'" for b in caller.agent.core_memory()) or "none"
    raise MemoryRefusal(f"There is no block '{label}'; the blocks are: {labels}.")


def editor(caller: Caller) -> Editor:
    return Editor.agent(caller.step, caller.call_id)


def told(block: Block, edit: BlockEdit | None) -> str:
    """What the model is told of its edit."""
    if edit is None:
        return f"Nothing changed: block '{block.label}' already reads so."
    return f"Done. Block '{block.label}' has {len(block.value):,} of {block.limit:,} characters."
