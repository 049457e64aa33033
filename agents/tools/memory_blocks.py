"""The tools with which an agent makes, patches, renames and lets go of blocks of core memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

from django.core.exceptions import ValidationError

from agents.models import ApprovalNeeded, Block, Editor
from agents.text.patches import Operation, PatchError, operations, patched

from .core_memory import block_of, outcome
from .tool import Caller, Outcome, ToolError, tool

Command = Literal["create", "view", "str_replace", "insert", "delete", "rename"]
FOLDER = "/memories/"


@tool(of_memory=True, family="letta_memory_core", yields=True)
def memory(
    caller: Caller,
    command: Command,
    path: str | None = None,
    file_text: str | None = None,
    description: str | None = None,
    old_string: str | None = None,
    new_string: str | None = None,
    insert_line: int | None = None,
    insert_text: str | None = None,
    old_path: str | None = None,
    new_path: str | None = None,
) -> Outcome:
    """Change core memory: create a block, view it, replace text in it, insert into it, rename it,
    describe it (rename with path and description), or delete it from your memory.

    Args:
        command: What to do.
        path: The label of the block, also as /memories/label; for all but a rename.
        file_text: The value of a new block.
        description: What the block is for; for create, and for rename to describe it anew.
        old_string: The exact text to replace; it must occur once.
        new_string: What to put in its place; empty to delete it.
        insert_line: The number of the line below which to insert; 0 is above the first. Without it
            the text comes last.
        insert_text: What to insert.
        old_path: The label of the block to rename.
        new_path: Its new label.
    """
    if command == "rename" and not (path and description):
        return rename(
            caller, needed(command, old_path=old_path), needed(command, new_path=new_path)
        )
    label = needed(command, path=path)
    if command == "create":
        return create(caller, label, file_text or "", description or "")
    if command == "delete":
        return delete(caller, label)
    if command == "rename":
        return describe(caller, label, description or "")
    block = block_of(caller, label)
    if command == "view":
        block.lock()
        return Outcome(block.value or f"Block '{block.label}' is empty.")
    if command == "insert":
        text, line = needed(command, insert_text=insert_text), insert_line
        edit = block.insert(text, -1 if line is None else line, by=caller.editor)
        return outcome(block, edit)
    if new_string is None:
        raise ToolError("str_replace needs 'new_string'; it may be empty.")
    old = needed(command, old_string=old_string)
    return outcome(block, block.replace_once(old, new_string, by=caller.editor))


def needed(command: str, **argument: str | None) -> str:
    """An argument that the command cannot do without; a path as the label that it names."""
    ((name, value),) = argument.items()
    if not value:
        raise ToolError(f"{command} needs '{name}'.")
    return label_of(value) if name.endswith("path") else value


def label_of(path: str) -> str:
    return path.removeprefix(FOLDER).strip("/").strip()


@tool(of_memory=True, family="letta_memory_core", yields=True)
def memory_apply_patch(caller: Caller, label: str, patch: str) -> Outcome:
    """Change blocks of core memory by a patch. Its lines begin with ' ' (stays), '-' (goes) or '+'
    (comes), and @@ begins the next place. To change several blocks, write a line above the lines of
    each: '*** Update Block: label', '*** Add Block: label' (then perhaps 'Description: text', then
    lines with '+'), '*** Delete Block: label', '*** Move to: new label'.

    Args:
        label: The label of the block; empty where the patch names blocks itself.
        patch: The patch.
    """
    do: dict[str, Callable[[Operation], Outcome]] = {
        "add": lambda each: create(caller, label_of(each.label), each.added(), each.description),
        "delete": lambda each: delete(caller, label_of(each.label)),
        "move": lambda each: rename(caller, label_of(each.label), label_of(each.moved_to)),
        "update": lambda each: update(caller, label_of(each.label), each.lines),
    }
    try:
        wanted = operations(patch, label)
        if not wanted:
            raise ToolError("The patch changes nothing; see its description for the form.")
        if len(wanted) > 1:  # several blocks: all are held first, in order
            Block.objects.held_by(caller.agent).lock_with_holders(caller.agent)
        done = [do[each.kind](each) for each in wanted]
    except PatchError as error:
        raise ToolError(str(error)) from None
    return Outcome(
        "\n".join(each.content for each in done), [e for each in done for e in each.edits]
    )


@tool(of_memory=True, family="letta_sleeptime_core", yields=True)
def memory_finish_edits(caller: Caller) -> str:
    """Say that you have finished editing core memory."""
    return "Done."


# -- what both do ----------------------------------------------------------------------------------


@contextmanager
def in_words() -> Iterator[None]:
    """What the block cannot be is said to the model."""
    try:
        yield
    except ValidationError as error:
        raise ToolError(" ".join(error.messages)) from None


def create(caller: Caller, label: str, value: str, description: str) -> Outcome:
    """Make a block that the agent holds."""
    with in_words():
        block, edit = Block.objects.create_for(
            caller.agent, label, value, description, by=caller.editor
        )
    size = f"{len(block.value):,} of {block.limit:,} characters"
    return Outcome(f"Done. The new block '{block.label}' has {size}.", [edit] if edit else [])


def update(caller: Caller, label: str, patch: list[str]) -> Outcome:
    """Apply a patch to a block."""
    block = block_of(caller, label)
    block.lock()
    return outcome(block, block.set_value(patched(block.value, patch), by=caller.editor))


def delete(caller: Caller, label: str) -> Outcome:
    """Let go of a block: it stays, with its ledger, and a person can attach it again."""
    block = held_for(caller, label)
    caller.agent.detach(block)
    return Outcome(
        f"Done. Block '{label}' is no longer part of your memory. It is kept, so that a person can"
        " attach it again."
    )


def rename(caller: Caller, label: str, new: str) -> Outcome:
    """Give a block another label."""
    block = held_for(caller, label)
    with in_words():
        block.configure(by=caller.editor, label=new)
    return Outcome(f"Done. Block '{label}' is now called '{new}'.")


def describe(caller: Caller, label: str, description: str) -> Outcome:
    """Say anew what a block is for."""
    block = held_for(caller, label)
    with in_words():
        block.configure(by=caller.editor, description=description)
    return Outcome(f"Done. Block '{label}' has a new description.")


def held_for(caller: Caller, label: str) -> Block:
    """The agent's block of that label, held until commit, if the caller may change it."""
    block, by = block_of(caller, label), caller.editor
    block.lock()
    block.check_allowed(by)
    if by.kind == Editor.AGENT and block.ask_before_write and not by.approved:
        raise ApprovalNeeded
    return block
