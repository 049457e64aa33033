"""What an agent is besides its memory: name, prompt, model; and what has no place here."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError

from agents.llm.choices import check_choice
from agents.llm.endpoints import named_endpoints
from agents.memory.classes import CLASSES, TEMPLATES

from .reading import Entry, Notes, listed

LONGEST_NAME = 100
LONGEST_PROMPT = 100_000
LONGEST_HANDLE = 200
WINDOWS = (1000, 10_000_000)  # tokens
LONGEST_DESCRIPTION = 10_000
LONGEST_TAG = 100
MOST_TAGS = 100
KNOWN_TYPES = ("", "memgpt_agent", "memgpt_v2_agent", "letta_v1_agent", "react_agent")
OF_THE_MODEL = (
    *("temperature", "max_tokens", "frequency_penalty", "reasoning_effort", "verbosity"),
    *("max_reasoning_tokens", "response_format"),
)
NO_PLACE = {
    "source_ids": "its sources",
    "files_agents": "its files",
    "identity_ids": "its identities",
    "group_ids": "its groups",
    "multi_agent_group": "its group",
    "memory_variables": "its memory variables",
    "response_format": "its response format",
    "message_buffer_autoclear": "that it forgets each message once it is answered",
}


def settings_of(entry: Entry, own: Entry, notes: Notes) -> dict[str, Any]:
    """An agent's settings as fields of `Agent`; what it cannot have here goes to the notes."""
    name = entry.get("name", str, "").strip() or "Imported agent"
    if len(name) > LONGEST_NAME:
        notes.add(f"The name had {len(name):,} characters; {LONGEST_NAME} were taken over.")
        name = name[:LONGEST_NAME].strip()
    model = entry.entry("llm_config")
    if not own.given:
        tell(entry, model, name, notes)
    kept: dict[str, Any] = {
        "name": name,
        "system_prompt": entry.text("system", LONGEST_PROMPT),
        "description": described(entry, notes),
        "metadata": entry.get("metadata", dict, {}),
        "agent_type": entry.text("agent_type")[:50],
        "embedding": embedding_of(entry),
        "memory_class": "BasicBlockMemory",
    }
    if own.given:
        return kept | own_settings(own.entry("settings"), notes)
    return kept | {"model": handle_of(entry, model, notes), "context_window": window(entry, notes)}


def described(entry: Entry, notes: Notes) -> str:
    given = entry.text("description")
    if len(given) > LONGEST_DESCRIPTION:
        notes.add(
            f"The agent's description had {len(given):,} characters; the first"
            f" {LONGEST_DESCRIPTION:,} were taken over."
        )
    return given[:LONGEST_DESCRIPTION]


def embedding_of(entry: Entry) -> str:
    """The embedding model's handle; one of the server's own serves all agents here."""
    config = entry.entry("embedding_config")
    named = entry.text("embedding") or config.text("handle") or config.text("embedding_model")
    return named[:LONGEST_HANDLE]


def tags_of(entry: Entry, notes: Notes) -> list[str]:
    """The agent's tags, each once."""
    given = list(dict.fromkeys(tag.strip() for tag in entry.texts("tags")))
    kept = [tag for tag in given if 0 < len(tag) <= LONGEST_TAG][:MOST_TAGS]
    if lost := [tag for tag in given if tag and tag not in kept]:
        notes.add(
            f"Tags that were left out, as {LONGEST_TAG} characters and {MOST_TAGS} tags are the"
            f" most: {listed(lost)}."
        )
    return kept


def handle_of(entry: Entry, config: Entry, notes: Notes) -> str:
    """The model's handle, `endpoint/model`."""
    handle = entry.text("model") or config.text("handle")
    if not handle:
        endpoint = config.text("provider_name") or config.text("model_endpoint_type")
        handle = "/".join(filter(None, [endpoint, config.text("model")]))
    if len(handle) > LONGEST_HANDLE:
        notes.add("The model's name is too long to be one; the default model answers.")
        return ""
    if not may_be_chosen(handle, notes):
        return ""
    name, slash, _ = handle.partition("/")
    if slash and name != "letta" and name not in named_endpoints():
        notes.add(
            f"The model '{handle}' is of the endpoint '{name}', which is not set up here: unless"
            " the default endpoint has it, choose another model in the agent's settings."
        )
    return handle


