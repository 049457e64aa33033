"""An agent's settings in a file: name, prompt, model; and notes on those it cannot have here."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext, gettext_noop

from agents.llm.available import named_endpoints
from agents.llm.choices import check_choice
from agents.memory.classes import CLASSES, TEMPLATES
from agents.models import Agent, AgentTag
from agents.models.agent_options import check_compaction_settings, zones
from agents.models.model_settings import problem
from agents.text.numbers import whole

from .reading import Entry, Notes, bounds, listed, longest

MOST_TAGS = 100
KNOWN_TYPES = (
    *("", "memgpt_agent", "memgpt_v2_agent", "letta_v1_agent", "react_agent"),
    *("workflow_agent", "sleeptime_agent"),
)
OF_THE_MODEL = {  # in the format's words; and what says nothing there
    "temperature": ("temperature", 1.0),
    "max_tokens": ("max_output_tokens", None),
    "frequency_penalty": ("frequency_penalty", 1.0),
    "reasoning_effort": ("reasoning_effort", None),
    "verbosity": ("verbosity", None),
    "parallel_tool_calls": ("parallel_tool_calls", None),
    "response_format": ("response_format", None),
}
OWN_SETTINGS = (
    *("model", "agent_type", "embedding", "prompt_template", "max_steps", "reflect_every"),
    "context_window",
)
UNSUPPORTED = {
    "source_ids": gettext_noop("its sources"),
    "files_agents": gettext_noop("its files"),
    "identity_ids": gettext_noop("its identities"),
    "group_ids": gettext_noop("its groups"),
    "multi_agent_group": gettext_noop("its group"),
    "memory_variables": gettext_noop("its memory variables"),
}


def settings_of(entry: Entry, own: Entry, owner: int, notes: Notes) -> dict[str, Any]:
    """An agent's settings as fields of `Agent`; notes say what it cannot have here."""
    name = entry.get("name", str, "").strip() or "Imported agent"
    name = notes.cut(name, Agent, "name", gettext("The name")).strip()
    model = entry.entry("llm_config")
    if not own.given:
        note_unsupported(entry, model, name, notes)
    kept: dict[str, Any] = {
        "name": name,
        "system_prompt": entry.text("system", longest(Agent, "system_prompt")),
        "description": notes.cut(
            entry.text("description"), Agent, "description", gettext("The agent's description")
        ),
        "metadata": entry.get("metadata", dict, {}),
        "agent_type": entry.text("agent_type")[:50],
        "embedding": embedding_of(entry),
        "memory_class": "BasicBlockMemory",
        "timezone": zone_named(entry.text("timezone") or "UTC", notes),
        "message_buffer_autoclear": entry.get("message_buffer_autoclear", bool, False),
        "hidden": entry.get("hidden", bool, False),
    }
    if own.given:
        return kept | own_settings(own.entry("settings"), owner, notes)
    return kept | {
        "model": handle_of(entry, model, owner, notes),
        "context_window": window(entry, notes),
        "model_settings": settings_of_model(entry, model, notes),
    }


def settings_of_model(entry: Entry, model: Entry, notes: Notes) -> dict[str, Any]:
    """How the model is asked, from what Letta's file says of it."""
    given = {
        ours: model.given[field]
        for field, (ours, usual) in OF_THE_MODEL.items()
        if model.has(field) and model.given[field] != usual
    }
    if entry.has("response_format"):
        given["response_format"] = entry.given["response_format"]
    return checked(given, notes)


def compaction_of(given: dict[str, Any], notes: Notes) -> dict[str, Any]:
    """How old messages are summarised; a note where that cannot be."""
    try:
        check_compaction_settings(given)
    except ValidationError as error:
        words = gettext("How old messages are summarised was not imported: %(error)s")
        notes.add(words % {"error": error.messages[0]})
        return {}
    return given


def checked(given: dict[str, Any], notes: Notes) -> dict[str, Any]:
    """Model settings that can be; a note on each other."""
    wrong = {name: words for name, value in given.items() if (words := problem(name, value))}
    for words in wrong.values():
        note = gettext("A setting of the model was not imported: %(error)s")
        notes.add(note % {"error": words})
    return {name: value for name, value in given.items() if name not in wrong}


def zone_named(name: str, notes: Notes) -> str:
    """The time zone of that name, or UTC."""
    if name in zones():
        return name
    words = gettext(
        "The time zone '%(name)s' was not imported, as there is none: times are in UTC."
    )
    notes.add(words % {"name": name[:50]})
    return "UTC"


def embedding_of(entry: Entry) -> str:
    """The handle of the embedding model. It is only kept: the server uses one model for all."""
    config = entry.entry("embedding_config")
    handle = entry.text("embedding") or config.text("handle") or config.text("embedding_model")
    return handle[: longest(Agent, "embedding")]


