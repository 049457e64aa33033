"""Models: a provider is a file in this package."""

from .endpoints import Endpoint, ModelError, default_endpoint, default_model, resolve
from .openai import Answer, Delta, ModelCall

__all__ = [
    "Answer",
    "Delta",
    "Endpoint",
    "ModelCall",
    "ModelError",
    "default_endpoint",
    "default_model",
    "resolve",
]
