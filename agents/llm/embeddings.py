"""Embeddings: texts to vectors, by any OpenAI-compatible server's `/embeddings`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from django.conf import settings
from openai import BadRequestError, UnprocessableEntityError

from agents import asyncio_bridge

from .clients import client
from .endpoints import Endpoint, ModelError, default_endpoint, named_endpoints
from .errors import model_error

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


def embed(texts: list[str], seconds: float) -> np.ndarray:
    """A vector of length 1 for each text: float32, `[texts, dimensions]`.

    ModelError where the endpoint does not answer within `seconds`, or answers with something else;
    RefusedTexts where it says that the request is wrong.
    """
    # numpy takes 80 ms to import, and few search by meaning
    import numpy as np  # noqa: PLC0415

    where = embedding_model()
    if where is None:
        raise ModelError("No embedding model is set (MEMORYWEB_EMBEDDING_MODEL).")
    endpoint, model = where

    async def ask() -> list[list[float]]:
        request = client(endpoint).embeddings.create(model=model, input=texts, timeout=seconds)
        answer = await asyncio.wait_for(request, seconds)
        return [each.embedding for each in sorted(answer.data, key=lambda each: each.index)]

    try:
        vectors = asyncio.run_coroutine_threadsafe(ask(), asyncio_bridge.loop()).result()
        matrix = np.array(vectors, dtype=np.float32)
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        if matrix.ndim != 2 or len(matrix) != len(texts) or not np.isfinite(matrix).all():
            raise ValueError(f"{len(vectors)} vectors for {len(texts)} texts")
    except TimeoutError:
        raise ModelError(
            f"{endpoint} returned no embedding within {seconds:g} s.", retry=True
        ) from None
    except (BadRequestError, UnprocessableEntityError) as error:
        raise RefusedTexts(str(model_error(error, endpoint))) from error
    except Exception as error:
        raise model_error(error, endpoint) from error
    unit: np.ndarray = matrix / np.maximum(lengths, 1e-12)
    return unit
