"""The commands that a page may send over its socket."""

from __future__ import annotations

import json
import re
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User

from agents.models import Agent, Conversation
from agents.permissions import COMMANDS, check_agent, role_for_command

SHA256 = re.compile(r"[0-9a-f]{64}")
KEY = re.compile(r"[\w.:-]{1,100}", re.ASCII)


class CommandError(Exception):
    """Why a command was not carried out, for the page to show."""


class ConversationGone(CommandError):
    """The conversation that a command names is not there."""


def parse(text: str | None) -> dict[str, Any]:
    """A command: `{"command": …}`, or what the htmx extension makes of a form, `{"body": {…}}`."""
    try:
        command = json.loads(text or "")
    except (ValueError, RecursionError):
        raise CommandError("The command is not JSON.") from None
    body = command.get("body", command) if isinstance(command, dict) else None
    if not isinstance(body, dict) or str(body.get("command")) not in COMMANDS:
        raise CommandError("Unknown command; the commands are follow, ack, send and stop.")
    return body


def whole_number(body: dict[str, Any], name: str) -> int:
    value = body.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise CommandError(f"'{name}' must be a number, 0 or more.")
    return value


def find_conversation(user: User, body: dict[str, Any]) -> Conversation:
    """The conversation that a command names, of an agent that the person may see and for which the
    command is theirs to give; the agent's first one, where it names only the agent."""
    try:
        agent = Agent.find_visible_to(user, UUID(str(body.get("agent"))))
        named = UUID(str(body.get("conversation") or body.get("agent")))
    except ValueError:
        agent = None
    if agent is None:
        raise CommandError("There is no such agent.")
    check_agent(agent, agent.role, role_for_command(body["command"]))
    conversation = Conversation.of(agent, named)
    if conversation is None:
        raise ConversationGone("There is no such conversation; it may have been deleted.")
    return conversation


def accept_message(user: User, body: dict[str, Any]) -> None:
    text, key = body.get("text"), body.get("key")
    if not isinstance(text, str) or not isinstance(key, str) or not KEY.fullmatch(key):
        raise CommandError("A message needs 'text' and a 'key' of at most 100 letters and digits.")
    images = body.get("images") or []
    images = images if isinstance(images, list) else [images]
    if not all(isinstance(each, str) and SHA256.fullmatch(each) for each in images):
        raise CommandError("'images' are the SHA-256s of images that were uploaded before.")
    find_conversation(user, body).send(text, key, images, author=user)


def stop_current_run(user: User, body: dict[str, Any]) -> None:
    if run := find_conversation(user, body).current_run():
        run.stop()
