"""The commands that a page may send over its socket."""

from __future__ import annotations

import json
import logging
import re
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.utils.translation import gettext

from agents.models import Agent, Conversation, LimitReached, Message
from agents.models.database_errors import CONFLICT, is_conflict, unavailable
from agents.permissions import COMMANDS, Forbidden, check_agent, role_for_command
from agents.text.finished import so_far

logger = logging.getLogger(__name__)
SHA256 = re.compile(r"[0-9a-f]{64}")
ROW = re.compile(r"\d{1,18}", re.ASCII)
KEY = re.compile(r"[\w.:-]{1,100}", re.ASCII)
LARGEST = 2**63 - 1  # of what a key of a row can be


class CommandError(Exception):
    """Why a command was not carried out, for the page to show."""


class ConversationGone(CommandError):
    """The conversation that a command names is not there."""


def refusal_of(error: Exception) -> str:
    """What a page shows of an error in a command; "" for an error of the program."""
    match error:
        case CommandError() | Forbidden() | LimitReached():
            return str(error)
        case ValidationError():
            return " ".join(error.messages)
    if not (words := unavailable(error) or (is_conflict(error) and CONFLICT)):
        return ""
    logger.warning("A command could not be carried out.", exc_info=error)
    refusal = gettext("%(reason)s Nothing was done; try again in a moment.")
    return refusal % {"reason": gettext(words)}


def parse(text: str | None) -> dict[str, Any]:
    """A command: `{"command": …}`, or what the htmx extension makes of a form, `{"body": {…}}`."""
    try:
        command = json.loads(text or "")
    except (ValueError, RecursionError):
        raise CommandError(gettext("The command is not JSON.")) from None
    body = command.get("body", command) if isinstance(command, dict) else None
    if not isinstance(body, dict) or str(body.get("command")) not in COMMANDS:
        words = gettext("Unknown command; the commands are follow, ack, draft, send and stop.")
        raise CommandError(words)
    return body


def whole_number(body: dict[str, Any], name: str) -> int:
    value = body.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        words = gettext("'%(name)s' must be a number, 0 or more.")
        raise CommandError(words % {"name": name})
    return value


def find_conversation(user: User, body: dict[str, Any]) -> Conversation:
    """The conversation that a command names, of an agent that the person may see and for which the
    command is theirs to give; the agent's first one, where it names only the agent."""
    try:
        pk = UUID(str(body.get("agent")))
        named = UUID(str(body.get("conversation") or body.get("agent")))
    except ValueError:
        raise CommandError(gettext("There is no such agent.")) from None
    conversation = Conversation.find_with_agent(named)
    if conversation and conversation.agent_id != pk:
        conversation = None
    agent = conversation.agent if conversation else Agent.find(pk)
    if agent is None or not agent.is_visible_to(user):
        raise CommandError(gettext("There is no such agent."))
    check_agent(agent, agent.role, role_for_command(body["command"]))
    if conversation is None:
        words = gettext("There is no such conversation; it may have been deleted.")
        raise ConversationGone(words)
    return conversation


def finished_so_far(user: User, body: dict[str, Any]) -> dict[str, Any] | None:
    """All finished blocks of an answer that is being written, as one, for a page that missed some;
    None where it is written no more."""
    messages = find_conversation(user, body).messages.filter(status=Message.Status.DRAFT)
    message = messages.filter(pk=min(whole_number(body, "message"), LARGEST)).first()
    if message is None:
        return None
    shown = so_far(message.draft_text.content)
    return {"message": message.pk, "start": 0, "end": shown.start, "html": str(shown.html)}


def accept_message(user: User, body: dict[str, Any]) -> None:
    text, key = body.get("text"), body.get("key")
    if not isinstance(text, str) or not isinstance(key, str) or not KEY.fullmatch(key):
        words = gettext("A message needs 'text' and a 'key' of at most 100 letters and digits.")
        raise CommandError(words)
    images = body.get("images") or []
    images = images if isinstance(images, list) else [images]
    if not all(isinstance(each, str) and SHA256.fullmatch(each) for each in images):
        words = gettext("'images' are the SHA-256s of images that were uploaded before.")
        raise CommandError(words)
    files = body.get("files") or []
    files = files if isinstance(files, list) else [files]
    if not all(isinstance(each, str) and ROW.fullmatch(each) for each in files):
        words = gettext("'files' are the numbers of files that were attached before.")
        raise CommandError(words)
    conversation = find_conversation(user, body)
    conversation.send(text, key, images, author=user, files=[int(each) for each in files])


def stop_current_run(user: User, body: dict[str, Any]) -> None:
    if run := find_conversation(user, body).current_run():
        run.stop()
