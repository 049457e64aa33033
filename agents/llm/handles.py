"""Handles: which endpoint and which of its models answers for an agent.

A handle is a model's name at the default endpoint (`gpt-4o-mini`) or `endpoint/model`
(`openai/gpt-4o-mini`), as `/v1/models` lists them. An empty handle, `letta/letta-free`, which
Letta's examples use, and `letta/auto`, by which its programs leave the choice to the server, mean
the default model; any other that leads nowhere is an error.
"""

from __future__ import annotations

from agents.text.stored import stored as _

from .available import default_endpoint, has_changed, named_endpoints
from .endpoints import Endpoint, ModelError
from .model_lists import known_models, models_of

OPENAI_MODEL = "gpt-4o-mini"
DEMO_MODEL = "memoryweb-demo"
AUTO = ("letta/auto", "letta/auto-fast", "letta/auto-chat", "letta/auto-memory")
USUAL = ("", "letta/letta-free", *AUTO)  # handles of the default model

NOT_ALLOWED = _(
    "The endpoint '%(name)s' has no model '%(model)s' that may be used here; those that may are:"
    " %(names)s. Choose one of them in the agent's settings."
)
UNKNOWN = _(
    "There is no model '%(model)s' here; the endpoints are: %(names)s. Choose a model in the"
    " agent's settings, or leave the field empty for the default one."
)
UNKNOWN_OF_DEMO = _(
    "There is no model '%(model)s' here; the endpoints are: %(names)s. Only the demo model is set"
    " up; OPENAI_API_KEY or OPENAI_BASE_URL sets up a real one. Choose a model in the agent's"
    " settings, or leave the field empty for the default one."
)
NAME_IN_ADMIN = _("%(endpoint)s lists no models; name one on its page in the admin.")
NAME_IN_ENVIRONMENT = _("%(endpoint)s lists no models; name one in MEMORYWEB_MODEL.")
NOT_ASKED = _("%(endpoint)s has not been asked for its models yet.")


def resolve(handle: str, person: int | None, *, ask: bool = True) -> tuple[Endpoint, str]:
    """The endpoint and the model's name there; without `ask` from what is known already.

    `person` is the key of whoever's right and own key count: the agent's owner, or nobody (None)
    where the deployment itself asks. ModelError where the handle leads to no model that they may
    use, or the endpoint lists none.
    """
    endpoint, model = _found(handle, person, ask=ask)
    endpoint.check()
    if endpoint.only_listed and model not in (listed := listed_models(endpoint)):
        names = ", ".join(listed) or "none"
        raise ModelError(NOT_ALLOWED % {"name": endpoint.name, "model": model, "names": names})
    return endpoint, model


def _found(handle: str, person: int | None, *, ask: bool) -> tuple[Endpoint, str]:
    found = _known(handle, person, ask=ask)
    if found is None and has_changed(person):  # another process may have defined it just now
        found = _known(handle, person, ask=ask)
    if found is None:
        raise unknown_handle(handle, person)
    return found


def _known(handle: str, person: int | None, *, ask: bool) -> tuple[Endpoint, str] | None:
    default = default_endpoint(person)
    if handle in USUAL:
        return default, default_model(default, ask=ask)
    name, slash, model = handle.partition("/")
    if not slash:
        return None if default.is_demo and handle != DEMO_MODEL else (default, handle)
    endpoint = named_endpoints(person).get(name)
    if endpoint == default and not default.is_openai and lists_model(default, handle, ask=ask):
        return default, handle  # a server of servers, whose own names have a slash
    if endpoint and model and (not endpoint.is_demo or model == DEMO_MODEL):
        return endpoint, model
    if endpoint is None and lists_model(default, handle, ask=ask):
        return default, handle
    return None


def lists_model(endpoint: Endpoint, model: str, *, ask: bool = True) -> bool:
    """Whether an endpoint lists a model; False where it does not answer."""
    if endpoint.is_demo:
        return False
    try:
        return model in listed_models(endpoint, ask=ask)
    except ModelError:
        return False


def unknown_handle(handle: str, person: int | None) -> ModelError:
    """That no endpoint here has this model for this person, and what to do."""
    named = ", ".join(sorted(named_endpoints(person)))
    words = UNKNOWN_OF_DEMO if default_endpoint(person).is_demo else UNKNOWN
    return ModelError(words % {"model": handle, "names": named})


def default_model(endpoint: Endpoint, *, ask: bool = True) -> str:
    """The model that the operator chose, or the usual one of the endpoint."""
    if endpoint.default_model:
        return endpoint.default_model
    if endpoint.is_demo:
        return DEMO_MODEL
    if endpoint.is_openai and not endpoint.only_listed:
        return OPENAI_MODEL
    models = listed_models(endpoint, ask=ask)
    if not models:
        words = NAME_IN_ADMIN if endpoint.row else NAME_IN_ENVIRONMENT
        raise ModelError(words % {"endpoint": endpoint})
    return models[0]


def listed_models(endpoint: Endpoint, *, ask: bool = True) -> list[str]:
    """The models that people may choose at an endpoint: as an administrator says, then as it lists.

    ModelError if it does not answer, or was not asked yet.
    """
    chosen = [*filter(None, [endpoint.default_model]), *endpoint.models] if endpoint.row else []
    if endpoint.only_listed:
        return list(dict.fromkeys(chosen))
    models = models_of(endpoint) if ask else known_models(endpoint, ask=False)
    if models is None:
        raise ModelError(NOT_ASKED % {"endpoint": endpoint})
    return list(dict.fromkeys([*chosen, *models]))
