"""The tools with which an agent edits its core memory."""

from agents.models import Block, BlockEdit, MemoryRefusal
from agents.text.similar_lines import new_similar_lines

from .tool import Caller, Outcome, tool


@tool(of_memory=True, family="letta_memory_core")
def core_memory_append(caller: Caller, label: str, content: str) -> Outcome:
    """Append to the contents of core memory.

    Args:
        label: The label of the block to append to.
        content: What to add, as a new line at the end of the block.
    """
    block = block_of(caller, label)
    return outcome(block, block.append(content, by=caller.editor))


@tool(of_memory=True, family="letta_memory_core")
def core_memory_replace(caller: Caller, label: str, old_content: str, new_content: str) -> Outcome:
    """Replace part of the contents of core memory. To delete, give an empty new_content.

    Args:
        label: The label of the block to edit.
        old_content: The exact text to replace, as it stands in the block.
        new_content: What to put in its place.
    """
    block = block_of(caller, label)
    return outcome(block, block.replace(old_content, new_content, by=caller.editor))


@tool(of_memory=True, family="letta_sleeptime_core")
def memory_insert(caller: Caller, label: str, new_string: str, insert_line: int = -1) -> Outcome:
    """Insert text into a block of core memory, as lines of its own.

    Args:
        label: The label of the block to edit.
        new_string: What to insert.
        insert_line: The number of the line below which to insert; 0 is above the first line, -1
            below the last.
    """
    block = block_of(caller, label)
    return outcome(block, block.insert(new_string, insert_line, by=caller.editor))


@tool(of_memory=True, family="letta_sleeptime_core")
def memory_replace(caller: Caller, label: str, old_string: str, new_string: str) -> Outcome:
    """Replace a text that occurs exactly once in a block of core memory.

    Args:
        label: The label of the block to edit.
        old_string: The exact text to replace, with white space and line breaks.
        new_string: What to put in its place; empty to delete it.
    """
    block = block_of(caller, label)
    return outcome(block, block.replace_once(old_string, new_string, by=caller.editor))


@tool(of_memory=True, family="letta_sleeptime_core")
def memory_rethink(caller: Caller, label: str, new_memory: str) -> Outcome:
    """Rewrite a block of core memory as a whole, to reorganize or shorten it.

    Args:
        label: The label of the block to rewrite.
        new_memory: The block's new value, including everything of the old one worth keeping.
    """
    block = block_of(caller, label)
    return outcome(block, block.set_value(new_memory, by=caller.editor))


@tool(of_memory=True, family="letta_memory_core")
def core_memory_save(caller: Caller, section: str, memory: str) -> Outcome:
    """Save important information about you, the agent, or about the human you chat with.

    Args:
        section: The label of the block to save to, such as 'human' or 'agent'.
        memory: What to save, as a new line at the end of the block.
    """
    block = block_of(caller, section)
    return outcome(block, block.append(memory, by=caller.editor))


EDITING = (
    "core_memory_append",
    "core_memory_replace",
    "memory_insert",
    "memory_replace",
    "memory_rethink",
    "core_memory_save",
)


def block_of(caller: Caller, label: str) -> Block:
    """The agent's block of that label, to be written; a refusal that names the labels there are."""
    if block := caller.agent.block_to_write(label):
        return block
    labels = ", ".join(f"'{b.label}'" for b in caller.agent.core_memory()) or "none"
    raise MemoryRefusal(f"There is no block '{label}'. The blocks are: {labels}.")


def outcome(block: Block, edit: BlockEdit | None) -> Outcome:
    """What the model reads about its edit; lines that now repeat others are pointed out."""
    if edit is None:
        return Outcome(f"Nothing changed: block '{block.label}' already has this value.")
    done = f"Done. Block '{block.label}' has {len(block.value):,} of {block.limit:,} characters."
    return Outcome(done + repetitions(block, edit), [edit])


def repetitions(block: Block, edit: BlockEdit) -> str:
    """A note on new lines of a block that repeat others; "" where none does."""
    if block.kind != Block.Kind.TEXT:
        return ""
    similar = new_similar_lines(edit.before, edit.after)
    notes = [f"'{later.strip()}' repeats '{earlier.strip()}'" for earlier, later in similar]
    if not notes:
        return ""
    return f" Note: {'; '.join(notes[:5])}. If one of the two is enough, delete the other."
