"""Handles: which endpoint and which of its models answers for an agent.

A handle is a model's name at the default endpoint (`gpt-4o-mini`) or `endpoint/model`
(`openai/gpt-4o-mini`), as `/v1/models` lists them. An empty handle, `letta/letta-free`, which
Letta's examples use, and `letta/auto`, by which its programs leave the choice to the server, mean
the default model; any other that leads nowhere is an error.
"""

from __future__ import annotations

from django.conf import settings

from .endpoints import Endpoint, ModelError, default_endpoint, named_endpoints
from .model_lists import known_models, models_of

OPENAI_MODEL = "gpt-4o-mini"
DEMO_MODEL = "memoryweb-demo"
AUTO = ("letta/auto", "letta/auto-fast", "letta/auto-chat", "letta/auto-memory")
USUAL = ("", "letta/letta-free", *AUTO)  # handles of the default model


def resolve(handle: str, *, ask: bool = True) -> tuple[Endpoint, str]:
    """The endpoint and the model's name there; without `ask` from what is known already.

    ModelError where the handle leads to none here, or the endpoint lists no model.
    """
    default = default_endpoint()
    if handle in USUAL:
        return default, default_model(default, ask=ask)
    name, slash, model = handle.partition("/")
    if not slash:
        if default.is_demo and handle != DEMO_MODEL:
            raise unknown_handle(handle)
        return default, handle
    endpoint = named_endpoints().get(name)
    if endpoint == default and not default.is_openai and lists_model(default, handle, ask=ask):
        return default, handle  # a server of servers, whose own names have a slash
    if endpoint and model and (not endpoint.is_demo or model == DEMO_MODEL):
        return endpoint, model
    if endpoint is None and lists_model(default, handle, ask=ask):
        return default, handle
    raise unknown_handle(handle)


def lists_model(endpoint: Endpoint, model: str, *, ask: bool = True) -> bool:
    """Whether an endpoint lists a model; False where it does not answer."""
    if endpoint.is_demo:
        return False
    try:
        return model in listed_models(endpoint, ask=ask)
    except ModelError:
        return False


def unknown_handle(handle: str) -> ModelError:
    """That no endpoint here has this model, and what to do."""
    named = ", ".join(sorted(named_endpoints()))
    more = (
        " Only the demo model is set up; OPENAI_API_KEY or OPENAI_BASE_URL sets up a real one."
        if default_endpoint().is_demo
        else ""
    )
    return ModelError(
        f"There is no model '{handle}' here; the endpoints are: {named}.{more}"
        " Choose a model in the agent's settings, or leave the field empty for the default one."
    )


def default_model(endpoint: Endpoint, *, ask: bool = True) -> str:
    """MEMORYWEB_MODEL, or the usual model of the endpoint."""
    if settings.MODEL:
        return str(settings.MODEL)
    if endpoint.is_demo:
        return DEMO_MODEL
    if endpoint.is_openai:
        return OPENAI_MODEL
    models = listed_models(endpoint, ask=ask)
    if not models:
        raise ModelError(f"{endpoint} lists no models; name one in MEMORYWEB_MODEL.")
    return models[0]


def listed_models(endpoint: Endpoint, *, ask: bool = True) -> list[str]:
    """The models an endpoint lists; ModelError if it does not answer, or was not asked yet."""
    if ask:
        return list(models_of(endpoint))
    models = known_models(endpoint, ask=False)
    if models is None:
        raise ModelError(f"{endpoint} has not been asked for its models yet.")
    return list(models)
