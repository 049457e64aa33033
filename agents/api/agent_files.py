"""Agent files: agents exported to a file and imported from one."""

from __future__ import annotations

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from ninja import File, Form, Query, UploadedFile
from pydantic import BaseModel, TypeAdapter, ValidationError

from agents.agent_file import LARGEST, AgentFileError, import_agent, read
from agents.agent_file.download import download
from agents.agent_file.importing import Imported
from agents.agent_file.reading import too_large

from . import auth, ids, lookups
from .agent_details import agent_state
from .auth import READ, WRITE_FILE
from .errors import invalid, not_found
from .json_router import JsonRouter
from .model_choice import check_model
from .notes import HEADER
from .schemas.agents import AgentState, ImportOptions
from .schemas.fields import Json

router = JsonRouter(tags=["agent files"])
COPY = "_copy"
SECRETS = TypeAdapter(dict[str, str])
SEVERAL = (
    "The format has one history: other readers see the messages of all conversations as one, with"
    " the context of the first. Give conversation_id to export one alone."
)


class ImportedState(AgentState):
    """What an import created: the first agent whole, as some SDKs read it, and the ids of all."""

    agent_ids: list[str] = []
    notes: list[str] = []


class ExportOptions(BaseModel):
    """What to export of an agent."""

    scrub_messages: bool = False
    use_legacy_format: bool = False
    conversation_id: str | None = None


@router.get("/agents/{agent_id}/export", auth=READ, response=Json, operation_id="export_agent")
def export(request: HttpRequest, agent_id: str, options: Query[ExportOptions]) -> HttpResponseBase:
    """An agent as an agent file; with `conversation_id`, with the messages of that conversation
    alone, with `scrub_messages`, without any."""
    agent = lookups.agent(request, agent_id)
    if options.use_legacy_format:
        words = "The older format can be imported but not exported; leave use_legacy_format out."
        raise invalid("use_legacy_format", words)
    conversation = None
    if named := options.conversation_id:
        conversation = lookups.conversation(request, named, agent_id)
        if conversation.agent_id != agent.pk:
            raise not_found("conversation", f"{named} of this agent")
    with_messages = not options.scrub_messages
    response = download(request, agent, conversation, with_messages=with_messages)
    if conversation is None and with_messages and agent.conversations.count() > 1:
        response[HEADER] = SEVERAL
    return response


@router.post(
    "/agents/import", auth=WRITE_FILE, response=ImportedState, operation_id="import_agent_file"
)
def import_(
    request: HttpRequest,
    file: File[UploadedFile],
    query: Query[ImportOptions],
    form: Form[ImportOptions],
) -> ImportedState:
    """Create agents from an agent file; `notes` say what could not be imported as it is.

    If the file contains tools, the token needs the scope `tools`. Options come in the form or,
    from older SDKs, in the query.
    """
    options = query.model_copy(update=form.model_dump(exclude_unset=True))
    header = request.headers.get("x-override-embedding-model", "")[:200]
    model = options.model or options.override_model_handle or ""
    check_model(model, lookups.person(request).pk)
    imported = imported_from(request, file, options, header)
    return ImportedState.model_construct(
        **dict(agent_state(imported.agent)),
        agent_ids=[ids.named("agent", agent.pk) for agent in imported.agents],
        notes=[*imported.notes, *unsupported(options, imported)],
    )


def imported_from(
    request: HttpRequest, file: UploadedFile, options: ImportOptions, embedding: str
) -> Imported:
    """The agents of the file; 422 where it is not an agent file."""
    name = options.name or options.override_name or ""
    try:
        if (file.size or 0) > LARGEST:
            raise AgentFileError(too_large(file.size or 0))
        data = read(file.read())
        if isinstance(data, str):  # some SDKs encode the text of the file as JSON once more
            data = read(data.encode())
        return import_agent(
            lookups.person(request),
            data,
            name=name,
            suffix="" if name or not options.append_copy_suffix else COPY,
            model=options.model or options.override_model_handle or "",
            embedding=options.embedding or options.override_embedding_handle or embedding,
            secrets=secrets_of(options),
            with_messages=not options.strip_messages,
            overwrite_tools=options.override_existing_tools,
            allow_tools=lambda names: auth.require(request, "tools"),
        )
    except AgentFileError as error:
        raise invalid("file", str(error)) from None


def secrets_of(options: ImportOptions) -> dict[str, str]:
    """The values of environment variables, which are sent as the text of a JSON object."""
    sent = options.model_dump(include={"secrets", "env_vars_json"}, exclude_none=True)
    for field in ("secrets", "env_vars_json"):  # the second is the older one
        if not sent.get(field):
            continue
        try:
            return SECRETS.validate_json(sent[field])
        except ValidationError:  # its words would repeat the values
            words = "This is not the text of a JSON object of names and texts."
            raise invalid(field, words) from None
    return {}


def unsupported(options: ImportOptions, imported: Imported) -> list[str]:
    """A note for each option that has no effect here."""
    notes = []
    if options.project_id:
        notes.append("The project was not imported: this server has no projects.")
    if (options.name or options.override_name) and len(imported.agents) > 1:
        notes.append("The name was not used, because the file has several agents.")
    return notes