def tags_of(entry: Entry, notes: Notes) -> list[str]:
    """The agent's tags, each once."""
    most = longest(AgentTag, "tag")
    tags = list(dict.fromkeys(tag.strip() for tag in entry.texts("tags")))
    kept = [tag for tag in tags if 0 < len(tag) <= most][:MOST_TAGS]
    if lost := [tag for tag in tags if tag and tag not in kept]:
        words = gettext(
            "Tags that were not imported, because an agent has at most %(most)s tags of %(length)s"
            " characters: %(names)s."
        )
        notes.add(words % {"most": MOST_TAGS, "length": most, "names": listed(lost)})
    return kept


def handle_of(entry: Entry, config: Entry, owner: int, notes: Notes) -> str:
    """The model's handle, `endpoint/model`."""
    handle = entry.text("model") or config.text("handle")
    if not handle:
        endpoint = config.text("provider_name") or config.text("model_endpoint_type")
        handle = "/".join(filter(None, [endpoint, config.text("model")]))
    if len(handle) > longest(Agent, "model"):
        notes.add(gettext("The model's name is too long; the default model answers."))
        return ""
    if not may_be_chosen(handle, owner, notes):
        return ""
    name, slash, _ = handle.partition("/")
    if slash and name != "letta" and name not in named_endpoints(owner):
        words = gettext(
            "The model '%(model)s' belongs to the endpoint '%(endpoint)s', which is not set up"
            " here. Unless the default endpoint has it, choose another model in the agent's"
            " settings."
        )
        notes.add(words % {"model": handle, "endpoint": name})
    return handle


def may_be_chosen(handle: str, owner: int, notes: Notes) -> bool:
    """Whether a person's agents may have the model; a note if not."""
    try:
        check_choice(handle, owner)
    except ValidationError as error:
        words = gettext("The default model answers instead of '%(model)s'. %(error)s")
        notes.add(words % {"model": handle, "error": error.messages[0]})
        return False
    return True


def window(entry: Entry, notes: Notes) -> int | None:
    """The context window in tokens."""
    tokens = entry.get("context_window_limit", int, None)
    tokens = tokens or entry.entry("llm_config").get("context_window", int, None)
    least, most = bounds(Agent._meta.get_field("context_window"))
    if tokens is not None and not least <= tokens <= most:
        words = gettext(
            "The context window of %(count)s tokens was not imported; it can be %(least)s to"
            " %(most)s. What is known of the model is used instead."
        )
        counts = {"count": whole(tokens), "least": whole(least), "most": whole(most)}
        notes.add(words % counts)
        return None
    return tokens


def own_settings(own: Entry, owner: int, notes: Notes) -> dict[str, Any]:
    """An agent's settings as this program wrote them."""
    values = own.fields(Agent, *OWN_SETTINGS)
    memory_class = own.get("memory_class", str, "BasicBlockMemory")
    if memory_class not in CLASSES:
        words = gettext("There is no memory class '%(name)s' here; its tools are missing.")
        notes.add(words % {"name": memory_class[:100]})
        memory_class = "BasicBlockMemory"
    template = values["prompt_template"]
    if template and template not in (*TEMPLATES.values(), *(c.template for c in CLASSES.values())):
        notes.add(
            gettext(
                "The agent's own template of core memory was not imported: templates are not read"
                " from files. The template of the memory class is used."
            )
        )
        template = ""
    size = own.get("bytes_per_token", float, None)
    return values | {
        "compaction_settings": compaction_of(own.get("compaction_settings", dict, {}), notes),
        "model_settings": checked(own.get("model_settings", dict, {}), notes),
        "model": values["model"] if may_be_chosen(values["model"], owner, notes) else "",
        "memory_class": memory_class,
        "prompt_template": template,
        "bytes_per_token": size if size is None else min(max(size, 0.5), 20.0),
    }


def note_unsupported(entry: Entry, model: Entry, name: str, notes: Notes) -> None:
    """Note what an agent here cannot have."""
    if lost := [gettext(what) for field, what in UNSUPPORTED.items() if entry.has(field)]:
        words = gettext("These parts of '%(agent)s' do not exist here: %(parts)s.")
        notes.add(words % {"agent": name, "parts": ", ".join(lost)})
    if model.has("max_reasoning_tokens"):
        notes.add(
            gettext("The model's max_reasoning_tokens was not imported; set reasoning_effort.")
        )
    if entry.text("agent_type") not in KNOWN_TYPES:
        words = gettext(
            "'%(agent)s' had the type '%(type)s', which does not exist here. It is imported as a"
            " chat agent."
        )
        notes.add(words % {"agent": name, "type": entry.text("agent_type")[:100]})
    if entry.get("enable_sleeptime", bool, False):
        words = gettext("'%(agent)s' reflected by itself; turn reflection on in its settings.")
        notes.add(words % {"agent": name})
