"""What a request says of an agent's settings, as fields of `Agent`."""

from __future__ import annotations

from typing import Any

from agents.models.agent_options import COMPACTION
from agents.models.secrets import encrypted

from .schemas.agents import AgentSettings, EmbeddingConfig
from .schemas.model_settings import LlmConfig, settings_from

SLEEPTIME_EVERY = 5  # messages, as Letta had it


def settings_of(data: AgentSettings) -> dict[str, Any]:
    """The fields of an agent that the request sets."""
    config, embedding = data.llm_config or LlmConfig(), data.embedding_config or EmbeddingConfig()
    settings = {
        "name": data.name,
        "description": data.description,
        "system_prompt": data.system,
        "model": data.model or config.handle or config.model,
        "embedding": data.embedding or embedding.handle or embedding.embedding_model,
        "context_window": data.context_window_limit or config.context_window,
        "metadata": data.metadata,
        "timezone": data.timezone,
        "hidden": data.hidden,
        "compaction_settings": compaction_of(data),
        "message_buffer_autoclear": data.message_buffer_autoclear,
        "model_settings": settings_from(data.llm_config, data, data.model_settings) or None,
    }
    secrets = data.tool_exec_environment_variables if data.secrets is None else data.secrets
    if secrets is not None:
        settings["secrets"] = encrypted(secrets)
    return {name: value for name, value in settings.items() if value is not None}


def compaction_of(data: AgentSettings) -> dict[str, Any] | None:
    """How old messages are summarised, as far as it can be chosen here; it replaces what was."""
    given = data.compaction_settings
    return given.model_dump(include=set(COMPACTION), exclude_none=True) if given else None


def reflecting(data: AgentSettings, reflect_every: int | None) -> dict[str, int | None]:
    """What `enable_sleeptime` changes: an agent here reflects by itself, every few messages."""
    if data.enable_sleeptime is None:
        return {}
    return {"reflect_every": (reflect_every or SLEEPTIME_EVERY) if data.enable_sleeptime else None}


def merged(settings: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Model settings after changes; what is null is not set any more."""
    return {name: value for name, value in (settings | changes).items() if value is not None}
