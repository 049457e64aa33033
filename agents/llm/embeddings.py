"""Embeddings: texts to vectors, by any OpenAI-compatible server's `/embeddings`."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.conf import settings
from openai import APIError, APITimeoutError, BadRequestError, UnprocessableEntityError

from agents import asyncio_bridge
from agents.models import Usage

from .available import default_endpoint, named_endpoints
from .clients import client
from .endpoints import Endpoint, ModelError
from .errors import model_error
from .spending import Spending, tokens_in

if TYPE_CHECKING:
    import numpy as np


class RefusedTexts(ModelError):
    """The endpoint works but does not accept these texts."""


def embedding_model() -> tuple[Endpoint, str] | None:
    """Where MEMORYWEB_EMBEDDING_MODEL leads: a name at the default endpoint, or `endpoint/model`.

    None where none is set, or there is only the demo model, which has no embeddings.
    """
    handle = str(settings.EMBEDDING_MODEL)
    name, slash, model = handle.partition("/")
    endpoint = named_endpoints().get(name) if slash and model else None
    endpoint, model = (endpoint, model) if endpoint else (default_endpoint(), handle)
    return None if endpoint.is_demo or not handle else (endpoint, model)


@dataclass
class Embedded:
    """What an endpoint says that a request for vectors took; nothing is written."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = 0
    size: int = 0


def embed(texts: list[str], seconds: float, payer_id: int) -> np.ndarray:
    """A vector of length 1 for each text: float32, `[texts, dimensions]`.

    ModelError where the endpoint does not answer within `seconds`, or answers with something else;
    RefusedTexts where it says that the request is wrong; QuotaReached where it is more than is left
    to the person who pays.
    """
    where = embedding_model()
    if where is None:
        raise ModelError("No embedding model is set (MEMORYWEB_EMBEDDING_MODEL).")
    endpoint, model = where
    size = sum(len(text.encode()) for text in texts)
    spending = Spending(payer_id, Usage.Kind.EMBEDDING, endpoint, model)
    with spending.reserved(tokens_in(size), 0):
        return ask(spending, texts, seconds)


def ask(spending: Spending, texts: list[str], seconds: float) -> np.ndarray:
    """One request, of what was reserved for it."""
    # numpy takes 80 ms to import, and few search by meaning
    import numpy as np  # noqa: PLC0415

    endpoint, model, taken = spending.endpoint, spending.model, Embedded()
    spending.begin(taken)

    async def vectors_of() -> list[list[float]]:
        request = client(endpoint).embeddings.create(model=model, input=texts, timeout=seconds)
        answer = await asyncio.wait_for(request, seconds)
        if answer.usage and answer.usage.prompt_tokens > 0:
            taken.prompt_tokens = answer.usage.prompt_tokens
        return [each.embedding for each in sorted(answer.data, key=lambda each: each.index)]

    try:
        vectors = asyncio.run_coroutine_threadsafe(vectors_of(), asyncio_bridge.loop()).result()
        matrix = np.array(vectors, dtype=np.float32)
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        if matrix.ndim != 2 or len(matrix) != len(texts) or not np.isfinite(matrix).all():
            raise ValueError(f"{len(vectors)} vectors for {len(texts)} texts")
    except TimeoutError:
        raise ModelError(
            f"{endpoint} returned no embedding within {seconds:g} s.", retry=True
        ) from None
    except (BadRequestError, UnprocessableEntityError) as error:
        spending.is_free = True
        raise RefusedTexts(str(model_error(error, endpoint))) from error
    except Exception as error:
        spending.is_free = isinstance(error, APIError) and not isinstance(error, APITimeoutError)
        raise model_error(error, endpoint) from error
    unit: np.ndarray = matrix / np.maximum(lengths, 1e-12)
    return unit
