"""Agent files: an agent exported as one, and agents made of one."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from ninja import File, Form, Query, Router, UploadedFile
from pydantic import BaseModel

from agents.agent_file import LARGEST, AgentFileError, import_agent, read
from agents.agent_file.importing import Imported
from agents.agent_file.reading import too_large
from agents.pages.agent_files import download

from . import auth, lookups
from .agents import check_model
from .auth import READ, WRITE_FILE
from .errors import invalid
from .schemas.agents import AgentState, ImportOptions
from .schemas.fields import Json
from .serializers import agent_id, agent_state

router = Router(tags=["agent files"])
COPY = "_copy"


class ImportedState(AgentState):
    """What an import made: the ids of all, and the first of them whole, as some SDKs read it."""

    agent_ids: list[str]
    notes: list[str]


class ExportOptions(BaseModel):
    """What of an agent to write."""

    scrub_messages: bool = False
    use_legacy_format: bool = False
    conversation_id: str | None = None


@router.get("/agents/{agent_id}/export", auth=READ, response=Json, operation_id="export_agent")
def export(request: HttpRequest, agent_id: str, wanted: Query[ExportOptions]) -> HttpResponseBase:
    """An agent as an agent file. With `scrub_messages` without anything that was said."""
    agent = lookups.agent(request, agent_id)
    if wanted.use_legacy_format:
        words = "The older format is read, but no longer written; leave use_legacy_format out."
        raise invalid("use_legacy_format", words)
    if wanted.conversation_id is not None:
        words = "An agent has one conversation here; leave conversation_id out."
        raise invalid("conversation_id", words)
    return download(request, agent, with_messages=not wanted.scrub_messages)


@router.post(
    "/agents/import", auth=WRITE_FILE, response=ImportedState, operation_id="import_agent_file"
)
def import_(
    request: HttpRequest,
    file: File[UploadedFile],
    asked: Query[ImportOptions],
    given: Form[ImportOptions],
) -> dict[str, Any]:
    """Make agents of an agent file; `notes` tell what could not be taken over as it is.

    A tool that the file brings needs a token with the scope `tools`. Options come in the form, or,
    as older SDKs have it, in the address.
    """
    options = asked.model_copy(update=given.model_dump(exclude_unset=True))
    header = request.headers.get("x-override-embedding-model", "")[:200]
    check_model(options.model or options.override_model_handle or "")
    imported = made(request, file, options, header)
    return agent_state(imported.agent) | {
        "agent_ids": [agent_id(agent) for agent in imported.agents],
        "notes": [*imported.notes, *left_out(options, imported)],
    }


def made(
    request: HttpRequest, file: UploadedFile, options: ImportOptions, embedding: str
) -> Imported:
    """The agents of the file; 422 where it is none."""
    name = options.name or options.override_name or ""
    try:
        if (file.size or 0) > LARGEST:
            raise AgentFileError(too_large(file.size or 0))
        data = read(file.read())
        if isinstance(data, str):  # a file's text, as some SDKs give it, dumped once more
            data = read(data.encode())
        return import_agent(
            lookups.person(request),
            data,
            name=name,
            suffix="" if name or not options.append_copy_suffix else COPY,
            model=options.model or options.override_model_handle or "",
            embedding=options.embedding or options.override_embedding_handle or embedding,
            with_messages=not options.strip_messages,
            overwrite_tools=options.override_existing_tools,
            allow_tools=lambda names: auth.also(request, "tools"),
        )
    except AgentFileError as error:
        raise invalid("file", str(error)) from None


def left_out(options: ImportOptions, imported: Imported) -> list[str]:
    """What was asked for and cannot be had here."""
    notes = []
    if options.secrets or options.env_vars_json:
        notes.append("Secrets and environment variables were left out, as the sandbox has none.")
    if options.project_id:
        notes.append("The project was left out, as there are none here.")
    if (options.name or options.override_name) and len(imported.agents) > 1:
        notes.append("The name was given to none, as the file has several agents.")
    return notes
