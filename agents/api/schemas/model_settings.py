"""How a model is asked, in the forms in which Letta's clients say it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from agents.api.notes import Unused
from agents.models.model_settings import problem

from .fields import Json, Short

Window = Annotated[int, Field(ge=1000, le=10_000_000)]
BY_EFFORT = "say how much it shall think by reasoning.reasoning_effort"
BY_HANDLE = "the model's handle says which endpoint answers"
NO_STRICT = "tools are sent as they are"
NO_LOGPROBS = "probabilities of tokens are not asked for"
EFFORTS = {"max": "xhigh"}  # Anthropic's word for the most


def can_be(cls: type[BaseModel], value: Any, info: Any) -> Any:
    """ValueError where no model can be asked so."""
    name = {"max_tokens": "max_output_tokens"}.get(info.field_name, info.field_name)
    if value is not None and (words := problem(name, value)):
        raise ValueError(words)
    return value


class Asked(BaseModel):
    """Fields that mean the same in both forms."""

    model_config = ConfigDict(protected_namespaces=())

    temperature: float | None = None
    top_p: float | None = None
    frequency_penalty: float | None = None
    parallel_tool_calls: bool | None = None
    verbosity: Short | None = None
    response_format: Json | None = None
    effort: Short | None = None
    strict: Annotated[Any, Unused(NO_STRICT)] = None
    tool_call_parser: Annotated[Any, Unused(NO_STRICT)] = None

    check = field_validator(
        *("temperature", "top_p", "frequency_penalty", "verbosity", "response_format"),
        *("max_output_tokens", "max_tokens", "reasoning_effort"),
        check_fields=False,
    )(can_be)

    @field_validator("effort")
    @classmethod
    def is_effort(cls, value: str | None) -> str | None:
        """The word for it here."""
        value = EFFORTS.get(value, value) if value else None
        if value and (words := problem("reasoning_effort", value)):
            raise ValueError(words)
        return value


class Reasoning(BaseModel):
    """How much a model thinks before it answers."""

    reasoning_effort: Short | None = None

    check = field_validator("reasoning_effort")(can_be)


class ModelSettings(Asked):
    """How the agent's model is asked; null takes a setting back."""

    provider_type: Annotated[Any, Unused(BY_HANDLE)] = None
    max_output_tokens: int | None = None
    reasoning: Reasoning | None = None
    thinking: Annotated[Any, Unused(BY_EFFORT)] = None
    thinking_config: Annotated[Any, Unused(BY_EFFORT)] = None
    response_schema: Annotated[Any, Unused("response_format has the schema")] = None


class LlmConfig(Asked):
    """The older way to name a model and to say how it is asked."""

    handle: Short | None = None
    model: Short | None = None
    context_window: Window | None = None
    max_tokens: int | None = None
    reasoning_effort: Short | None = None
    model_endpoint: Annotated[Any, Unused(BY_HANDLE)] = None
    model_endpoint_type: Annotated[Any, Unused(BY_HANDLE)] = None
    model_wrapper: Annotated[Any, Unused(BY_HANDLE)] = None
    provider_name: Annotated[Any, Unused(BY_HANDLE)] = None
    provider_category: Annotated[Any, Unused(BY_HANDLE)] = None
    compatibility_type: Annotated[Any, Unused(BY_HANDLE)] = None
    tier: Annotated[Any, Unused(BY_HANDLE)] = None
    display_name: Annotated[Any, Unused("the endpoint names its models")] = None
    enable_reasoner: Annotated[Any, Unused(BY_EFFORT)] = None
    max_reasoning_tokens: Annotated[Any, Unused(BY_EFFORT)] = None
    put_inner_thoughts_in_kwargs: Annotated[
        Any, Unused("what a model thinks is read where its endpoint sends it")
    ] = None
    return_logprobs: Annotated[Any, Unused(NO_LOGPROBS)] = None
    return_token_ids: Annotated[Any, Unused(NO_LOGPROBS)] = None
    top_logprobs: Annotated[Any, Unused(NO_LOGPROBS)] = None


class OlderSettings(BaseModel):
    """What older clients say beside an agent's other fields."""

    max_tokens: int | None = None
    parallel_tool_calls: bool | None = None
    response_format: Json | None = None
    reasoning: Annotated[Any, Unused(BY_EFFORT)] = None

    check = field_validator("max_tokens", "response_format")(can_be)


def settings_from(*given: BaseModel | None) -> Json:
    """What requests say of how the model is asked, in our names; null takes a setting back."""
    named: Json = {}
    for each in given:
        sent = each.model_fields_set & {*NAMES, "reasoning"} if each else set()
        said = each.model_dump(include=sent, exclude_unset=True) if each else {}
        named |= {NAMES[name]: value for name, value in said.items() if name in NAMES}
        if isinstance(said.get("reasoning"), dict):
            named |= said["reasoning"]
    return named


NAMES = {
    **{name: name for name in ("temperature", "top_p", "frequency_penalty", "verbosity")},
    **{name: name for name in ("parallel_tool_calls", "response_format", "reasoning_effort")},
    "effort": "reasoning_effort",
    "max_tokens": "max_output_tokens",
    "max_output_tokens": "max_output_tokens",
}


def on_the_wire(settings: Json) -> Json:
    """Model settings as Letta's clients read them."""
    shown = {name: value for name, value in settings.items() if name != "reasoning_effort"}
    effort = settings.get("reasoning_effort")
    reasoning = {"reasoning": {"reasoning_effort": effort}} if effort else {}
    return {"provider_type": "openai", **shown, **reasoning}
