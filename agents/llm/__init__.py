"""Models: endpoints, the official client at them, and what is sent and answered."""

from .answer import Answer
from .endpoints import Endpoint, ModelError, default_endpoint
from .handles import default_model, resolve
from .openai import ModelCall
from .thoughts import Delta

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