def may_be_chosen(handle: str, notes: Notes) -> bool:
    """Whether people here may choose the model; told if they may not."""
    try:
        check_choice(handle)
    except ValidationError as error:
        notes.add(f"The default model answers instead of '{handle}'. {error.messages[0]}")
        return False
    return True


def window(entry: Entry, notes: Notes) -> int | None:
    """The context window in tokens."""
    given = entry.get("context_window_limit", int, None)
    given = given or entry.entry("llm_config").get("context_window", int, None)
    if given is not None and not WINDOWS[0] <= given <= WINDOWS[1]:
        notes.add(
            f"A context window of {given:,} tokens cannot be set (from {WINDOWS[0]:,} to"
            f" {WINDOWS[1]:,} can); what is known of the model holds."
        )
        return None
    return given


def own_settings(own: Entry, notes: Notes) -> dict[str, Any]:
    """What this program wrote of an agent's settings."""
    memory_class = own.get("memory_class", str, "BasicBlockMemory")
    if memory_class not in CLASSES:
        notes.add(f"There is no memory class '{memory_class[:100]}' here; its tools are missing.")
        memory_class = "BasicBlockMemory"
    template = own.text("prompt_template")
    if template and template not in (*TEMPLATES.values(), *(c.template for c in CLASSES.values())):
        notes.add(
            "The agent compiled its core memory with a template of its own, which was not taken"
            " over: a template is not read from a file. The memory class's own is used."
        )
        template = ""
    size, model = own.get("bytes_per_token", float, None), own.text("model", LONGEST_HANDLE)
    return {
        "model": model if may_be_chosen(model, notes) else "",
        "agent_type": own.text("agent_type", 50),
        "embedding": own.text("embedding", LONGEST_HANDLE),
        "memory_class": memory_class,
        "prompt_template": template,
        "max_steps": own.whole("max_steps", 1, 1000, 50),
        "reflect_every": own.whole("reflect_every", 1, 1000),
        "context_window": own.whole("context_window", *WINDOWS),
        "bytes_per_token": size if size is None else min(max(size, 0.5), 20.0),
    }


def tell(entry: Entry, model: Entry, name: str, notes: Notes) -> None:
    """Say what an agent here cannot have."""
    if lost := [what for field, what in NO_PLACE.items() if entry.has(field)]:
        notes.add(f"There is no place here for these of '{name}': {', '.join(lost)}.")
    usual = {"temperature": 1.0, "frequency_penalty": 1.0}
    if lost := [
        field
        for field in OF_THE_MODEL
        if model.has(field) and model.given[field] != usual.get(field)
    ]:
        notes.add(
            "Settings of the model that were not taken over, as the endpoint's own hold:"
            f" {', '.join(lost)}."
        )
    variables = entry.entry("tool_exec_environment_variables").given
    if secrets := [*variables, *entry.entry("secrets").given]:
        notes.add(
            "Environment variables and keys of tools were not taken over, as the sandbox has none:"
            f" {listed(secrets)}."
        )
    if entry.text("agent_type") not in KNOWN_TYPES:
        notes.add(
            f"'{name}' was an agent of the type '{entry.text('agent_type')[:100]}'; here it is one"
            " that chats."
        )
    if entry.get("enable_sleeptime", bool, False):
        notes.add(f"'{name}' reflected by itself; turn that on in its settings.")
    if entry.text("timezone") not in ("", "UTC"):
        notes.add(f"The time zone {entry.text('timezone')[:50]} was not taken over: times are UTC.")
