"""Who may do what: one table, which the pages, the sockets and the API all ask.

Every address, command and operation that names an agent or a block needs a role in it
(`agents/models/role.py`): that of the table. What the table does not name is refused.
"""

from __future__ import annotations

import re
from enum import Enum

from django.core.exceptions import PermissionDenied
from django.utils.translation import gettext, gettext_noop

from agents.models import Agent, Role

VIEWER, CHATTER, EDITOR, OWNER = Role.VIEWER, Role.CHATTER, Role.EDITOR, Role.OWNER


class Who(Enum):
    """Who may come to what belongs to nobody, or to whoever asks."""

    ANYONE = "anyone"
    PERSON = "whoever is logged in, for what is theirs"
    STAFF = "administrators"


SHARED = {  # what somebody may do with what was shared with them
    ("agent", VIEWER): gettext_noop(
        "%(owner)s shared this agent with you so that you may look at it."
    ),
    ("agent", CHATTER): gettext_noop(
        "%(owner)s shared this agent with you so that you may talk to it."
    ),
    ("agent", EDITOR): gettext_noop(
        "%(owner)s shared this agent with you so that you may change it."
    ),
    ("block", VIEWER): gettext_noop(
        "%(owner)s shared this block with you so that you may look at it."
    ),
    ("block", EDITOR): gettext_noop(
        "%(owner)s shared this block with you so that you may change it."
    ),
}
ASK = {  # whom to ask for more
    CHATTER: gettext_noop("To talk to it, ask %(owner)s."),
    EDITOR: gettext_noop("To change it, ask %(owner)s."),
    OWNER: gettext_noop("To share or delete it, ask %(owner)s."),
}


class Forbidden(PermissionDenied):
    """A person may see it, but not do this with it; the message says so, and whom to ask."""


# Of each page, by the name of its address: what it takes to look, and to change something there.
PAGES: dict[str, Role | Who | tuple[Role, Role]] = {
    **dict.fromkeys(
        (
            *("home", "agent_new", "agent_new_block", "agent_new_first_blocks"),
            *("agent_import", "agent_imported", "agents_deleted", "agents_list"),
            *("blocks", "blocks_new"),
            *("tools", "tool_new", "tool_read_new", "tool_try_new"),
            *("tool", "tool_read", "tool_try", "tool_delete"),
            *("tokens", "token_revoke", "api_operations", "account", "activity", "session_end"),
            *("usage", "model_keys", "model_key_delete", "find", "models_new", "model_test_new"),
        ),
        Who.PERSON,
    ),
    **dict.fromkeys(
        (
            *("agent", "agent_listed", "conversation", "conversations", "older_runs"),
            "conversations_list",
            *("message_text", "agent_find", "temporary_close"),
            *("compaction_messages", "step_request", "step_request_raw", "panel_tab"),
            "conversation_export",
            *(
                "context_part",
                "block_blame",
                "block_whole",
                "older_edits",
                "newer_edits",
                "archival",
            ),
            *("archival_older", "archival_newer", "archival_embedding", "archival_whole"),
            *("compiled_memory", "past_at", "past", "past_part", "image", "image_thumbnail"),
            # the verbs of a block refuse a write themselves, in the same words at every door
            *("block", "block_history", "block_value", "block_version_restore"),
        ),
        VIEWER,
    ),
    **dict.fromkeys(
        (
            *("message_send", "run_stop", "run_retry", "run_queued", "step_feedback", "image_add"),
            *("run_again", "run_show", "message_fork"),
            *("conversation_new", "conversation_rename", "conversation_archive", "temporary_new"),
        ),
        CHATTER,
    ),
    **dict.fromkeys(
        (
            *(
                "agent_settings",
                "agent_rename",
                "models",
                "model_test",
                "model_choose",
                "agent_export",
                "secrets",
                "secret_delete",
                "schedule_stop",
                "conversation_delete",
            ),
            *("history_imports", "history_import", "history_import_part"),
            *("history_import_store", "history_import_undo"),
            *(
                "message_leave_out",
                "message_put_back",
                "approval_decide",
                "run_undo",
                "reflect",
                "compact",
            ),
            *("block_new", "block_attach", "block_edit", "block_detach", "block_restore"),
            *("block_undo", "archival_add", "archival_edit", "archival_delete"),
            *("archival_delete_tagged", "file_add", "file", "file_remove"),
            *("tool_attach", "tool_detach", "tool_rules"),
        ),
        EDITOR,
    ),
    "agent_sharing": (VIEWER, OWNER),
    "schedules": (VIEWER, EDITOR),
    "compaction_summary": (VIEWER, EDITOR),
    "block_settings": (VIEWER, EDITOR),  # shown to others, with whom to ask
    "block_configure": (VIEWER, EDITOR),
    **dict.fromkeys(
        (
            *("agent_delete", "agent_restore", "agent_share_stop", "past_fork"),
            *("block_delete", "share_add", "share_stop"),
        ),
        OWNER,
    ),
    "agent_leave": VIEWER,
    "dashboard": Who.STAFF,
    "storage": Who.STAFF,
    "storage_agents": Who.STAFF,
    "set_language": Who.ANYONE,
    "sign_up_first": Who.ANYONE,
    "sign_up_invited": Who.ANYONE,
}

# What can be done in a temporary chat, which has no memory, settings or files of its own.
TEMPORARY = {
    *("agent", "conversation", "older_runs", "agent_find", "message_text", "image"),
    *("image_thumbnail", "image_add", "step_request", "step_request_raw", "step_feedback"),
    *("message_send", "run_stop", "run_retry", "run_queued", "run_again", "run_show"),
    *("message_leave_out", "message_put_back", "approval_decide", "compact", "compaction_messages"),
    *("compaction_summary", "models", "model_test", "model_choose", "temporary_close"),
}

# The commands of a socket.
COMMANDS: dict[str, Role | Who] = {
    "follow": VIEWER,
    "ack": Who.PERSON,
    "draft": VIEWER,
    "send": CHATTER,
    "stop": CHATTER,
}

# The API's operations need what their token's scope allows, but for these.
OPERATIONS = {
    "DELETE v1/agents/{agent_id}": OWNER,
    "GET v1/agents/{agent_id}/export": EDITOR,
}
SCOPES = {"read": VIEWER, "chat": CHATTER, "write": EDITOR, "tools": EDITOR}


def role_for_page(name: str, *, writes: bool) -> Role:
    """The role that a page needs in the agent or block it names. KeyError for a page that the table
    does not name, or that names neither."""
    needed = PAGES[name]
    if isinstance(needed, tuple):
        needed = needed[writes]
    if isinstance(needed, Who):
        raise KeyError(name)
    return needed


def check_temporary(agent: Agent, name: str) -> None:
    """Forbidden where an agent is a temporary chat, and a page of this name is not for those."""
    if agent.is_temporary and name not in TEMPORARY:
        raise Forbidden(
            gettext(
                "This is a temporary chat: it has no memory, settings or files of its own, so this"
                " cannot be done in it. Go to the agent itself instead."
            )
        )


def role_for_command(name: str) -> Role:
    """The role that a socket's command needs in the agent it names."""
    needed = COMMANDS[name]
    assert isinstance(needed, Role)
    return needed


def role_for_operation(method: str, route: str, scope: str) -> Role:
    """The role that an operation of the API needs in the agent it names; `route` is Django's."""
    path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", route).rstrip("/")
    return OPERATIONS.get(f"{method} {path}", SCOPES[scope])


def check_agent(agent: Agent, has: Role, needs: Role) -> None:
    """Forbidden where somebody has one role in an agent and needs a higher one."""
    if has < needs:
        check(has, needs, "agent", agent.owner.get_username())


def check(has: Role, needs: Role, noun: str, owner: str) -> None:
    """Forbidden where somebody has one role in an agent or a block (`noun`) and needs a higher."""
    if has < needs:
        words = f"{gettext(SHARED[noun, has])} {gettext(ASK[needs])}"
        raise Forbidden(words % {"owner": owner})
